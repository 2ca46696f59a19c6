"""A pointwise reranker that learns over four rounds: the experiments of EVO-Reranker, at a small size.

__main__      python -m experiments.evo --sets hotpotqa --data DATA --work DIR
sets          six data sets as a labelled start and four rounds
policy        what is trained: a small cross-encoder over cached states
judges        simulated judges
rounds        the protocol: measured before anything is learned, then trained
measures      accuracy, F1, forgetting, MRR, nDCG@5
stream        the recipe of relevance on a stream of citations: python -m experiments.evo.stream
month         months of use through the gate: python -m experiments.evo.month
answers       what such a month gains in answers: python -m experiments.evo.answers
turns         what learned weights cost a turn: python -m experiments.evo.turns
broken_lists  why learning by labels breaks the order of a list: python -m experiments.evo.broken_lists
"""
