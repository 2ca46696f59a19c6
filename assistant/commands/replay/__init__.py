"""vouch replay.

command        vouch replay: a data set, or one's own conversation, played through the chat's own parts, and
               measured
checks         which options of vouch replay go together: what cannot is refused, and what does nothing is
               told
conversations  vouch replay SESSION --model A --against B: what of one's own conversation another model would
               change
parameters     what the options of vouch replay may be, and how a person is told that one cannot be that
"""
