"""The training of the task-dialogue generator and of its entity retriever.

lessons           turns of dialogues as what is read and what is to be replied
batches           lessons as padded tensors
replying          the built-in network in training: the loss of lessons, replies word by word
fusion_in_decoder  an encoder-decoder of a Hugging Face folder in its place
train_dialogue    the generator: python -m assistant.learning.recipes.dialogue.train_dialogue
from_use          the same further, on what was corrected in use: python -m ...dialogue.from_use
entities_from_use  what turns messages towards entities, from the same: python -m ...entities_from_use
entity_retriever  an encoder that finds the entities of a message: python -m ...dialogue.entity_retriever
"""
