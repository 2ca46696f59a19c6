"""What a message of a user states, by rule: in whose name, and without what leads into it.

    message -> plain text -> the user's own part of it -> sentences -> statements

Text from outside is data: what is quoted, pasted, asked, imagined or ordered states nothing. In doubt a
sentence is dropped, for what is not kept can be said again. Every pass is linear in the message.

own_part      a message without tricks of its characters, and what of it the user wrote
own_material  what is handed over and yet the user's own: "About me: ..."
emphasis      marks around words, which are no words
requests      what is to be done, once or from now on
lead_ins      what leads into a statement and out of it
doubts        what is only thought, and the words that say so
corrections   what should have stood in what was told last
answers_given the answer to a question that is named with it
takeovers     what tells the assistant to be another one, or speaks of its memory
suppositions  what is only supposed or wished
remarks       what only says that an answer is wrong, or that something does not work
moods         what only tells how somebody feels just now
clipped       what people say of themselves without "I"
statements    which sentences state something
english       whether a sentence is English
distinctions  names, numbers and negations
speaker       whether the user speaks of themselves, and what they like
echoes        what only repeats what the user was shown
"""
