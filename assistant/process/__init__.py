"""The process itself: its log, streams, signals and priority.

log               the log and the crash report
end_signals       the signals that end a command: it leaves by the usual way out and keeps what was written
standard_streams  standard input, output and error as a command uses them: UTF-8 through a pipe, and errors
                  told plainly
own_names         whether a request over HTTP is for this server, by its Host and Origin
low_priority      processes that compute behind a chat, and must never be in its way
"""
