"""What outlives a turn.

errors           what can go wrong, each with its exit code and what to do next
records          the tables, and the plain `Passage` that everything above them handles
database         one SQL database: transactions, durability, schema
migrations/      every schema there has been
journal          users, sessions, turns and what was found, judged and said in them
receipts         what each write can be taken back by
stored_documents documents added and replaced, passage by passage
catalogue        what a user can see of what is known
knowledge        a user's notes; forgetting; taking any write back
lexical          words: tokens, BM25, full-text search
vectors          meaning: the `VectorIndex` protocol and exact search
chroma_vectors   the shared space's vectors in ChromaDB
spaces           what one user may search: the one place where isolation is decided
indexer          brings the indexes up to what the database says
"""
