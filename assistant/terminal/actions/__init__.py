"""What a person can do: each action with what it asks before and tells after.

drafts         what was typed and not sent
undoing        what is told when a write was taken back
weighed_first  what the last message teaches, waited for before an undo
written_here   what one chat has written, and its /undo, the latest first
proposals      proposals for the shared memory, decided by whom the settings name
removing       a passage taken out of answers, with undo, or proposed for removal
sharing        a memory of one's own offered to all
forgetting     forgetting for good, with what is asked before and told after
rating         what is said of an answer, kept, and where nothing is learned from it
teaching       what an answer should have been, kept
sessions       a session renamed, archived, deleted or brought back, with undo
model_choice   which chat model answers in this chat
memories       that, by the functions of the commands, on the assistant's thread; what always holds of a user
"""
