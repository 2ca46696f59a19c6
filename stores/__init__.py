"""What outlives a turn.

base/            what everything above the stores handles: errors, the clock, passages, and text from outside
database/        one SQL database: its tables, transactions, rows, locks and the processes that use it
words/           words: tokens, BM25, and the full-text indexes of passages and of turns
vectors/         vectors: exact search, and the indexes that hold a large shared space
versions/        versions of passages: added, removed and brought back through one door, each by a receipt
search/          what one user may search, and the indexes and encoder versions behind it
conversation/    sessions and turns: what was said, answered, rated and found again, and the jobs that follow
                 a turn
claims/          claims: what users stated, what was decided about it, and what is proposed for everybody
learning/        what is learned from, the rounds of training, and the models that came of them
memory/          a memory as its user sees it: listed, with its history and uses, edited and undone
forgetting/      forgetting for good: what goes, erasing it, and the bytes of it
exchange/        memories and databases as files: export, import, backup and copies
checks/          whether what is derived agrees with the truth, and making it again
"""
