"""Documents become passages.

documents        files, folders, records and streams, found and made ready to store
reading_process  the same in a process of its own, with limits, where parsers can do no harm
readers          one a format: bytes become a title and sections
cutting          text becomes passages: short sections joined, long ones cut
plain_text       text without what gets in the way, and the sections it stands in
ingest           passages encoded and committed, batch by batch
"""
