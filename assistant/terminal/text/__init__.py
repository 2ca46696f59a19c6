"""Text as it is laid out: fit for a screen, wrapped, as Markdown, as a plot.

printable       text from outside, fit for a screen
word_wrap       text printed at once, with lines broken between words
markdown_lines  Markdown as lines of a width
plot            a curve in characters
"""
