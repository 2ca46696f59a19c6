"""Claims: what users stated, what was decided about it, and what is proposed for everybody.

claims          what users stated, and what became of it
decisions       what is decided about a claim, carried out
proposals       what somebody may do to the shared memory, and who decides it
shared_changes  what is done to a shared passage once it is accepted
"""
