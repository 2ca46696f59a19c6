"""Training the query side against both sides as the corpus grows: gain, time and bytes.

    python -m benchmarks.update_sides DATA --work DIR --sizes 5000 20000 80000 --sides query both --seed 1

The corpus is SQuAD's dev passages that answer a question, and varied copies of them: each copy lacks some
words of its original and has others of another passage. A round learns from the same judged questions at
every size, by the code of `vouch train`; it is compared on its held-out questions by their gold passages, and
what it comes to is noted, live or refused. Each size begins with the same model: what went live is not kept.

query: training, export, comparison. both: the same, and every passage encoded anew before the comparison.
Seconds of each phase are those between its first word and the next phase's. The corpora are kept in DIR, so
that a size is encoded once for all sides.

With --mixed-vectors copies are not encoded for the corpus: the vector of one is mixed from those of the two
passages that it was made of, by the shares of their words. What a round does is the same, so this suits the
query side, whose round encodes no passage.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.interfaces import Candidate, Encoder, Judged, Vectors, Verdict
from assistant.config import EncoderSettings, LearningSettings, Settings
from assistant.learning.noting import Progress
from assistant.locations import Locations, find_locations
from assistant.replay.datasets import ReplayPassage
from assistant.wiring import Assistant
from benchmarks.judged_corpus import add_passages, chosen, judge_questions
from stores.passages import searchable_text

ORIGINALS = 2_000
DROPPED, BORROWED = 0.15, 0.15  # shares of a copy's words


class Gold:
    """Knows which passage answers which question; a copy answers nothing."""

    name = "gold"

    def __init__(self, answers: dict[str, str]) -> None:
        """answers: passages' texts by question."""
        self._answers = answers

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """An answer, or irrelevant."""
        right = self._answers.get(question)
        verdicts = tuple(
            Verdict("answer" if c.passage.text == right else "irrelevant", 0.9) for c in candidates
        )
        return Judged(verdicts, 0, 0)


@dataclass(frozen=True)
class Copy:
    """A passage made of two; an original is made of itself."""

    passage: ReplayPassage
    one: ReplayPassage
    other: ReplayPassage
    borrowed: float  # share of words that are of the other one


class MixedVectors:
    """Vectors of copies, from those of the passages that they were made of; only these are encoded."""

    def __init__(self, encoder: Encoder, copied: Sequence[Copy]) -> None:
        self._made = {searchable_text(each.passage.title, each.passage.text): each for each in copied}
        texts = sorted(
            {searchable_text(part.title, part.text) for each in copied for part in (each.one, each.other)}
        )
        self._vectors = dict(zip(texts, encoder.encode_passages(texts), strict=True)) if texts else {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), D), rows of unit length."""
        mixed = np.stack([self._mixed(self._made[text]) for text in texts])
        return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True), dtype=np.float32)

    def _mixed(self, copy: Copy) -> Any:
        one, other = (
            self._vectors[searchable_text(part.title, part.text)] for part in (copy.one, copy.other)
        )
        return (1 - copy.borrowed) * one + copy.borrowed * other


class Phases:
    """How long each phase of a round takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._phase, self._began = "", time.monotonic()

    def tell(self, progress: Progress) -> None:
        """A phase begins, or goes on."""
        if progress.phase != self._phase:
            self.end()
            self._phase = progress.phase

    def end(self) -> None:
        """The last one is over."""
        now = time.monotonic()
        if self._phase:
            self.seconds[self._phase] = self.seconds.get(self._phase, 0.0) + now - self._began
        self._began = now


def copies(originals: Sequence[ReplayPassage], size: int, seed: int) -> list[Copy]:
    """The originals, and so many varied copies of them that there are `size` in all."""
    made = [Copy(passage, passage, passage, 0.0) for passage in originals[:size]]
    drawn = random.Random(seed)
    while len(made) < size:
        one, other = drawn.choice(originals), drawn.choice(originals)
        words = [word for word in one.text.split() if drawn.random() >= DROPPED]
        borrowed = drawn.sample(other.text.split(), min(len(other.text.split()), int(BORROWED * len(words))))
        for word in borrowed:
            words.insert(drawn.randrange(len(words) + 1), word)
        passage = ReplayPassage(f"copy-{len(made)}", one.title, " ".join(words))
        made.append(Copy(passage, one, other, len(borrowed) / max(1, len(words))))
    return made


