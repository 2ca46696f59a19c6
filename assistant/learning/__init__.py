"""How Vouch learns: the examples it learns from, and the programs that train on them.

What the reader learns from, to be had by `reader_examples.examples`:

    personal_templates, other_templates, sentence_slots    sentences written for it

How it learns, `python -m assistant.learning.recipes.reader.train`:

How the retriever learns, `vouch train`:

    learner            one round, from the lessons to a model that goes live, or does not
    promotion          the comparison with what answers now; winners go live
    background         the learner of a chat: leads rounds in a process of their own; occasions, steering
    attempts           whether a round that is gone on with still gets further
    lineage            what a round is made from, and what of that has changed since
    noting, ended      how far a round is, and what it came to; loss_curve is what its row keeps of the losses
    dual_encoder_swap  a candidate that encodes passages too: all of them anew, then the swap
    training_process   the process that trains, told to end when it must

What adapts without lessons, for `vouch replay`:
recipes/  the programs that train a model, and what they share
"""
