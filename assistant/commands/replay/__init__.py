"""vouch replay.

command        vouch replay: a data set, or one's own conversation, played through the chat's own parts, and
               measured
streams        what is played: questions, task dialogues or conversations
telling        how far a replay is, and its report
disk           the folder of a replay, and what the system says of it
conversations  vouch replay SESSION --model A --against B: what of one's own conversation another model would
               change
parameters     what the options of vouch replay may be
"""
