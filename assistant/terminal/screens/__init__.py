"""The chat on the whole screen.

run              opens the screens, and closes everything behind them
app              the program on the screen: signals, leaving
palette          every action and command by its name, those of the screen that is open first
chat             the first screen: conversation, notice, prompt, status, keys
chat_opening     it is opened, and sessions in it: what was said last comes first
chat_actions     what the keys that hold everywhere do, and the commands that only screens have
answer_actions   rate an answer, correct it, ask why, undo what it taught
reading_actions  copy, open a source
branch_actions   change a message, answer again, go from branch to branch
find_actions     go to what was found, from session to session
chat_parts       what that screen is made of, as the files know it that act on it
surroundings     title, counts, status, how much is below
first_start      what is told to somebody who never said anything here
draft_keeping    what is typed is kept, and comes back
everywhere       the keys that hold everywhere lead from any screen to any other
short_pauses     what keeps pauses short in which no key is taken in
writing_again    a store that another process keeps from being written
no_colour        what is painted where NO_COLOR is set
untaken_keys     what is said of a key that nothing takes
memory_door      the chat opens Memory and Privacy, and offers no undo that is done already
training_actions the chat opens Training and Before/After, and shows a round that runs
"""
