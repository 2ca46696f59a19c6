"""How the entity retriever learns from replies that tell of an entity.

recipe    its words, and how it is trained and compared over a database
lessons   replies as its program reads them: the entity told of, among those of all entities
from_use  python -m ...entities.from_use
"""
