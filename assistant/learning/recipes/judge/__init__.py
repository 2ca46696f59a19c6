"""How a language model or cross-encoder that judges passages learns which of them helped.

recipe    its words, what its program reads, and how it is compared over a database
votes     what is learned where no user said anything
from_use  python -m ...judge.from_use
"""
