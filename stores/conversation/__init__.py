"""Sessions and turns: what was said, answered, rated and found again, and the jobs that follow a turn.

api_keys           keys by which programs ask in a user's name
journal            users, sessions, turns and what was found, judged and said in them
sessions           a user's sessions: listed, named, put away, deleted
summaries          what was said in a session before what is still sent of it, in short
branches           what was said instead of something, beside it
said_passages      what is said in a session, as passages of a user's own memory
imported_sessions  sessions that were held with other programs, each turn once
ratings            what users say of answers, one judgement at a time
glance             the end of a session, before the rest is loaded
pair_choices       which of two answers was better, kept as what is said of passages
turn_models        by which models a turn was searched and judged
turn_search        Find: the turns of one user that hold words
claim_jobs         what is left to find and to weigh when a turn has ended
erased_turns       turns, searches and feedback without the words
"""
