"""Documents become passages.

documents        files, folders, records and streams, found and made ready to store
reading_process  the same in a process of its own, with limits, where parsers can do no harm
readers          which reader reads what: bytes become a title and sections
text_reader      of one format, as are markdown_reader, html_reader, pdf_reader and docx_reader
outlines         what they make: paragraphs under headings
cutting          text becomes passages: short sections joined, long ones cut
plain_text       text without what gets in the way, and the sections it stands in
ingest           passages encoded and committed, batch by batch
chat_logs        exports of other chat programs, read as sessions; chat_log_database reads those of llm
chat_log_batches these sessions in parts that are taken in one by one
"""
