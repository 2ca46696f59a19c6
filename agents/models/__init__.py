"""The models that agents are given.

encoder           text as vectors, served by ONNX Runtime
reader            judges, answers, verifies and sorts, served the same way
                  reader_files, reader_inputs, reader_spans; reader_network is its form in torch,
cross_encoder     a foreign model that judges instead
export_encoder, export_reader, export_cross_encoder
                  make the served forms, once (torch lives here, each in a process of its own)
exported_folders  what the served forms share: described, verified, opened
concurrent_runs   small runs of one at the same time
weights/          the reader's own, trained by assistant.learning.recipes.reader.train
exporters/        makes the served forms of models, each in a process of its own
networks/         the networks in torch that are trained here and exported
"""
