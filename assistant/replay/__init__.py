"""How Vouch is measured on data sets and recorded conversations.

datasets               questions and passages of the data sets, and the order in which they arrive
simulate               a judge, an answerer and users of stated accuracy
metrics                what was found and what was said, against what is right
bootstrap              whether one system is surely better than another, and may take its place
dialogue_state         what a user wants of a service, turn by turn: extractors, and how right they are
simulated_extractor    an extractor of stated accuracy, to see that the measures are right
"""
