"""What somebody has one of at a time: said of it, changed, and asked for.

parts        a relation, and what wordings are made of
places       what kind of place a name is
persons      homes, work, age, marriage
things       numbers, favourites, bosses; where a thing is, when something begins
amounts      rents and wages; when of a day somebody does something
comparison   what a statement gives, and what a later one does to it
named_persons  persons known by what they are and by name
listed       what a statement lists, without what holds no more
questions    which of them a question asks for
mentions     what a statement must at least mention to give it
"""
