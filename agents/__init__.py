"""Who takes part in a turn, one file an agent.

interfaces        what an agent may be given: encoder, judge, chat model, searchable space
query_augmenter   a message becomes the queries to search with
fusion            scores of several signals become one, and neighbours lift each other
retriever         queries become candidates
reranker          candidates are judged, in growing steps, until one helps
responder         question and passages become a streamed answer with citations
sentences         text becomes sentences; which of them are questions
models/           the encoder
backends/         the chat models
prompts/          what is said to a chat model
"""
