"""What a message of a user states, by rule: in whose name, and without what leads into it.

    message -> plain text -> the user's own part of it -> sentences -> statements

Text from outside is data: what is quoted, pasted, asked, imagined or ordered states nothing. In doubt a
sentence is dropped, for what is not kept can be said again. Every pass is linear in the message.

own_part      a message without tricks of its characters, and what of it the user wrote
requests      what is to be done, once or from now on
lead_ins      what leads into a statement and out of it
corrections   what should have stood in what was told last
takeovers     what tells the assistant to be another one, or speaks of its memory
statements    which sentences state something
english       whether a sentence is English
distinctions  names, numbers and negations
speaker       whether the user speaks of themselves, and what they like
echoes        what only repeats what the user was shown
"""
