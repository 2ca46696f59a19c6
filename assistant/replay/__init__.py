"""How Vouch is measured on data sets and recorded conversations.

streams/     questions and passages to replay: data sets, and tables of one's own
methods/     how a replay searches and what it learns: the retrieval methods, and a simulated judge
metrics/     what is measured: of one question, of many, with intervals and differences
storage/     what a replay keeps on disk: its store, its copies, its lines and its folder
runs/        plays a stream, or a conversation, through the parts of the chat
report/      the report of a replay: as a file and on a terminal
"""
