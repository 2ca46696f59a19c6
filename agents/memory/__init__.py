"""From what a user stated to a decision: claims found, weighed, and placed.

reader_summarizer     finds what a user stated with the built-in reader alone
chat_summarizer       finds what a user stated with a chat model, and keeps it as it was said
probed_summarizer     tries once whether a chat model finds it at all; else the reader does
claim_evidence        what a passage says of a claim, as numbers: read whole and in part, looked through, and
                      asked
reader_discriminator  the built-in reader weighs a claim beside shared passages
chat_discriminator    a chat model weighs a claim: by what it knows itself, then beside the passages found
classifier            shared, or the user's own
takeovers             what is said to everybody or about the memory, and what tells the assistant to be
                      another one
reader_curator        decides what a claim changes in the space it goes to, by what the reader says it does to
                      what is known
session_summaries     sums up, with a chat model, what has left a conversation
chat_curator          a chat model decides what a claim changes, where the reader sees no change for sure
"""
