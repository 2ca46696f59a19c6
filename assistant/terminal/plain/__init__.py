"""The chat as lines, for pipes and for who wants no screen.

plainness      whether there are to be screens, and colour
standing_text  text that stands in the line that is read next
transcript     what was said before, in its form
takeover       what the screen leaves to plain mode
reply          a reply as it comes, and that it is waited for
waiting        a message whose model is busy, tried again by itself
commands       what is typed there with a slash in front: all that the screen has
chat           the chat as lines: a transcript that is also the form for pipes
"""
