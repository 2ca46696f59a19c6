"""How the query model learns from follow-ups that found their answer.

recipe    its words, what its program reads, and how it is compared over a database
from_use  python -m ...query.from_use
"""
