"""What somebody has one of at a time: said of it, changed, and asked for.

parts        a relation, and what wordings are made of
places       what kind of place a name is
persons      homes, age, marriage
jobs         where somebody works and as what
things       numbers, favourites, bosses; where a thing is, when something begins
amounts      rents and wages; when of a day somebody does something
habits       on which days somebody does something; what they never eat
possessions  what somebody has one of by its kind: a car, a gym, a dog
exchanges    what somebody has no more, and what they have instead
loans        who has a thing of somebody's, and that it came back
endings      a job that is left, somebody who died
doses        how much of a medicine somebody takes
given_names  names that many people have
clauses      how a sentence is read: without contractions, contrasts and times
comparison   what a statement gives, and what a later one does to it
limits       what a sentence gives without the words that only say when it holds
named_persons  persons known by what they are and by name
listed       what a statement lists, without what holds no more
groups       what somebody has several of: pets, siblings, languages
questions    which of them a question asks for
mentions     what a statement must at least mention to give it
"""
