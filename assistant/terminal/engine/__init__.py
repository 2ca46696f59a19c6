"""The assistant as the screens know it, and the commands that are typed with a slash.

engine          the assistant, on threads of its own
worker_thread   one of these threads
loop_calls      what such a thread calls on the loop of the screen
writing         a reply while it is written
retrying        a message whose model was busy or away
slash_commands  the commands that the screen and plain mode share
near_commands   which commands a mistyped one is near to
"""
