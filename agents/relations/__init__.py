"""What somebody has one of at a time: said of it, changed, and asked for.

parts        a relation, and what wordings are made of
places       what kind of place a name is
persons      homes, work, age, marriage
things       numbers, favourites, bosses; where a thing is, when something begins
comparison   what a statement gives, and what a later one does to it
listed       what a statement lists, without what holds no more
questions    which of them a question asks for
"""
