"""Readers of whole files: bytes become a title and sections of text.

plain_text       text without what gets in the way, and the sections it stands in
outlines         what they make: paragraphs under headings
readers          which reader reads what: bytes become a title and sections
text_reader      plain text, in whatever encoding
text_kinds       notebooks, e-mails, reStructuredText, Org and source code
markdown_reader  Markdown
man_reader       manual pages
html_reader      HTML pages
table_readers    CSV and Excel
number_formats   numbers of a sheet as the sheet shows them
docx_reader      Word's files
docx_markup      Word's markup, brought into plain paragraphs and tables before a document is read
pdf_reader       PDF by its layout
packed_files     PowerPoint and EPUB
"""
