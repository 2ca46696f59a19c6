"""Documents become passages.

documents        files, folders, records and streams, found and made ready to store
reading          files read in their order, by workers where the settings say so
reading_process  one file in a process of its own, with limits, where parsers can do no harm
cutting          text becomes passages: short sections joined, long ones cut
shelf            documents that were read: told, removed, read again
ingest           passages encoded and committed, batch by batch
moved_files      files that were moved stay the documents that they are
knowledge_file   a knowledge base as a file, checked whole: one entity a row
chat_logs/       conversations that other chat programs exported, read one at a time
formats/         readers of whole files: bytes become a title and sections of text
"""
