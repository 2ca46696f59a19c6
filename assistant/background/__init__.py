"""What works behind a chat, and makes way for its answers.

priority    who answers goes first, who remembers waits
steps       what follows a turn: one thread, and no step while an answer is given
chat_model  the chat model for what follows a turn: its requests give way to answers
"""
