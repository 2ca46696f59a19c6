"""Judges, answerers, users and extractors of stated accuracy.

participants         a judge, an answerer and users of stated accuracy
chat_model           an answerer that is right where the passages hold the answer
feedback             what users say after an answer
dialogue_state       what a user wants of a service, turn by turn: extractors, and how right they are
simulated_extractor  an extractor of stated accuracy, to see that the measures are right
"""
