"""The training of the task-dialogue generator.

lessons         turns of dialogues as what is read and what is to be replied
batches         lessons as padded tensors
replying        replies of a network in training, word by word
train_dialogue  the training itself: python -m assistant.learning.recipes.dialogue.train_dialogue
"""
