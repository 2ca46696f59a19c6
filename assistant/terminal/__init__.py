"""What a person sees and types.

screens/        the chat on the whole screen
plain           the chat as lines: a transcript that is also the form for pipes
plain_commands  what is typed there with a slash in front: all that the screen has
plain_reply     a reply as it comes, and that it is waited for
plain_waiting   a message whose model is busy, tried again by itself
plain_transcript  what was said before, in its form
standing_text   text that stands in the line that is read next
plain_takeover  what the screen leaves to plain mode
serving         the same screens in a browser, and who gets in
plainness       whether there are to be screens, and colour
text/           text as it is laid out: fit for a screen, wrapped, as Markdown, as a plot
input/          what is typed: keys, pastes, drafts, and the editor
facts/          what screens and commands tell, read from the stores; nothing here paints
actions/        what a person can do: each action with what it asks before and tells after
comparison/     answers before and after a training: played, compared, and steered
engine/         the assistant as the screens know it, and the commands that are typed with a slash
"""
