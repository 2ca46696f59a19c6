"""The chat on the whole screen.

run              opens the screens, and closes everything behind them
app              the program on the screen: signals, leaving, the command palette
chat             the first screen: conversation, notice, prompt, status, keys
chat_actions     what the keys that hold everywhere do, and the commands that only screens have
answer_actions   rate an answer, correct it, ask why, undo what it taught
reading_actions  copy, open a source, find, ask again
chat_parts       what that screen is made of, as the files know it that act on it
surroundings     title, counts, status, how much is below
draft_keeping    what is typed is kept, and comes back
talk             what is sent, one after another
desk             the assistant, on threads of its own
writing          a reply while it is written
worker_thread    one of these threads
conversation     the messages of a session, of which a few are mounted
message_view     one message; an answer grows while it is written
streaming        where a long answer can be divided while it is written
messages         the records behind them
prompt           where messages are typed
folded_paste     long pastes, folded to one line
notice_line      what was learned, with the way back
rate_strip       the keys that rate the last answer
key_line         the line of keys at the bottom
two_sided_line   a line with words at both ends
why_facts        why an answer was given, from what is stored
why_view         the same beside the conversation, or on a screen of its own
sessions_screen  the sessions of a user
page_screen      a page to read: help, a passage, what was learned
small_screens    questions that need an answer first, and the search of earlier prompts
help_text        all keys and commands
keys             the table of keys
bindings         the same for the screen library
drafts           what was typed and not sent
copying          by the terminal and by a tool
editor           the prompt in the person's editor
printable        text from outside, fit for a screen
work             work that a screen begins and does not wait for
"""
