"""Plays a stream, or a conversation, through the parts of the chat.

replay_assistant  the chat's own parts, with judge, chat model, clock and search of the replay's choice
steps             what a killed run goes on from, and what reports are made of
run_progress      how far a run is
inputs            what a person names, as one stream
plan              what is played, and how
player            one run: asked through the chat's pipeline, measured, noted, learned from
in_folder         a replay in a folder of its own: begun, gone on with, by one process at a time
replay            questions: every method and seed over one stream, each with a store of its own
shipped_replay    a model that comes with the product: as it comes, and learning as in a chat
follow_ups        conversations whose questions are made to stand alone, and what the query model learns
dialogues         task dialogues whose replies are corrected, and what the generator learns from that
named_models      the retrievers that a conversation can be played under, by name, and one of them made live
                  in a copy
conversations     one's own conversation under two models
"""
