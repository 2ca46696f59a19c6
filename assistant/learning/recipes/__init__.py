"""The recipes, and what the programs that train share.

run             how a training that a round begins is begun and stopped
from_shipped    what is shipped, trained further on lessons from use
pacing          how quickly a training goes, its rate, and when it writes a checkpoint
training_state  a training run's state in one file, written whole or not at all
examples/       data sets read: rows of tables, dialogues
collections/    how an adapter of the encoder is trained for each collection
dialogue/       how the task-dialogue generator learns from use
entities/       how the entity retriever learns from use
judge/          how a language model that judges passages learns from use
query/          how the query model learns from use
retriever/      how the retriever is trained on lessons
"""
