"""Collections learn: an adapter of the encoder for each, from the questions that its documents answer.

recipe    which lessons, and the comparison with the adapters that answer
from_use  the training
"""
