"""How the query model was trained.

rewrites  questions with what was asked before, and how they stand alone
train     python -m training.query_model.train
"""
