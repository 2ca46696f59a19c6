"""One turn of conversation.

events     what a turn tells those who watch it
pipeline   the turn itself, top to bottom
    player     plays turns for a program without an event loop of its own
"""
