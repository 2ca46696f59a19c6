"""The program.

cli            the command line: common options, errors and exit codes
commands/      one file a subcommand
invocation     one call of a command: its options, and how it speaks
paging         long results at a terminal, by the person's pager
config         the settings: what can be set, checked where it is declared
settings_file  the settings in force, and a file's mistakes with their lines
locations      where the files are
identity       who is asking, and with which key the model's server is asked
log            the log and the crash report
wiring         chooses implementations; with its parts/ the only one that knows them all
parts/         the parts of one running program, by what they are
terminal/      what a person sees and types
turns/         one turn, from the message to the stored answer
library/       documents become passages
"""
