"""What Vouch answers about what people told it: python -m benchmarks.everyday [--part dev] [--groups 4]

Six conversations of data/everyday at a time are told to one user, day by day, each as a session of its own
that goes on; then every question is asked, those of a conversation in a session, after which nothing is
learned from them. The chat is the real one, over the built-in models and the manual.

    right      the answer's words stand in what is said first, from the message that holds them
    first      the right message is what is quoted first
    three      it is among the first three that are quoted
    wrong      another is quoted first, flatly
    nothing    nothing is quoted though it was told

For what was never told, what is wanted is that nothing is answered flatly (`not flatly`); nearest is the
share for which the message nearest by cosine is the right one, without any reader.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import numpy as np

from agents.backends.extractive import NOT_SURE, NOT_TOLD, is_sure
from assistant.turns.events import Finished
from benchmarks.everyday_chat import ACKNOWLEDGED, ROOT, Chat, folded
from stores.base.clock import time_by
from training.examples import everyday
from training.examples.everyday import Asked, Conversation, Told
from training.examples.example import Part

PARTS: dict[str, Part] = {"train": "train", "dev": "calibration", "test": "test"}
KINDS = ("now", "before", "other", "detail", "yesno", "follow", "told", "never")
MEASURES = ("right", "first", "three", "wrong", "nothing", "not flatly", "nearest")
_TOGETHER = 6


def measured(asked: Asked, message: str, finished: Finished) -> dict[str, bool]:
    """Each of MEASURES but the last, of one answer. message: the one that holds what is asked."""
    said = folded(message)
    cited = [folded(source.passage.text) in said for source in finished.cited[:3]] if message else []
    is_flat = is_sure(finished.answer) and not finished.answer.startswith(ACKNOWLEDGED)
    is_first = bool(cited) and cited[0]
    shown = finished.answer.removeprefix(NOT_TOLD).removeprefix(NOT_SURE).partition("[")[0]
    return {
        "right": is_first and folded(asked.span) in folded(shown),
        "first": is_first,
        "three": any(cited),
        "wrong": is_flat and not is_first,
        "nothing": not finished.cited,
        "not flatly": not is_flat,
    }


@dataclass
class Played:
    """Some conversations that one user told, with what was answered."""

    user: int
    turns: dict[tuple[str, str], int] = field(default_factory=dict)  # by conversation and statement
    answers: list[tuple[Conversation, Asked, dict[str, bool]]] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)  # beside each: the text that was quoted first


def play(chat: Chat, group: list[Conversation]) -> Played:
    """Tells some conversations as one user, and asks their questions."""
    user = chat.assistant.stores.journal.user_id(" ".join(c.id for c in group))
    found = Played(user)
    sessions = {c.id: chat.assistant.stores.journal.open_session(user) for c in group}
    told = sorted(((t, c) for c in group for (t,) in c.messages), key=lambda one: one[0].day)
    for one, c in told:
        chat.at = max(chat.at + timedelta(minutes=1), datetime.combine(one.day, time(9), UTC))
        found.turns[c.id, one.id] = chat.turn(user, sessions[c.id], one.text).turn_id
    memory = [t for t, _ in told if t.id]
    for c in group:
        session = chat.assistant.stores.journal.open_session(user)
        for asked in c.questions:
            chat.at += timedelta(minutes=1)
            finished = chat.turn(user, session, asked.text)
            answer = next((t.text for t in c.statements if asked.answer == t.id), "")
            row = measured(asked, answer, finished)
            row["nearest"] = nearest(asked, memory) == answer
            found.answers.append((c, asked, row))
            found.cited.append(finished.cited[0].passage.text if finished.cited else "")
            if chat.show:
                print(f"    {asked.kind} ({asked.span}): {', '.join(k for k in row if row[k])}")
    return found


def groups(conversations: Iterable[Conversation], size: int) -> list[list[Conversation]]:
    """The conversations of each memory."""
    chosen = list(conversations)
    return [chosen[i : i + size] for i in range(0, len(chosen), size)]


def print_shares(rows: Mapping[str, Sequence[Mapping[str, bool]]], first: str) -> None:
    """A table of MEASURES, a line for each key of `rows`; first: the heading of the keys."""
    print(f"| {first} | questions | {' | '.join(MEASURES)} |")
    print(f"| --- | ---: |{' ---: |' * len(MEASURES)}")
    for name, found in rows.items():
        wanted = MEASURES[5:6] if name == "never" else tuple(m for m in MEASURES if m != "not flatly")
        shares = (f"{np.mean([r[m] for r in found]):.1%}" if m in wanted else "" for m in MEASURES)
        print(f"| {name} | {len(found)} | {' | '.join(shares)} |")


def nearest(asked: Asked, memory: list[Told]) -> str:
    return everyday.nearest(asked.standalone or asked.text, memory, near=1, newest=0)[0].text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, default="dev")
    parser.add_argument("--together", type=int, default=_TOGETHER, help="conversations in one memory")
    parser.add_argument("--groups", type=int, help="take only the first so many")
    parser.add_argument("--show", action="store_true", help="print each answer")
    arguments = parser.parse_args()
    chosen = groups(everyday.undated(PARTS[arguments.part]), arguments.together)[: arguments.groups]
    rows: dict[str, list[dict[str, bool]]] = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        chat = Chat(Path(folder), ROOT / "docs/manual", show=arguments.show)
        with time_by(lambda: chat.at):
            for group in chosen:
                chat.at = datetime(2026, 1, 1, tzinfo=UTC)
                for _, asked, row in play(chat, group).answers:
                    for kind in {asked.kind, "never" if asked.kind == "never" else "told"}:
                        rows[kind].append(row)
        chat.assistant.close()
    print_shares({kind: found for kind, found in rows.items() if found}, "kind")
    print(chat.report())


if __name__ == "__main__":
    main()
