"""What follows a turn: what the user stated is found, weighed, and written once.

remembering   what the user stated becomes knowledge, once it was weighed
weighing      one claim beside what is known: its verdict, its place, and the write
summing       what has left a conversation, in short
lease         a job that is being done stays with who does it
"""
