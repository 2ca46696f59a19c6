"""The models that agents are given.

encoder          text as vectors, served by ONNX Runtime
export_encoder   makes the served form of an encoder, once (torch lives here, in a process of its own)
"""
