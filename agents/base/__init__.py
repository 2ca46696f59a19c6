"""What agents are given and return, and what they all know of sentences and values.

interfaces        what an agent may be given: encoder, judge, reader, searchable space
chat_interfaces   what a chat model is asked, as plain records, and the protocol that all backends keep
claim_interfaces  what a user stated, on its way to becoming knowledge: its records, and who finds, weighs and
                  places it
sentences         text becomes sentences; which of them are questions
values            the values of a text: its numbers and its names, as they can be compared
bindings          whether a sentence binds a claim's words otherwise, though it holds them all
fusion            scores of several signals become one, and neighbours lift each other
control_tokens    what of a text a model's tokenizer would take for one of its own tokens
token_budget      what of a request fits into what a model can read, decided by counting
own_part          a message as plain text, and the part of it that is the user's own
memory_page       a user's statements as one page, which the reader reads at once: oldest first, with dates
                  and marks
"""
