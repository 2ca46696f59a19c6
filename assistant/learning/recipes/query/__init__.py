"""The training of the query model.

rewrites        questions with what was asked before, and how they stand alone
train_rewriter  python -m assistant.learning.recipes.query.train_rewriter
from_use        the same further, on follow-ups that found their answer: python -m ...query.from_use
"""
