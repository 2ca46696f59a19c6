"""Widgets that any screen uses.

work            work that a screen begins and does not wait for
boxes           boxes that show nothing, painted at next to no cost
two_sided_line  a line with words at both ends
marked_list     a list whose marked row can be found without colour
prompt_menu     the menu above the prompt: what could be meant by what is being typed
key_line        the line of keys at the bottom
page_screen     a page to read: help, a passage, what was learned
questions       questions that need an answer first, and the search of earlier prompts
screen_help     the same from another screen, whose own keys come first
"""
