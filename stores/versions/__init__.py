"""Versions of passages: added, removed and brought back through one door, each by a receipt.

changes         the one door: texts become findable or unfindable, with all that goes with it
receipts        what each write can be taken back by
claim_passages  the passages that claims become, and the messages whose words they were
supersession    when what is known was told, which decides what holds
live            live versions looked up by id, in given spaces
statements      what a user told, read without any index
states          what became of a version since an answer used it
passage_lines   a passage as one line of a list
provenance      what a user wrote that a memory was made from
"""
