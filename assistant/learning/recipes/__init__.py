"""The programs that train a model, and what they share.

run             how a training that a round begins is begun and stopped
from_shipped    what is shipped, trained further on lessons from use
pacing          how quickly a training goes, its rate, and when it writes a checkpoint
training_state  a training run's state in one file, written whole or not at all
examples/       what the reader learns from, one file a task
dialogue/       how the task-dialogue generator is trained
query/          how the query model is trained
reader/         how the reader is trained on examples
retriever/      how the retriever is trained on lessons
templates/      sentences made for training: templates, English word order, and statements made of questions
"""
