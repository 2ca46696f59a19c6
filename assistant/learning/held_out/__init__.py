"""Whether a candidate may go live: compared with the live model on what neither was trained on.

bootstrap   whether one system is better than another, and may take its place
ranking     what was found, against what is right
retrieval   a retriever, on questions
replies     the dialogue generator, on replies
follow_ups  the query model, on follow-ups
orders      weights of relevance, on the order of what was found
entities    the entity retriever, on replies too
"""
