"""Chooses implementations: the only folder that knows them all.

assistant  chooses implementations; with its parts/ the only one that knows them all
stores     the database, and all that is kept in it or beside it
search     encoders, and what searches by their vectors
models     the reader, the judge and the chat model
turns      what answers, what is remembered after it, and the library
recipes    by which models are trained, a line each
learning   the learner of each recipe, and when it begins
"""
