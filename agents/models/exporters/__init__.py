"""Makes the served forms of models, each in a process of its own.

onnx_export           what these three share; exporter_process runs them
export_encoder        makes the served form of an encoder, once: python -m
                      agents.models.exporters.export_encoder SOURCE TARGET_DIR
export_adapted        the same in the form that takes adapters
export_cross_encoder  makes the served form of a cross-encoder, once: python -m
                      agents.models.exporters.export_cross_encoder SOURCE TARGET
"""
