"""How Vouch is measured on data sets and recorded conversations.

replay                 a whole replay: every method and seed over one stream, each with a store of its own
replay_plan            what is played, and how
replay_files           what it writes in its folder, where nothing else is touched
memory_copies          what users had said, for a killed run
player                 one run: asked through the chat's pipeline, measured, noted, learned from
replay_assistant       the chat's own parts, with judge, chat model, clock and search of the replay's choice
own_store              the store of a data set, filled once and copied for every run
run_progress           how far a run is, and how long it will still take
steps                  what a killed run goes on from, and what reports are made of
line_file              files of JSON lines that survive a kill
inputs                 what a person names, as one stream
trainings              what came of a method's trainings, in figures and in a sentence
report                 one JSON object, the same for the same inputs
report_page, plots     the same as a page
terminal_table         the same on a terminal, by its width
times_table            what took how long
conversations          one's own conversation under two models

recorded_chat          a chat model whose replies are kept
chat_judge             a chat model that judges
simulated_chat         an answerer that is right where the passages hold the answer
feedback               what users say after an answer
feedback_templates     in which words

simulate               a judge, an answerer and users of stated accuracy
dialogue_state         what a user wants of a service, turn by turn: extractors, and how right they are
simulated_extractor    an extractor of stated accuracy, to see that the measures are right
metrics/               what is measured: of one question, of many, with intervals and differences
streams/               questions and passages to replay: data sets, and tables of one's own
methods/               how a replay searches and what it learns: the retrieval methods that are compared
"""
