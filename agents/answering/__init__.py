"""From ranked passages to a reply with checked citations.

responder       question and passages become a streamed answer with citations
loops           a reply that says the same again and again, which is stopped
quoting         which sentences of the sources are quoted
memory_answers  answers a question from what its user told: their statements as one page, read at once
listing         every statement that answers, where a question asks for several
memory_orders   orders to the memory, shown with the command that carries them out
calculating     sums and weekdays that a message asks for
overview        knows who asks for everything that they told, or what stands in a document
"""
