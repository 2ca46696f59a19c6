"""The report of a replay: as a file, a page and on a terminal.

trainings       what came of a method's trainings, in figures and in a sentence
report          one JSON object, the same for the same inputs
plots           plots as SVG, to stand within a page: lines along the stream, and bars with their intervals
page            the report of a replay as one page: tables and plots, with nothing fetched and nothing that
                runs
terminal_table  the same on a terminal, by its width
times_table     what took how long
"""
