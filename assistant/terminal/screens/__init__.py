"""The chat on the whole screen.

run              opens the screens, and closes everything behind them
app              the program on the screen: signals, leaving
palette          every action and command by its name, those of the screen that is open first
everywhere       the keys that hold everywhere lead from any screen to any other
short_pauses     what keeps pauses short in which no key is taken in
no_colour        what is painted where NO_COLOR is set
untaken_keys     what is said of a key that nothing takes
"""
