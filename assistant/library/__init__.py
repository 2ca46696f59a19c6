"""Documents become passages.

documents   files, folders, records and streams read as text, cut into passages
ingest      passages encoded and committed, batch by batch
"""
