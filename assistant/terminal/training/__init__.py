"""The Training and Before/After screens.

round_page         one round on a page: figures, settings, from what it learned
training_steering  what the keys of Training do: begin and end a round, hold it up, go back, tell all about
                   it, compare
training_screen    Training: the curve, live against candidate, all rounds, and their keys
compare_screen     Before/After: two answers, names hidden, and which is better
"""
