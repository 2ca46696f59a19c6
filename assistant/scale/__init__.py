"""Bulk work through one seam: in this process, or by actors of Ray.

spread  a worker is made where it works, and batches come back in their order
"""
