"""Methods that the product's are compared with, and simulated users. Run by hand, and not installed.

evo/             rounds of preferences: python -m experiments.evo
flowrag/         adapters of the retriever, one a collection: python -m experiments.flowrag
replay           vouch replay with them: python -m experiments.replay
compared_replay  how these methods, answers and users take part in a replay
simulated_chat   a chat model that is right where the passages hold the answer
feedback         what simulated users say after an answer
methods/         ways of searching
"""
