"""The models that agents are given, served by ONNX Runtime.

reader            judges, answers, verifies, sorts and relates
reader_files      the reader's weights, and the served form that is made of them once
reader_inputs     texts as the reader's windows
reader_spans      answers read off the reader's start and end scores
dialogue_inputs   what the task-dialogue generator reads
dialogue_arrays   the same as numbers, and how replies come of chances
dialogue_generator  the task-dialogue generator
entity_map        messages turned towards the entities that they are about
cross_encoder     a foreign model that judges instead
exported_folders  what the served forms share: described, verified, opened
exporter_process  runs an exporter in a process of its own
concurrent_runs   small runs of one model at the same time
encoders/         text as vectors
weights/          the readers and the generator, trained by assistant.learning.recipes
exporters/        makes the served forms of models, each in a process of its own
networks/         the networks in torch that are trained here and exported
"""
