"""The training of the task-dialogue generator and of its entity retriever.

lessons           turns of dialogues as what is read and what is to be replied
batches           lessons as padded tensors
replying          replies of a network in training, word by word
train_dialogue    the generator: python -m assistant.learning.recipes.dialogue.train_dialogue
entity_retriever  an encoder that finds the entities of a message: python -m ...dialogue.entity_retriever
"""
