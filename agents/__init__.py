"""Who takes part in a turn, one file an agent.

base/        what agents are given and return, and what they all know of sentences and values
languages/   what is said in other languages than English
retrieval/   from a message to ranked passages: a query, candidates, and judgements
answering/   from ranked passages to a reply with checked citations
memory/      from what a user stated to a decision: claims found, weighed, and placed
models/      the served models: the encoder, the reader, a cross-encoder
losses/      what training makes small
backends/    the chat models
prompts/     what is said to a chat model
"""
