"""What a person sees and types.

plain   the chat as lines: a transcript that is also the form for pipes
"""
