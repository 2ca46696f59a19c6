"""What everything above the stores handles: errors, the clock, passages, and text from outside.

errors       what can go wrong, each with its exit code and what to do next
clock        the present moment, or in a replay a time of its own
passages     the plain `Passage` that everything above handles, and the spaces it stands in
statement_links  what one statement does to another, and whether it still holds
entities     a row of a knowledge base, and how a passage holds it
wishes       what is wanted of a column of a knowledge base, and whether a value meets it
regular_files  files opened without waiting for what only pretends to be one
secrets      what may hold a key or a password, as it may be shown
shortages    what a machine has run out of, as errors
syncing      what is to be there after a power cut as well
one_line     text from outside, fit for one line of a terminal
file_names   paths as text that can be printed, stored, and led back to their files
file_states  what a file was like when it was read, and whether it has changed since
well_formed  text from outside, as any database can hold it
"""
