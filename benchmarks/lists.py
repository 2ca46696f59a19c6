"""What Vouch answers where several statements are asked for: python -m benchmarks.lists [--part dev]

Each memory of data/lists is told to a user of its own, at its days; then each of its questions is asked on a
later day, in a session of its own. The chat is the real one, over the built-in models and the manual.

    F1        of the statements that an answer cites, beside those that answer; where none does, 1 if nothing
              is answered flatly, else 0. What follows "I know nothing about that" is no answer
    exact     just those are cited
    number    of a "how many": the answer begins with how many answer
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from agents.backends.extractive import is_sure, is_told
from assistant.turns.events import Finished
from benchmarks.everyday_chat import ACKNOWLEDGED, ROOT, Chat, folded
from stores.base.clock import time_by

DATA = ROOT / "data/lists"
KINDS = ("list", "count", "time", "still", "last", "one", "empty")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Scored:
    """One answer, measured."""

    kind: str
    f1: float
    exact: bool
    number: bool  # of a "how many"


def scored(asked: dict[str, Any], says: list[dict[str, str]], finished: Finished) -> Scored:
    """asked: a question of data/lists, over these statements."""
    right = set(asked["from"])
    is_answer = is_told(finished.answer) and not finished.answer.startswith(ACKNOWLEDGED)
    is_flat = is_answer and is_sure(finished.answer)
    cited = set(_cited(says, finished)) if is_answer else set()
    if not right:
        return Scored(asked["kind"], float(not is_flat), not is_flat, False)
    hits = len(cited & right)
    number = _NUMBER.match(finished.answer)
    is_number = number is not None and int(number[0]) == len(right)
    return Scored(asked["kind"], 2 * hits / (len(cited) + len(right)), cited == right, is_number)


def _cited(says: list[dict[str, str]], finished: Finished) -> Iterator[int]:
    """The places of the statements that an answer cites; -1 for anything else."""
    for source in finished.cited:
        said = folded(source.passage.text)
        yield next((n for n, one in enumerate(says) if said in folded(one["t"])), -1)


def play(chat: Chat, memory: dict[str, Any]) -> Iterator[Scored]:
    """Tells one memory, and asks its questions."""
    user = chat.assistant.stores.journal.user_id(memory["id"])
    session = chat.assistant.stores.journal.open_session(user)
    for one in memory["says"]:
        chat.at = max(chat.at + timedelta(minutes=1), _at_nine(one["d"]))
        chat.turn(user, session, one["t"])
    chat.at = max(chat.at, _at_nine(memory["asked_on"]))
    for asked in memory["asks"]:
        chat.at += timedelta(minutes=1)
        session = chat.assistant.stores.journal.open_session(user)
        found = scored(asked, memory["says"], chat.turn(user, session, asked["q"]))
        if chat.show:
            print(f"    {asked['kind']}: F1 {found.f1:.2f}, wanted {[n + 1 for n in asked['from']]}")
        yield found


def _at_nine(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T09:00:00+00:00")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--show", action="store_true", help="print each answer")
    arguments = parser.parse_args()
    memories = [
        json.loads(line) for line in (DATA / f"{arguments.part}.jsonl").read_text("utf-8").splitlines()
    ]
    rows: dict[str, list[Scored]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        chat = Chat(Path(folder), ROOT / "docs/manual", show=arguments.show)
        with time_by(lambda: chat.at):
            for memory in memories:
                chat.at = datetime(2026, 1, 1, tzinfo=UTC)
                for found in play(chat, memory):
                    rows[found.kind].append(found)
                    rows["all"].append(found)
        chat.assistant.close()
    print("| kind | questions | F1 | exact | number |\n| --- | ---: | ---: | ---: | ---: |")
    for kind in (*KINDS, "all"):
        number = f"{np.mean([s.number for s in rows[kind]]):.1%}" if kind == "count" else ""
        f1, exact = np.mean([s.f1 for s in rows[kind]]), np.mean([s.exact for s in rows[kind]])
        print(f"| {kind} | {len(rows[kind])} | {f1:.3f} | {exact:.1%} | {number} |")
    print(chat.report())


if __name__ == "__main__":
    main()
