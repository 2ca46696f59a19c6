"""The training of the query model.

rewrites        questions with what was asked before, and how they stand alone
train_rewriter  python -m assistant.learning.recipes.query.train_rewriter
"""
