"""The networks in torch that are trained here and exported.

adapted_bert    a frozen BERT encoder, whose upper half an adapter changes
fast_linear     a linear layer that is fast on the CPU
pooling         a text's vector, from those of its tokens
dialogue        the task-dialogue generator: a pointer over a context and the cells of entities
causal_lm       a causal language model with adapters
label_model     its probabilities of label strings
pair_model      the same of a cross-encoder
judge_model     the same as a judge of passages, loaded with what was trained
"""
