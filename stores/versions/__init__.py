"""Versions of passages: added, removed and brought back through one door, each by a receipt.

changes         the one door: texts become findable or unfindable, with all that goes with it
receipts        what each write can be taken back by
claim_passages  the passages that claims become, and the messages whose words they were
told_at         when what is known was told, by which of two statements is the newer
links           what statements do to each other
splitting       versions of earlier releases, made statements with links
live            live versions looked up by id, in given spaces
statements      what a user told, read without any index
states          what became of a version since an answer used it
passage_lines   a passage as one line of a list
provenance      what a user wrote that a memory was made from
"""
