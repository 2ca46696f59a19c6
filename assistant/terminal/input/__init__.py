"""What is typed: keys, pastes, drafts, and the editor.

commands      the table of commands that are typed with a slash
keys          the table of keys
bindings      the same for the screen library
key_sequence  a key that leads elsewhere is waited for by those behind it
whole_paste   a paste arrives whole, whatever control characters are in it
editor        the prompt in the person's editor
clipboard     by the terminal and by a tool
typed_ids     numbers of passages, turns and receipts, as they are typed
menus         what is chosen in plain mode by its number
"""
