"""What a person sees and types.

screens/        the chat on the whole screen
plain           the chat as lines: a transcript that is also the form for pipes
slash_commands  what is typed there with a slash in front
answer_lines    what is told below an answer
word_wrap       text printed at once, with lines broken between words
notices         what was learned, with the way back
teaching        what an answer should have been, kept
sharing         a memory of one's own offered to all
forgetting      forgetting for good, with what is asked before and told after
removing        a passage taken out of answers, with undo, or proposed for removal
menus           what is chosen in plain mode by its number
model_choice    which chat model answers in this chat
replaying       a session by the live model and the one before, as a table
plain_takeover  what the screen leaves to plain mode
serving         the same screens in a browser, and who gets in
plainness       whether there are to be screens, and colour
"""
