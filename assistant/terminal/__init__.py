"""What a person sees and types.

text/           text as it is laid out: fit for a screen, wrapped, as Markdown, as a plot
input/          what is typed: keys, pastes, drafts, and the editor
facts/          what screens and commands tell, read from the stores; nothing here paints
actions/        what a person can do: each action with what it asks before and tells after
comparison/     answers before and after a training: played, compared, and steered
engine/         the assistant as the screens know it, and the commands that are typed with a slash
plain/          the chat as lines, for pipes and for who wants no screen
widgets/        widgets that any screen uses
conversation/   the conversation on the screen: its messages, the prompt, and what is sent
why/            why an answer was given, and what can be done with its passages
memory/         the Memory and Privacy screens
training/       the Training and Before/After screens
lists/          sessions, Find and the log: screens that are one list
chat/           the chat's own screen and what its keys do
app/            the program on the screen: it opens, paints, and gives the screen back
"""
