"""The chat's own screen and what its keys do.

surroundings      title, counts, status, how much is below
draft_keeping     what is typed is kept, and comes back
completing        the menu of the prompt: commands, documents, paths and names that fit
answer_actions    rate an answer, correct it, ask why, undo what it taught
branch_actions    change a message, answer again, go from branch to branch
find_actions      go to what was found, from session to session
memory_access     the chat opens Memory and Privacy, and offers no undo that is done already
training_actions  the chat opens Training and Before/After, and shows a round that runs
reading_actions   copy, open a source
chat_actions      what the keys that hold everywhere do, and the commands that only screens have
opening           it is opened, and sessions in it: what was said last comes first
chat_screen       the first screen: conversation, notice, prompt, status, keys
"""
