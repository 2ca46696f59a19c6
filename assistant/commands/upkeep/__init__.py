"""vouch doctor, backup and restore.

doctor   vouch doctor: what works, what does not, what was repaired, and what to do about the rest
backup   vouch backup: the database, in one file
restore  vouch restore: brings back what a backup holds
"""
