"""How the retriever is trained on lessons.

recipe                its words, and how it is trained and compared over a database
apart                 the training in a process of its own
batches               lessons grouped by the documents they share
network               the encoder in torch
training              how the retriever learns from lessons: one loop over batches, each step's loss handed
                      out
train                 what runs in it
"""
