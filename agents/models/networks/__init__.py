"""The networks in torch that are trained here and exported.

pooling         a text's vector, from those of its tokens
dialogue        the task-dialogue generator: a pointer over a context and the cells of entities
"""
