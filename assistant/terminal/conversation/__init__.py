"""The conversation on the screen: its messages, the prompt, and what is sent.

answer_text       its words, laid out once and painted from what is kept
message_view      one message; an answer grows while it is written
mounted_messages  the messages of a session, of which a few are mounted
conversation      what is said: followed, and read message by message
prompt            where messages are typed
notice_line       what was learned, with the way back
rate_strip        the keys that rate the last answer
talk              what is sent, one after another
"""
