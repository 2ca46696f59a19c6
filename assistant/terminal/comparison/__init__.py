"""Answers before and after a training: played, compared, and steered.

comparison_process  the comparison, in a process of its own
replaying           a session by the live model and the one before, as a table
comparing           answers by both, one below the other, and which is better
training_commands   training as a chat shows and steers it
"""
