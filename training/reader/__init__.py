"""How the reader is trained on examples.

network          MiniLM's or MPNet's layers over frozen embeddings, and a head for each task
batches          examples as batches of tensors
served_weights   a served reader as weights again, to go on from
loss             what it is taught to make small
steps            the steps it takes
temperature_fit  what it is worth afterwards, and its temperatures; calibration
mine_negatives   hard negatives by the product's whole search: python -m training.reader.mine_negatives
fit_sorting      the sort head alone, fitted to phrases: python -m training.reader.fit_sorting
train            python -m training.reader.train
export           its served form: python -m training.reader.export
served_form      what that is made of
"""
