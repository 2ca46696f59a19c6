"""Who takes part in a turn, one file an agent.

of_oneself        all that is known of who asks; groups_told, all of a group; what_became, of what was said
claim_rules/      what a user states, by rule: lead-ins, orders, echoes
reader_summarizer, chat_summarizer        what a user stated becomes claims; clause_slips, joined_clauses
reader_discriminator, chat_discriminator  a claim is weighed beside passages; claim_evidence, claim_gaps
curator, chat_curator    what a claim changes; met_statements, values, bindings, value_changes
relations/        what somebody has one of at a time: said, changed, asked for
models/           the encoder, the reader
losses/           what training makes small
backends/         the chat models
prompts/          what is said to a chat model
base/             what agents are given and return, and what they all know of sentences and values
retrieval/        from a message to ranked passages: a query, candidates, and judgements
answering/        from ranked passages to a reply with checked citations
memory/           from what a user stated to a decision: claims found, weighed, and placed
"""
