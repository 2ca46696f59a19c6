"""Judges, answerers and users: of stated accuracy, or a chat model.

participants         a judge, an answerer and users of stated accuracy
chat_model           an answerer that is right where the passages hold the answer
chat_judge           a chat model that judges
"""
