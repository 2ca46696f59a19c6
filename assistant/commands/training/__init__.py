"""vouch train and vouch encoder.

train         vouch train: the retriever learns from what was judged, and goes live only where it wins
encoder       vouch encoder: which encoder's vectors are searched, and changing it
"""
