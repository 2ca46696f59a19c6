"""Whether what is derived agrees with the truth, and making it again.

schema   whether the tables are those of this release
counts   how much there is of what a server tells of itself
texts    whether the texts are those that were written
words    whether the words and their statistics are those of the texts
turns    whether Find finds every turn by its words
vectors  whether the vectors can be used, and are those of the texts
"""
