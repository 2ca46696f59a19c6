"""How the task-dialogue generator learns from what was corrected in use.

recipe            its words, and how it is trained and compared over a database
lessons           turns of dialogues as what is read and what is to be replied
batches           lessons as padded tensors
replying          the network in training: the loss of lessons, replies word by word
steps             one step of a training
from_use          from what is shipped, on corrections: python -m ...dialogue.from_use
"""
