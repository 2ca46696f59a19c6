"""Conversations that other chat programs exported, read one at a time.

values        values of other programs' exports, taken for what they should be: whatever else they are is
              nothing
formats       what ChatGPT, Claude and `llm` export, read as sessions: one record in, one session out
llm_database  the database of `llm` (logs.db), read one conversation at a time
batches       these sessions in parts that are taken in one by one
exports       exports of other chat programs, read as sessions; chat_log_database reads those of llm
"""
