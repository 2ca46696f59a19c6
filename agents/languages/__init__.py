"""What is said in other languages than English, which alone the readers know.

signs               what a small head says of a message, in any of sixteen languages
named_days          days, spans and repetitions that a text names, by libraries
standing            what always holds of a user, and what is not sent unless it is asked for
message_sorting     what a message does: which of its sentences ask, and whether any states something
sentence_cutting    sentences by the rules of a language
reader_by_language  a reader that leaves to the heads what it cannot read
foreign_statements  how probably a statement answers a question that the reader cannot read
small_talk          one line for who greets or thanks, in their language
"""
