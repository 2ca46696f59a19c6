"""One file a schema; a released one is never changed.

0001_first_schema                 the first schema: conversations, knowledge with its versions, jobs, models,
                                  the words searched
0002_counted_words                words are counted as they come and go; filled indexes and steps back to
                                  earlier models are remembered
0003_indexes_known_by_their_fill  a filled index is known by the id of its fill, and what it has missed since
                                  is noted
0004_claims                       claims, proposals, jobs that wait, and passages whose text is gone
0005_public_ids                   ids that an export keeps, and the receipt of the import that something came
                                  by
0006_branches_and_found_turns     sessions that branch, are deleted or came from elsewhere, and turns that are
                                  found by their words
0007_what_proposals_change        what a proposal does once it is accepted: adds, or modifies or deletes a
                                  version of a shared passage
0008_knowledge_bases              tables of entities that can be talked over, and which one a session is about
0009_statement_links              what statements do to each other; versions that replaced become passages
0010_file_states                  what a file was like when a document was read from it
0011_collections                  what a user calls some documents together
0012_what_sessions_keep           what a session asks of all answers in it, and a summary of its beginning
"""
