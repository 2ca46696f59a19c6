"""Readers of whole files: bytes become a title and sections of text.

plain_text       text without what gets in the way, and the sections it stands in
outlines         what they make: paragraphs under headings
readers          which reader reads what: bytes become a title and sections
text_reader      of one format, as are markdown_reader, html_reader, pdf_reader and docx_reader
html_reader      the reader of HTML pages
docx_reader      the reader of Word's files
"""
