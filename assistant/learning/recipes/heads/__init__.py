"""Linear heads over the multilingual half: what a message is, and in which language.

train  all heads, from data/messages, data/languages and data/everyday
"""
