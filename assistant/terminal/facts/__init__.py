"""What screens and commands tell, read from the stores; nothing here paints.

waiting_claims  why something that was said is not learned yet, in words
proposals       open proposals: which of them a user may read, and each of them on one line
memory_history  one passage with all that became of it, as lines: its versions, the writes that made them, its
                uses
answer_lines    what is told below an answer
messages        the records behind them
why             why an answer was given, from what is stored
training        what it tells, read from the database, whoever trains
training_lines  that in words, for the screen and the chat's status line
comparison      what is known of such a pair
memory_page     a page of rows, read from the stores
memory_detail   all there is to know about one memory
privacy         what is kept about a user, who can read it, what left the machine
session_text    a session written out, to be read elsewhere: as Markdown the branch that is on, as JSON every
                turn
log_lines       its last lines as rows
"""
