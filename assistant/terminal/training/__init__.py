"""The Training and Before/After screens.

round_page         one round on a page: figures, settings, from what it learned
training_screen    Training: the curve, live against candidate, all rounds, and their keys
compare_screen     Before/After: two answers, names hidden, and which is better
"""
