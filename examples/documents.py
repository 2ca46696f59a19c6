"""Read a folder, ask it, and see why the answer came out as it did."""

import tempfile
from pathlib import Path

from vouch import Vouch

with tempfile.TemporaryDirectory() as folder, Vouch(user="example") as vouch:
    Path(folder, "rules.md").write_text("# Rules\n\nThe reading room opens at ten.\n")
    for document in vouch.ingest(folder, into="library"):
        print(document.change, document.passages)
    answer = vouch.ask("When does the reading room open?")
    print(answer.text)
    for row in vouch.why(answer.turn).found:
        print(row.used, row.name, row.judged)
