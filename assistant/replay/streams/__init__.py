"""Questions and passages to replay: data sets, and tables of one's own.

datasets    questions and passages of the data sets, and the order in which they arrive
follow_ups  sets of conversations over passages
own_tables  the same from a person's own tables: which column holds what, and whether they fit
"""
