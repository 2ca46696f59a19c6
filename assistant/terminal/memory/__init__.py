"""The Memory and Privacy screens.

memory_questions  another text, a line, a sentence that is to be typed
memory_list       the rows as columns
privacy_screen    what is kept about a user on a screen, and the way to forget all of it
privacy_door      opens it, and tells what came of it
memory_actions    what its keys do
memory_screen     Memory: the list by scope, and a box that tells of the marked one
"""
