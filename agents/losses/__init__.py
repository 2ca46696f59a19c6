"""What models are taught to make small: pure functions, tensors in, a tensor out.

calibration       how far a policy's probabilities are to be believed
contrastive       how well a question finds what answers it among the documents of its batch
dual_feedback     how a generator of replies teaches a retriever of entities
preference        how a policy learns from preferences, round after round, against the one before (DPO)
strategy          which augmentation of a question a query model chooses, and how it writes it
"""
