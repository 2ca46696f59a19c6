"""Data sets as they are read.

example     records of files, and to which part of the data each belongs; one labelled example
table_rows  rows of files in the layouts of `datasets`, with their places
shapes      which fields a record must have, and what each holds
dialogues   task dialogues
"""
