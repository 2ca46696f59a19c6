"""What the reader learns from, one file a task.

example           one labelled example, and to which part of the data it belongs
passage_search    passages ranked by shared words, in memory: where hard negatives come from
changed_answers   an answer exchanged for another of its kind
statement_claims  claims made from questions and answers, true and false
pairs             questions with passages: judge and answer
documents         questions about documents, under their headings
claims            claims with evidence: verify
sentences         sentences of a user: sort; dialogue_turns
everyday          what the reader learns from data/everyday: what states what, changes what, answers what
mixture           all of them, mixed so that any beginning of the list is a fair sample
"""
