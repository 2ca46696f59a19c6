"""Memories and databases as files: export, import, backup and copies.

json_lines        one JSON object on a line, and what is wrong with one that is none
memory_export     a memory as lines of plain values, to be taken along
memory_lines      such lines read back, each checked
others_memories   memories that other programs wrote out, as such lines
memory_import     what they tell, taken in under one receipt
import_choice     what of them is new here
portable_grounds  passages in the grounds of a write, named for another database
backup            everything that cannot be made again, in one file
earlier_state     what was known at an earlier moment, in a copy
"""
