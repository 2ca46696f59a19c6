"""What everything above the stores handles: errors, the clock, passages, and text from outside.

errors       what can go wrong, each with its exit code and what to do next
clock        the present moment, or in a replay a time of its own
passages     the plain `Passage` that everything above handles, and the spaces it stands in
statement_links  what one statement does to another, and whether it still holds
entities     a row of a knowledge base, and how a passage holds it
secrets      what may hold a key or a password, as it may be shown
shortages    what a machine has run out of, as errors
shortages    what a machine has run out of, as errors
syncing      what is to be there after a power cut as well
one_line     text from outside, fit for one line of a terminal
well_formed  text from outside, as any database can hold it
"""
