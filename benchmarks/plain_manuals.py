"""What is found and answered in manuals of other programs, as plain text: python -m benchmarks.plain_manuals

The texts are what programs of this machine print as their help, and manual pages as `man` shows them. Each
question of plain_manuals.tsv is a turn of a chat of its own by the built-in model, over all texts of its part
and Vouch's own manual. Outcomes are those of benchmarks/documents.py, but that an answer must stand letter
for letter, since options differ in case and dashes; "found" is the share of questions with a passage that
answers among the sources. An answer that must be found with its clue stands in one passage with it.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

from agents.backends.extractive import is_sure
from assistant.library.documents import read_documents
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.documents import OUTCOMES, said_first
from benchmarks.everyday_chat import ROOT
from stores.base.errors import UnreadableDocument
from stores.base.passages import SHARED

QUESTIONS = Path(__file__).with_name("plain_manuals.tsv")
HELP = {
    "pip": [sys.executable, "-m", "pip", "install", "--help"],
    "mypy": [sys.executable, "-m", "mypy", "--help"],
    "pytest": [sys.executable, "-m", "pytest", "--help"],
    "ruff": ["ruff", "help", "check"],
    "curl": ["curl", "--help", "all"],
}  # by manual; of others `man` shows the page


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--show", action="store_true", help="print each question with its answer")
    told = parser.parse_args()
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["part"] == told.part]
    with tempfile.TemporaryDirectory() as folder:
        home = {"HOME": folder, "XDG_CACHE_HOME": str(find_locations(os.environ).cache.parent)}
        settings = replace(Settings(), memory=replace(Settings().memory, learn=False))
        assistant = Assistant(settings, find_locations(home))
        try:
            user = assistant.stores.journal.user_id("ann")
            files = [_written(name, Path(folder)) for name in dict.fromkeys(row["manual"] for row in rows)]
            ingest(assistant, user, [*files, *sorted((ROOT / "docs" / "manual").glob("*.md"))])
            _report([(row, *_asked(assistant, user, row, told.show)) for row in rows])
        finally:
            assistant.close()


def _written(name: str, folder: Path) -> Path:
    """The manual as a text file."""
    environ = {**os.environ, "MANWIDTH": "80", "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    command = HELP.get(name, ["man", "-P", "cat", name])
    text = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60).stdout
    if not text.strip():
        raise SystemExit(f"{' '.join(command)} printed nothing; install the program or its manual page")
    file = folder / f"{name}.txt"
    file.write_text(text, "utf-8")
    return file


def ingest(assistant: Assistant, user: int, files: list[Path]) -> None:
    """Reads files into the shared space."""
    read = (document for file in files for document in read_documents(file))
    documents = (document for document in read if not isinstance(document, UnreadableDocument))
    for _ in assistant.turns.ingest.run(user, SHARED, documents, summary="manuals"):
        pass
    assistant.catch_up()


def _asked(assistant: Assistant, user: int, row: dict[str, str], show: bool) -> tuple[str, bool]:
    """What came of a question, and whether a passage that answers is among its sources."""
    session = assistant.stores.journal.open_session(user)
    finished = assistant.turns.host.play(user, session, row["question"], watch=lambda event: None)
    texts = [_plain(f"{one.passage.title}\n{one.passage.text}") for one in finished.sources]
    found = any(_plain(row["answer"]) in text and _plain(row["clue"]) in text for text in texts)
    first, shown = said_first(finished.answer)
    wanted = _plain(row["answer"])
    if not finished.cited:
        outcome = "nothing"
    elif is_sure(finished.answer):
        outcome = "right" if wanted in _plain(first) else "wrong"
    else:
        outcome = "hedged" if wanted in _plain(shown) else "unsure"
    if show:
        print(f"> {row['question']} ({row['answer']}) {outcome}, {'' if found else 'not '}found")
        print(f"  {finished.answer}\n")
    return outcome, found


def _plain(text: str) -> str:
    return " ".join(text.split())


def _report(asked: list[tuple[dict[str, str], str, bool]]) -> None:
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for row, outcome, found in asked:
        for kind in ("all", row["kind"]):
            kinds[kind].update([outcome, *(["found"] if found else []), "asked"])
    columns = ("found", *OUTCOMES)
    print(f"| kind | questions | {' | '.join(columns)} |\n| --- | ---: |{' ---: |' * len(columns)}")
    for kind, counted in kinds.items():
        shares = " | ".join(f"{counted[each] / counted['asked']:.1%}" for each in columns)
        print(f"| {kind} | {counted['asked']} | {shares} |")


if __name__ == "__main__":
    main()
