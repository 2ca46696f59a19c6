"""vouch memory.

command  vouch memory: what is remembered, and taking it back
claims   vouch memory pending, edit, share, proposals: what is being weighed, and what a person decides
files    vouch memory export, import: a memory as a file of JSON lines, to be taken along
"""
