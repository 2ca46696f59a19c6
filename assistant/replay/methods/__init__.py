"""How a replay searches and what it learns: the retrieval methods that are compared.

method             how a way of finding takes part, and the frozen one
writers            chat models that write for a search
query2doc          searched with what a chat model writes
query_rewrite      searched with its rewrites
rafe               rewrites by templates that a policy learns to choose
tent               the query side adapts by entropy
luf                trained on what was judged
simulated_writers  writers of stated quality
choice             which one, from a person's words; trainings kept
"""
