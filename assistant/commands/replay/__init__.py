"""vouch replay.

command        vouch replay: a data set, or one's own conversation, played through the chat's own parts, and
               measured
checks         which options of vouch replay go together: what cannot is refused, and what does nothing is
               told
conversations  vouch replay SESSION --model A --against B: what of one's own conversation another model would
               change
folder         the folder that a replay is kept in: it can be written to before anything is played, or that is
               said
parameters     what the options of vouch replay may be, and how a person is told that one cannot be that
progress       how far a replay is, how quickly it goes and how long it takes: a line on a terminal, else
               sentences
report         what vouch replay gives once all is played: files in its folder, figures, the exit code
"""