def assistant_in(folder: Path, options: argparse.Namespace, side: str) -> Assistant:
    """Over this data directory."""
    settings = Settings(
        encoder=EncoderSettings(threads=options.threads),
        learning=LearningSettings(
            update_side=side,  # type: ignore[arg-type] # one of the parser's choices
            epochs=options.epochs,
            learning_rate=options.learning_rate,
            seed=options.seed,
            threads=options.threads,
        ),
    )
    places = Locations(
        data=folder,
        settings=folder / "settings.toml",
        cache=find_locations(os.environ).cache,
        state=folder / "state",
    )
    return Assistant(settings, places, offline=True, tell=lambda sentence: None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a line of JSON for each size and side."""
    parser = argparse.ArgumentParser(prog="update_sides")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 20_000, 80_000])
    parser.add_argument("--sides", nargs="+", choices=("query", "both"), default=["query", "both"])
    parser.add_argument("--originals", type=int, default=ORIGINALS, help="passages that are no copies")
    parser.add_argument("--lessons", type=int, default=1_000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--learning-rate", type=float, default=1e-5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mixed-vectors", action="store_true", help="copies are not encoded one by one")
    options = parser.parse_args(arguments)
    originals, questions = chosen(options.data, options.originals, options.seed)
    texts = {passage.id: passage.text for passage in originals}
    asked = questions[: options.lessons]
    judge = Gold({q.text: texts[next(iter(q.gold or ()))] for q in asked})
    for size in sorted(options.sizes):
        grown = _grown(options, originals, asked, size)
        for side in options.sides:
            print(json.dumps(_round(options, grown, side, judge) | {"passages": size}), flush=True)


def _grown(
    options: argparse.Namespace, originals: Sequence[ReplayPassage], asked: Sequence[Any], size: int
) -> Path:
    """The data directory of a size, made of the one before it."""
    folder: Path = options.work / f"seed-{options.seed}-{options.lessons}-{options.originals}-{size}"
    if (folder / "done").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    smaller = [s for s in sorted(options.sizes) if s < size]
    if smaller:
        shutil.copytree(_grown(options, originals, asked, smaller[-1]), folder)
        (folder / "done").unlink()
    folder.mkdir(parents=True, exist_ok=True)
    assistant = assistant_in(folder, options, "query")
    try:
        assistant.catch_up()
        new = copies(originals, size, options.seed)[smaller[-1] if smaller else 0 :]
        began = time.monotonic()
        encode = MixedVectors(assistant.encoder, new) if options.mixed_vectors else None
        add_passages(assistant, [each.passage for each in new], encode)
        if not smaller:
            judge_questions(assistant, originals[:size], asked, options.seed)
        assistant.indexer.catch_up()
        print(f"{size} passages within {time.monotonic() - began:.0f} s", file=sys.stderr)
    finally:
        assistant.close()
    (folder / "done").touch()
    return folder


def _round(options: argparse.Namespace, grown: Path, side: str, judge: Gold) -> dict[str, Any]:
    folder = grown.with_name(grown.name + "-round")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(grown, folder)
    before = _bytes(folder)
    assistant = assistant_in(folder, options, side)
    assistant.__dict__["judge"] = judge
    phases = Phases()
    began = time.monotonic()
    try:
        learner = assistant.learner
        ended = learner.run(tell=phases.tell)
        phases.end()
    finally:
        assistant.close()
    seconds = time.monotonic() - began
    found = {
        "side": side,
        "state": ended.state,
        "reason": ended.reason,
        "seconds": round(seconds, 1),
        "phases": {name: round(each, 1) for name, each in phases.seconds.items()},
        "bytes": _bytes(folder) - before,
        "encoding": ended.figures.get("encoding"),
        "comparison": {
            name: each
            for name, each in ended.figures.get("comparison", {}).items()
            if name in ("R@5", "nDCG@10")
        },
    }
    shutil.rmtree(folder)
    return found


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
