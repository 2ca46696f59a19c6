"""Vectors: exact search, and the indexes that hold a large shared space.

exact           meaning: the `VectorIndex` protocol and exact search
log             the part that does: what changed since
faiss_library   FAISS itself, imported where it is needed
snapshot_files  checks that it is as it was written
snapshot        the part of those files that never changes, searched
build_snapshot  builds that part
faiss_index     a large shared space's vectors in files
chroma_index    the shared space's vectors in ChromaDB
"""
