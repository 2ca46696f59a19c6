"""The program.

cli         the command line: common options, errors and exit codes
commands/   one file a subcommand
config      settings: where they come from, checked where they are declared
log         the log and the crash report
wiring      chooses implementations; the only file that knows them all
turns/      one turn, from the message to the stored answer
library/    documents become passages
"""
