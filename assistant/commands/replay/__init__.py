"""vouch replay.

command        vouch replay: a data set, or one's own conversation, played through the chat's own parts, and
               measured
checks         which options of vouch replay go together: what cannot is refused, and what does nothing is
               told
streams        what is played: questions, task dialogues or conversations
telling        how far a replay is, and its report
disk           the folder of a replay, and what the system says of it
conversations  vouch replay SESSION --model A --against B: what of one's own conversation another model would
               change
parameters     what the options of vouch replay may be, and how a person is told that one cannot be that
"""
