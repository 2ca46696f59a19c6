"""What a person sees and types.

plain       the chat as lines: a transcript that is also the form for pipes
notices     what was learned, with the way back
sharing     a memory of one's own offered to all
plainness   whether there are to be screens, and colour
"""
