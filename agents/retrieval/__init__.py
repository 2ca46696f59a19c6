"""From a message to ranked passages: a query, candidates, and judgements.

query_augmenter      what a message is searched and read with: itself, and the messages before it
retriever            queries become candidates
own_statements       which of a user's own statements are read for a question: the near, the newest
said_here            what a message states beside what it asks, or was stated before in a private session
reranker             candidates are judged, in growing steps, until one helps
feature_names        the features of relevance, in words
helping              which of what was found is sent to a chat model that writes
relevance            how much a candidate helps, from what search and judge found out: weights over features
reader_judge         judges passages by reading them
score_judge          judges a passage by the scores it was found with, until a trained judge is there
cross_encoder_judge  judges passages by the scores that a cross-encoder gives them
chat_judge           judges passages by asking a chat model, yes or no
"""
