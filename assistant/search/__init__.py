"""What searches by one encoder version, its indexes, and the change to another encoder.

searching       what searches now, taken once a turn
adapted         what was found, compared anew in collections that have learned
entity_search   the entities of a knowledge base that a message is about
shared_indexes  where the shared space's index is kept, as the settings say: nowhere, in a folder, or on a
                server
encoder_change  from the live encoder to the one that the settings name
"""
