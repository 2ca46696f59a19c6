"""How the query model learns from follow-ups that found their answer.

from_use  python -m ...query.from_use
"""
