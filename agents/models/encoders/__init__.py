"""Text as vectors.

encoder       a transformer served by ONNX Runtime
multilingual  the packaged encoder that knows sixteen languages
adapted_encoder  a transformer that is given an adapter with each text
two_halves    two encoders as one, joined so that a query chooses the share of each
two_sided     an encoder of which the query side was trained apart
prepared      exports an encoder once, and opens it
"""
