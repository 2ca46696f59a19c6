"""Chat models.

extractive    quotes the best sentences of the passages found; needs no key, network or download
openai_chat   any server that speaks OpenAI's protocol
"""
