"""What a person sees and types.

plain       the chat as lines: a transcript that is also the form for pipes
plainness   whether there are to be screens, and colour
"""
