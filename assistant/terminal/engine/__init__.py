"""The assistant as the screens know it, and the commands that are typed with a slash.

engine          the assistant, on threads of its own
worker_thread   one of these threads
slash_commands  the commands that the screen and plain mode share
ingesting       /ingest
near_commands   which commands a mistyped one is near to
"""
