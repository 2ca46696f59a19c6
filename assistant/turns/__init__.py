"""One turn of conversation.

events            what a turn tells those who watch it
pipeline          the turn itself, top to bottom
knowledge_talk    what a turn over a knowledge base searches and answers with
turn_in_progress  what a turn has come to know so far
settled           words that became knowledge answer no more as a message
provenance        memories that say it in other words than their user
player            plays turns for a program without an event loop of its own
"""
