"""Whether a collection deserves an adapter of its own in the retriever: prompts against LoRA (FlowRAG).

__main__  python -m experiments.flowrag --data DATA --work DIR; goes on where it was stopped; checks its store
domains   six sets as collections, with training pairs, dev and test questions
encoding  texts as tokens, as states before the adapted layers, and as vectors
store     one store of all collections, searched and judged as the product does
learning  how an adapter, or a whole encoder, learns from pairs
bench     what all variants share: encoding, searching, measuring
gate      the variants, the most important first
results   what a run has found out so far
tables    what they gain, with intervals
month     python -m experiments.flowrag.month: a month in four collections

The paper as printed, python -m experiments.flowrag.sequence DATA --work DIR:

printed           prompts, StateFusion and cross-layer fusion: the forward pass
printed_learning  the losses of a generator's likelihood, and how prompts or a whole encoder learn by them
l2r               L2R: wrong passages that are remembered, and indexes that are kept
likelihood        two stand-ins for the generator: a formula, and the product's reader, which answers too
router            oracle, centroid, all: which collections a question is asked of
sequence          four collections one after another, by every method
sequence_tables   matrices, averages and forgetting
"""
