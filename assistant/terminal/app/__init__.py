"""The program on the screen: it opens, paints, and gives the screen back.

everywhere      the keys that hold everywhere lead from any screen to any other
palette         every action and command by its name, those of the screen that is open first
app             the program on the screen: signals, leaving
lasting_output  what is written to a terminal that is gone
run             opens the screens, and closes everything behind them
serving         the same screens in a browser, and who gets in
"""
