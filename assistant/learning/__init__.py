"""How Vouch learns from everyday use.

recipe             what a recipe gives: words, lessons, a training, a comparison
learner            how a round runs, whatever it trains
promotion          the comparison with what answers now; winners go live
background         the learner of a chat: leads rounds in a process of their own
schedule           when a round is due
steering           what a running round is told: to wait, to go on, to leave off
progress           how far a round is
outcome            what a round came to
newest_block       which lessons judge a candidate: the newest
lineage            what a round is made from, and what of that has changed since
dual_encoder_swap  a candidate that encodes passages too: all of them anew, then the swap
training_process   the process that trains, told to end when it must
held_out/          whether a candidate may go live: compared on what neither was trained on
recipes/           the programs that train a model, and what they share
"""
