"""The networks in torch that are trained here and exported.

pooling         a text's vector, from those of its tokens
dialogue        the task-dialogue generator: a pointer over a context and the cells of entities
reader_network  the reader's network: MiniLM's layers over its frozen embeddings, and a head for each task
"""
