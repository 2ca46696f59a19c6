"""What `vouch doctor` looks at.

examination all looks in their order
check       what one look found, and how it is looked
environment the settings file, the data directory and the disk
stored      the database: its file, its schema, the texts, their words
searched    what is derived from them by an encoder: vectors and the shared index
models      the encoder and the chat model
"""
