"""What the reader learns from, one file a task.

example           one labelled example, and to which part of the data it belongs
table_rows        rows of files in the layouts of `datasets`, with their places
shapes            which fields a record must have, and what each holds
passage_search    passages ranked by shared words, in memory: where hard negatives come from
changed_answers   an answer exchanged for another of its kind
statement_claims  claims made from questions and answers, true and false
pairs             questions with passages: judge and answer
claims            claims with evidence: verify
sentences         sentences of a user: sort; dialogue_turns
mixture           all of them, mixed so that any beginning of the list is a fair sample
everyday          what the reader learns from data/everyday: what states what, changes what, answers what
"""
