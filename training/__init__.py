"""How the weights in the package were made: programs that are run by hand, and not installed.

heads        linear heads over the encoder's multilingual half
known_questions  questions with known answers, by which judges are probed
relevance    weights over what search and reader found out of a candidate
examples/    what the reader learns from, one file a task
templates/   English statements made of questions and answers
reader/      the reader: its network, training, calibration and served form
query_model/  the query model: adapters that make follow-up questions stand alone
dialogue/    the task-dialogue generator and its entity retriever
"""
