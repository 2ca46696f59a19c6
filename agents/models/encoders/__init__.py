"""Text as vectors.

encoder       a transformer served by ONNX Runtime
multilingual  the packaged encoder that knows sixteen languages
two_halves    two encoders as one, whose cosine is the weighted mean of both
two_sided     an encoder of which the query side was trained apart
prepared      exports an encoder once, and opens it
"""
