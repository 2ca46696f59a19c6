"""How the order of what was found learns from what users said of it.

recipe    its words, what its program reads, and how it is compared over a database
from_use  python -m ...relevance.from_use
"""
