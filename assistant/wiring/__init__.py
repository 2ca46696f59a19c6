"""Chooses implementations: the only folder that knows them all.

assistant  puts the parts together
parts/     stores, search, models, turns
recipes    by which models are trained, a line each
learning   the learner of each recipe, and when it begins
"""
