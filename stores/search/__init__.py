"""What one user may search, and the indexes and encoder versions behind it.

spaces            what one user may search: the one place where isolation is decided
adapted_vectors   what passages are under the adapter of their collection
shared_index      whether the shared space has an index, and whether it is whole
index_fills       the rows that say so
indexer           brings the indexes up to what the database says
knowledge_bases   tables of entities, each in a space of its own
live_models       which model of each role answers, and which one before it
encoder_versions  which encoder's vectors are searched, and the swap to another's
"""
