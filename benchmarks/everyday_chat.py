"""What Vouch answers about what people told it, as they chat: python -m benchmarks.everyday_chat

Every message and question of a part of data/everyday_dated is a turn of a chat, at its date, with all that
follows a turn; each conversation is another user of one store that has read the manual. Without --part it is
the calibration part, cut off the training file.

    right         what is quoted first holds the answer
    wrong         something else is quoted, without a warning
    unsure, right / unsure, wrong   the same, of the first of the nearest, where it is not sure
    nothing       it says that it knows nothing; for what was never told that is what is wanted

With --library it is the dialogues of data/library instead, over its passages: first questions and follow-ups.

An answer counts as right where its words stand in what is shown before the first citation, up to case and
punctuation.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from agents.backends.extractive import NOT_SURE, is_sure
from assistant.library.documents import read_documents
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.turns.events import Finished
from assistant.wiring.assistant import Assistant
from stores.base.clock import time_by
from stores.base.errors import UnreadableDocument
from stores.base.passages import SHARED

ROOT = Path(__file__).parents[1]
OUTCOMES = ("right", "unsure, right", "unsure, wrong", "wrong", "nothing")
ROWS = ("now", "before", "other", "first", "follow", "told", "never told")
ACKNOWLEDGED = ("Noted: ", "Ask me something")  # what was asked was taken for no question


def conversations(part: str, folder: Path) -> list[dict[str, Any]]:
    """The records of a part."""
    from training.examples.example import part_of

    file = folder / ("test.jsonl" if part == "test" else "train.jsonl")
    read = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [c for c in read if part == "test" or part_of(c["id"], has_test_file=True) == part]


def outcome(answer: str, span: str) -> str:
    """One of OUTCOMES, of what was answered where these words were wanted; none for never told."""
    if answer.startswith(ACKNOWLEDGED) or not (is_sure(answer) or answer.startswith(NOT_SURE)):
        return "nothing"
    is_unsure = not is_sure(answer)
    shown = answer.removeprefix(NOT_SURE).partition("[")[0]
    word = "right" if span and folded(span) in folded(shown) else "wrong"
    return f"unsure, {word}" if is_unsure else word


def folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


class Chat:
    """Vouch that has read some books, with a clock that is set."""

    def __init__(self, store: Path, books: Path, *, show: bool = False) -> None:
        self.show = show
        self.at = datetime(2026, 1, 1, tzinfo=UTC)
        self.seconds: list[float] = []
        self.learned: Counter[str] = Counter()
        self.assistant = Assistant(Settings(), find_locations(os.environ, data=str(store)), offline=True)
        reader = self.assistant.stores.journal.user_id("benchmark")
        read = (d for page in sorted(books.glob("*.md")) for d in read_documents(page))
        documents = (d for d in read if not isinstance(d, UnreadableDocument))
        for _ in self.assistant.turns.ingest.run(reader, SHARED, documents, summary="books"):
            pass

    def turn(self, user: int, session: int, message: str) -> Finished:
        """One message with its answer, and all that follows it."""
        begun = time.perf_counter()
        finished = self.assistant.turns.host.play(user, session, message, watch=lambda event: None)
        self.seconds.append(time.perf_counter() - begun)
        self.assistant.turns.host.remember(user, lambda learned: self.learned.update([learned.action]))
        self.assistant.turns.host.settle()
        if self.show:
            print(f"> {message}\n  {finished.answer}")
        return finished

    def report(self) -> str:
        """How long the turns took, and what was learned from them."""
        p50, p95 = np.percentile(self.seconds, [50, 95]) * 1000
        return (
            f"\n{len(self.seconds)} turns: p50 {p50:.0f} ms, p95 {p95:.0f} ms; learned {dict(self.learned)}"
        )

    def play(self, record: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
        """The questions of a conversation with their answers."""
        user = self.assistant.stores.journal.user_id(record["id"])
        day, session = "", 0
        for event in record["events"]:
            if (date := event.get("date", "2026-01-01")) != day:
                day, session = date, self.assistant.stores.journal.open_session(user)
                self.at = max(self.at, datetime.fromisoformat(f"{day}T09:00:00+00:00"))
            message = event.get("ask") or joined([s["text"] for s in event["say"]])
            self.at += timedelta(minutes=1)
            finished = self.turn(user, session, message)
            if "ask" in event:
                yield event, finished.answer


def library(books: Path, folder: Path) -> list[dict[str, Any]]:
    """The dialogues of a library, whose passages are written as files."""
    books.mkdir()
    for number, line in enumerate((folder / "passages.jsonl").read_text("utf-8").splitlines()):
        passage = json.loads(line)
        (books / f"{number:03}.md").write_text(f"# {passage['title']}\n\n{passage['text']}\n", "utf-8")
    return [json.loads(line) for line in (folder / "dialogues.jsonl").read_text("utf-8").splitlines()]


def joined(said: list[str]) -> str:
    """The sentences of a message, as it is typed: one without a stop ends with its line."""
    return "".join(f"{one}{' ' if one[-1] in '.!?…' else chr(10)}" for one in said).strip()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=("calibration", "test"), default="calibration")
    parser.add_argument("--data", type=Path, default=ROOT / "data" / "everyday_dated")
    parser.add_argument("--library", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="take each nth conversation")
    parser.add_argument("--show", action="store_true", help="print each answer")
    arguments = parser.parse_args()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        books, records = ROOT / "docs/manual", conversations(arguments.part, arguments.data)
        if arguments.library:
            books = Path(folder) / "books"
            records = library(books, arguments.data.parent / "library")
        chat = Chat(Path(folder) / "store", books, show=arguments.show)
        with time_by(lambda: chat.at):
            for record in records[:: arguments.every]:
                chat.at = datetime(2026, 1, 1, tzinfo=UTC)
                for asked, answer in chat.play(record):
                    found = outcome(answer, asked.get("span", ""))
                    counts[asked["kind"]][found] += 1
                    counts["never told" if asked["kind"] == "never" else "told"][found] += 1
                    if arguments.show:
                        print(f"    {found.upper()} {asked['kind']} ({asked.get('span', '-')})")
        chat.assistant.close()
    print(f"| kind | questions | {' | '.join(OUTCOMES)} |")
    print(f"| --- | ---: |{' ---: |' * len(OUTCOMES)}")
    for kind in filter(counts.__contains__, ROWS):
        total = sum(counts[kind].values())
        shares = (f"{counts[kind][one] / max(1, total):.1%}" for one in OUTCOMES)
        print(f"| {kind} | {total} | {' | '.join(shares)} |")
    print(chat.report())


if __name__ == "__main__":
    main()
