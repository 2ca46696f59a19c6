"""One SQL database: its tables, transactions, rows, locks and the processes that use it.

tables            the tables: the schema that there is now
database          one SQL database: transactions, durability, schema
rows              rows of a statement as the driver gives them
write_lock        whether the database can be written now
data_directory    who uses a data directory, and who replaces what lies in it
living_processes  which processes live, and which was killed while it answered
working_copies    copies of the database that a replay works on
"""
