"""Whether a candidate may go live: compared with the live model on what neither was trained on.

bootstrap   whether one system is better than another, and may take its place
ranking     what was found, against what is right
retrieval   a retriever, on questions
known_questions  questions with known answers: what a judge is worth, and an encoder must not lose
judge_probes  what the word of each judge is worth, kept in a file
replies     the dialogue generator, on replies
follow_ups  the query model, on follow-ups
orders      weights of relevance, on the order of what was found
entities    the entity retriever, on replies too
"""
