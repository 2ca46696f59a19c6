"""How Vouch is measured on data sets and recorded conversations.

trainings              what came of a method's trainings, in figures and in a sentence
report                 one JSON object, the same for the same inputs
report_page, plots     the same as a page
terminal_table         the same on a terminal, by its width
times_table            what took how long

metrics/               what is measured: of one question, of many, with intervals and differences
streams/               questions and passages to replay: data sets, and tables of one's own
methods/               how a replay searches and what it learns: the retrieval methods that are compared
runs/                  plays a stream, or a conversation, through the parts of the chat
simulation/            judges, answerers, users and extractors of stated accuracy
storage/               what a replay keeps on disk: its store, its copies, its lines and its folder
"""
