"""How the task-dialogue generator learns from what was corrected in use.

lessons           turns of dialogues as what is read and what is to be replied
batches           lessons as padded tensors
replying          the network in training: the loss of lessons, replies word by word
steps             one step of a training
from_use          from what is shipped, on corrections: python -m ...dialogue.from_use
entities_from_use  what turns messages towards entities, from the same: python -m ...entities_from_use
"""
