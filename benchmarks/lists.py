"""What Vouch answers where several statements are asked for: python -m benchmarks.lists [--part dev]

Each memory of data/lists is told to a user of its own, at its days; then each of its questions is asked on a
later day, in a session of its own. The chat is the real one, over the built-in models and the manual.

    F1        of the statements that an answer cites, beside those that answer; where none does, 1 if nothing
              is answered flatly, else 0. What follows "I know nothing about that" is no answer; what is said
              to repeat may be listed or not
    exact     just those are cited
    number    of a "how many": the answer begins with how many answer

    python -m benchmarks.lists --fit

fits the weights of agents/answering/listing.py to the questions of the dev part for all that answers, and
tells the mean F1 of their lists for thresholds, each memory by weights of the others.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.answering.memory_answers import MemoryAnswer
from agents.backends.extractive import is_sure, is_told
from agents.base.chat_interfaces import Source
from assistant.turns.events import Finished
from benchmarks.everyday_chat import ACKNOWLEDGED, ROOT, Chat, folded
from benchmarks.fit_answering import chance, fitted
from stores.base.clock import time_by

Floats = npt.NDArray[np.float64]

DATA = ROOT / "data/lists"
FITTED = ("list", "count", "one", "empty")
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
    cited = set(_cited(says, finished)) - set(asked.get("may", ())) if is_answer else set()
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


@dataclass(frozen=True)
class Read:
    """One question as the lister met it."""

    memory: str
    rows: Floats  # (N, F), of the statements read
    labels: Floats  # (N,), 1 for one that answers
    missing: int  # that answer and were not read


def read(chat: Chat, memory: dict[str, Any]) -> Iterator[Read]:
    """The questions of a memory that are fitted, while they are asked."""
    models = chat.assistant.models
    assert models.lister is not None
    answers, told = models.memory_answers.answers, list[MemoryAnswer]()

    def kept(question: str, before: str, sources: Sequence[Source]) -> list[MemoryAnswer]:
        told[:] = answers(question, before, sources)
        return list(told)

    models.memory_answers.answers = kept  # type: ignore[method-assign]
    for asked, _ in zip(memory["asks"], play(chat, memory), strict=True):
        if asked["kind"] in FITTED and told:
            texts = [folded(one.statement.text) for one in told]
            right = [folded(memory["says"][n]["t"]) for n in asked["from"]]
            labels = np.array([any(text in one for one in right) for text in texts], dtype=np.float64)
            missing = sum(not any(text in one for text in texts) for one in right)
            yield Read(memory["id"], models.lister.features(asked["q"], told), labels, missing)
        told.clear()
    models.memory_answers.answers = answers  # type: ignore[method-assign]


def fit(found: list[Read]) -> None:
    """Prints the weights, and the mean F1 by threshold."""
    print("weights", fitted_to(found).round(2).tolist())
    of_others = {m: fitted_to([r for r in found if r.memory != m]) for m in {r.memory for r in found}}
    for least in np.arange(0.2, 0.65, 0.05):
        f1 = [f1_of(r, chance(r.rows, of_others[r.memory]) >= least) for r in found]
        print(f"from {least:.2f}: F1 {np.mean(f1):.3f} of {len(f1)} questions")


def fitted_to(found: list[Read]) -> Floats:
    return fitted(
        np.concatenate([r.rows for r in found]), np.concatenate([r.labels for r in found]), ridge=0.1
    )


def f1_of(one: Read, listed: Any) -> float:
    """Of the statements listed, (N,) booleans."""
    right = one.labels.sum() + one.missing
    return float(2 * one.labels[listed].sum() / (listed.sum() + right)) if right else float(not listed.any())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--show", action="store_true", help="print each answer")
    parser.add_argument("--fit", action="store_true", help="fit the weights instead")
    arguments = parser.parse_args()
    memories = [
        json.loads(line) for line in (DATA / f"{arguments.part}.jsonl").read_text("utf-8").splitlines()
    ]
    rows: dict[str, list[Scored]] = defaultdict(list)
    to_fit: list[Read] = []
    with tempfile.TemporaryDirectory() as folder:
        chat = Chat(Path(folder), ROOT / "docs/manual", show=arguments.show)
        with time_by(lambda: chat.at):
            for memory in memories:
                chat.at = datetime(2026, 1, 1, tzinfo=UTC)
                if arguments.fit:
                    to_fit += read(chat, memory)
                    continue
                for found in play(chat, memory):
                    rows[found.kind].append(found)
                    rows["all"].append(found)
        chat.assistant.close()
    if arguments.fit:
        fit(to_fit)
        return
    print("| kind | questions | F1 | exact | number |\n| --- | ---: | ---: | ---: | ---: |")
    for kind in (*KINDS, "all"):
        number = f"{np.mean([s.number for s in rows[kind]]):.1%}" if kind == "count" else ""
        f1, exact = np.mean([s.f1 for s in rows[kind]]), np.mean([s.exact for s in rows[kind]])
        print(f"| {kind} | {len(rows[kind])} | {f1:.3f} | {exact:.1%} | {number} |")
    print(chat.report())


if __name__ == "__main__":
    main()
