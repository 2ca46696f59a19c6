"""The program.

cli            the command line: common options, errors and exit codes
commands/      one file a subcommand
invocation     one call of a command: its options, and how it speaks
paging         long results at a terminal, by the person's pager
warm           `vouch ask` that stays warm: a process that has everything loaded answers the next one
terminal/      what a person sees and types
turns/         one turn, from the message to the stored answer
library/       documents become passages
settings/      what can be set, where it is set, and where the files are
process/       the process itself: its log, streams, signals and priority
search/        what searches by one encoder version, its indexes, and the change to another encoder
background/    what works behind a chat, and makes way for its answers
remembering/   what follows a turn: what the user stated is found, weighed, and written once
wiring/        chooses implementations: the only folder that knows them all
"""
