"""One turn of conversation, and what follows it.

events           what a turn tells those who watch it
pipeline         the turn itself, top to bottom; turn_in_progress, what it has come to know so far
settled          words that became knowledge answer no more as a message
provenance       memories that say it in other words than their user
what_became      what became of a message that its user asks about
player           plays turns for a program without an event loop of its own
"""
