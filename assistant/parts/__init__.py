"""The parts of one running Vouch, by what they are; `wiring.Assistant` has them all.

stores    the database, and all that is kept in it or beside it
search    encoders, and what searches by their vectors
models    the reader, the judge and the chat model
turns     what answers, what is remembered after it, and the library
learning  the learner, and what it is compared with

Each adds to those before it: Stores <- Search <- Models <- Turns <- Learning.
"""
