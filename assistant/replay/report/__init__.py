"""The report of a replay: as a file and on a terminal.

trainings       what came of a method's trainings, in figures and in a sentence
report          one JSON object, the same for the same inputs
terminal_table  the same on a terminal
"""
