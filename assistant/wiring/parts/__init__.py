"""The parts of a running Vouch, each handed those before it.

given    settings and places
stores   the database, and all that is kept in it or beside it
search   encoders, and what searches by their vectors
models   the reader, the judge, the chat model and what was trained
turns    what answers, what is remembered after it, and the library
kept     models that a process keeps loaded, where it says so
trained  the names of models that are trained from use
"""
