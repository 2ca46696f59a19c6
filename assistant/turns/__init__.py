"""One turn of conversation.

events            what a turn tells those who watch it
pipeline          the turn itself, top to bottom
memory_talk       what a turn is answered from: passages, and what the user told
knowledge_talk    the same of a turn over a knowledge base
turn_in_progress  what a turn has come to know so far
conversation      a session as its model saw it, with the sources that its answers cite
settled           words that became knowledge answer no more as a message
provenance        memories that say it in other words than their user
host              plays turns for whoever has a person before it, and has what was stated remembered
notices           what was learned, with the way back
"""
