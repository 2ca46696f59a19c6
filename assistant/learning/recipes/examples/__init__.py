"""Data sets as they are read.

records     records of files
table_rows  rows of files in the layouts of `datasets`, with their places
shapes      which fields a record must have, and what each holds
dialogues   task dialogues
"""
