"""Judges, answerers and users of stated accuracy.

participants         a judge, an answerer and users of stated accuracy
chat_model           an answerer that is right where the passages hold the answer
feedback             what users say after an answer
"""
