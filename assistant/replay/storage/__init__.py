"""What a replay keeps on disk: its store, its copies, its lines and its folder.

line_file       files of JSON lines that survive a kill
data_set_store  the store of a data set, filled once and copied for every run
folder          what it writes in its folder, where nothing else is touched
"""
