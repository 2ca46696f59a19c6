"""Words: tokens, BM25, and the full-text indexes of passages and of turns.

lexical       words: tokens, BM25, full-text search
full_text     the full-text index of each database
turn_words    which turns hold which words
word_overlap  the words looked for, and the mark in their place
"""
