"""Why an answer was given, and what can be done with its passages.

passage_actions  what its keys do: mark a passage, remove it, compare the turn
passage_page     a passage on a page, with the same keys
why_view         the same beside the conversation, or on a screen of its own
"""
