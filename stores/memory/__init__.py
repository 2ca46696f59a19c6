"""A memory as its user sees it: listed, with its history and uses, edited and undone.

catalogue        what a user can see of what is known
passage_history  all there is to know about one passage
memory_rows      what a list of memories tells beside their texts
memory_uses      answers made with a memory, marks, rounds that saw it, and where it was sent
statement_links  what statements do to each other, and what their user says of it
edits            a user's notes, setting aside, and taking any write back
undone_imports   taking that back
profile          what always holds of a user, and goes with each question
library          the documents that a user sees, a file each
collections      what some of them can be called together
documents        documents added and replaced, passage by passage
"""
