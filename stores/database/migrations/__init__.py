"""Every schema there has been, as Alembic migrations; run when a database is opened.

env            runs the migrations on the connection that `stores.database.database` hands over
words_of_0006  what a turn was found by when schema 0006 came: a part of its migration, and never changed
"""
