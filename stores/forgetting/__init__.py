"""Forgetting for good: what goes, erasing it, and the bytes of it.

forgetting       texts leave every row and file, for good
erasure_scope    what goes with what was named
mentions         what else holds a number, a code or a name of it
erased_passages  passages, claims, receipts and documents without the words
"""
