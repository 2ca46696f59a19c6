"""Sums, means, ends and counts asked of tables in documents: python -m benchmarks.tables_asked [--part dev]

Each question of benchmarks/tables is a turn of a chat of its own by the built-in model, over three tables
(CSV, Markdown, HTML) and Vouch's own manual. "right" is an answer whose first line, or for the highest and
lowest the first row below it, holds what is wanted; of what the table cannot tell, one that gives no number
as an answer. Questions and tables were written before anything answered them.
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

from agents.backends.extractive import is_sure
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.everyday_chat import ROOT
from benchmarks.plain_manuals import ingest

TABLES = Path(__file__).with_name("tables")
_ENDS = ("max", "min")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    told = parser.parse_args()
    with (TABLES / "questions.tsv").open(encoding="utf-8", newline="") as file:
        asked = [row for row in csv.DictReader(file, delimiter="\t") if row["part"] == told.part]
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        home = {"HOME": folder, "XDG_CACHE_HOME": str(find_locations(os.environ).cache.parent)}
        settings = replace(Settings(), memory=replace(Settings().memory, learn=False))
        assistant = Assistant(settings, find_locations(home))
        try:
            user = assistant.stores.journal.user_id("ann")
            tables = [path for path in sorted(TABLES.iterdir()) if path.suffix != ".tsv"]
            ingest(assistant, user, [*tables, *sorted((ROOT / "docs" / "manual").glob("*.md"))])
            for row in asked:
                session = assistant.stores.journal.open_session(user)
                done = assistant.turns.host.play(user, session, row["question"], watch=lambda event: None)
                outcome = _outcome(row, done.answer)
                print(f"> {row['question']} ({row['answer'] or 'cannot be told'}) {outcome}\n{done.answer}\n")
                counted[row["operation"]][outcome] += 1
                counted["all"][outcome] += 1
        finally:
            assistant.close()
    print("| asked for | questions | right | unsure | wrong |\n| --- | ---: | ---: | ---: | ---: |")
    for name, of in counted.items():
        print(f"| {name} | {of.total()} | {of['right']} | {of['unsure']} | {of['wrong']} |")


def _outcome(row: dict[str, str], answer: str) -> str:
    lines = [*answer.splitlines(), ""]
    first = " ".join(lines[:2]) if row["operation"] in _ENDS else lines[0]
    if not row["answer"]:
        gives = is_sure(answer) and not answer.startswith("I cannot")
        return "wrong" if gives else "right"
    if not is_sure(answer) or answer.startswith("I cannot"):
        return "unsure"
    if row["operation"] == "count":
        first = first.split()[0]
    return "right" if _holds(first, row["answer"]) else "wrong"


def _holds(first: str, wanted: str) -> bool:
    """Whether it stands there as a whole number or words."""
    at = first.find(wanted)
    while at >= 0:
        before, after = first[at - 1 : at], first[at + len(wanted) : at + len(wanted) + 1]
        if not (before.isalnum() or after.isalnum() or before == "."):
            return True
        at = first.find(wanted, at + 1)
    return False


if __name__ == "__main__":
    main()
