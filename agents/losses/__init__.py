"""What models are taught to make small: pure functions, tensors in, a tensor out.

contrastive       how well a question finds what answers it among the documents of its batch
"""
