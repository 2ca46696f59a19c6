"""How the reader is trained on examples.

batches          examples as batches of tensors
served_weights   a served reader as weights again, to go on from
loss             what it is taught to make small
steps            the steps it takes
temperature_fit  what it is worth afterwards, and its temperatures; calibration
mine_negatives   the same by the product's whole search: `python -m
                 assistant.learning.recipes.reader.mine_negatives`
fit_sorting      the sort head alone, fitted to phrases: `python -m
                 assistant.learning.recipes.reader.fit_sorting`
train            the command; checkpoints keeps what it has reached
"""
