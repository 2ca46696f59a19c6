"""How a replay searches and what it learns: the retrieval methods that are compared.

method             how a way of finding takes part, and the frozen one
luf                trained on what was judged
evo                trains the judge on what users said
flowrag            trains an adapter for each set, as for a collection
choice             which one, from a person's word
simulated_judge    a judge of stated accuracy
"""
