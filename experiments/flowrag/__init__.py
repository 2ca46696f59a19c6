"""Whether a collection deserves an adapter of its own in the retriever: prompts against LoRA (FlowRAG).

__main__  python -m experiments.flowrag --data DATA --work DIR; goes on where it was stopped
adapters  prompts and LoRA in the upper layers of a frozen BERT encoder
domains   six sets as collections, with training pairs, dev and test questions
encoding  texts as tokens, as states before the adapted layers, and as vectors
store     one store of all collections, searched and judged as the product does
learning  how an adapter, or a whole encoder, learns from pairs
bench     what all variants share: encoding, searching, measuring
gate      the variants, the most important first
results   what a run has found out so far
tables    what they gain, with intervals
check     the frozen store against the product's own search
month     python -m experiments.flowrag.month: a month in four collections

The paper as printed, python -m experiments.flowrag.sequence DATA --work DIR:

printed           prompts, StateFusion and cross-layer fusion: the forward pass
printed_losses    L_ret and L_state, of the generator's likelihood
printed_learning  how prompts, or a whole encoder, learn from it
likelihood        a stand-in for the generator
router            oracle, centroid, all: which collections a question is asked of
forgetting        what a sequence of tasks leaves of each
sequence          four collections one after another, by every method
sequence_tables   matrices, averages and forgetting
"""
