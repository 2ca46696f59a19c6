"""The chat as lines, for pipes and for who wants no screen.

plainness      whether there are to be screens, and colour
takeover       what the screen leaves to plain mode
commands       what is typed there with a slash in front: all that the screen has
chat           the chat as lines: a transcript that is also the form for pipes
"""
