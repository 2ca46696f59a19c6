"""How Vouch learns: the examples it learns from, and the programs that train on them.

What the reader learns from, to be had by `reader_examples.examples`:

    example            one labelled example, and to which part of the data it belongs
    reader_examples    all of them, mixed so that any beginning of the list is a fair sample
    reader_pairs       questions with passages: judge and answer
    passage_search     passages ranked by shared words, in memory: where hard negatives come from
    mine_negatives     the same by the product's whole search: `python -m assistant.learning.mine_negatives`
    reader_claims      claims with evidence: verify
    statement_claims   claims made from questions and answers, true and false
    statements         a question and its answer turned into a statement; english_forms, word_order
    changed_answers    an answer exchanged for another of its kind
    reader_sentences   sentences of a user: sort; dialogue_turns
    personal_templates, other_templates, sentence_slots    sentences written for it

How it learns, `python -m assistant.learning.train_reader`:

    train_reader       the command; checkpoints keeps what it has reached
    reader_batches     examples as batches of tensors
    reader_loss        what it is taught to make small
    reader_steps       the steps it takes
    reader_fit         what it is worth afterwards, and its temperatures; calibration

How the retriever learns, `vouch train`:

    learner            one round, from the lessons to a model that goes live, or does not
    deciding           the comparison with what answers now; winners go live
    background         the learner of a chat: leads rounds in a process of their own; occasions, steering
    attempts           whether a round that is gone on with still gets further
    lineage            what a round is made from, and what of that has changed since
    noting, ended      how far a round is, and what it came to; loss_curve is what its row keeps of the losses
    both_sides         a candidate that encodes passages too: all of them anew, then the swap
    training_child     the process that trains, told to end when it must
    train_retriever    what runs in it; pacing: its checkpoints and speed; stop_signal: what stops it
    lesson_batches     lessons grouped by the documents they share
    retriever_network  the encoder in torch; retriever_training takes its steps

What adapts without lessons, for `vouch replay`:

    entropy_minimisation    an encoder's norms, made surer of what each search found (TENT)
"""
