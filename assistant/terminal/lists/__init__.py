"""Sessions, Find and the log: screens that are one list.

sessions_screen  the sessions of a user: open, rename, archive, delete, with undo
documents_screen  the documents that were read
find_screen      words, and the turns that hold them
log_screen       the log: filter, levels, following
"""
