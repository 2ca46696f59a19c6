"""Talking over a knowledge base: what the user wants of it, which entities that is, and the reply.

knowledge_table  the values of a knowledge base: which of them a text names, and which entities have them
entity_ranker    entities by the constraints that they meet and contradict
reply_writer     replies of the dialogue generator, as far as they can be believed
tabulating       sums, means, ends and counts over the rows of a table in a document
entity_replies   those, or replies in the words of the entities: what replies without a chat model
"""
