"""From a message to ranked passages: a query, candidates, and judgements.

query_augmenter      a message becomes the queries to search with; naming_vouch names what "you" or "it" means
dialogue             what the form of a talk tells: who speaks, what is asked and so answered next, and who
                     tells when
retriever            queries become candidates
own_statements       what the user said of themselves and gives what is asked; givings, asked_for, former
said_here            what a message states beside what it asks, or was stated before in a private session
reranker             candidates are judged, in growing steps, until one helps
readings             what the reader said of a question and a passage, kept for the turn: judging and
                     answering pay once
reader_judge         judges passages by reading them
score_judge          judges a passage by the scores it was found with, until a trained judge is there
cross_encoder_judge  judges passages by the scores that a cross-encoder gives them
"""
