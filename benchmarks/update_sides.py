"""Training the query side against both sides as the corpus grows: gain, time and bytes.

    python -m benchmarks.update_sides DATA --work DIR --sizes 5000 20000 80000 --seeds 1 2 3

The corpus is a set's passages of at most `--longest` words, those that answer a question first, and beyond
them varied copies: each copy lacks some words of its original and has others of another passage. Questions
are searched in the smallest corpus, and what is found is judged by their gold passages; a round learns from
the same judged questions at every size, by the code of `vouch train`. It is compared on its held-out
questions by their gold passages in the corpus of its size, and what it comes to is noted, live or refused.
Each size begins with the same model: what went live is not kept. A seed draws the questions, and is that of
the training.

query: training, export, comparison. both: the same, and every passage encoded anew before the comparison; its
candidate is trained on the smallest corpus alone (trained_once.py), and a larger one goes on from the vectors
of the one before. Seconds of each phase are those between its first word and the next phase's, with those of
what was taken over. The corpora are kept in DIR, so that a size is encoded once for all sides and seeds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.base.interfaces import Candidate, Judged, Verdict
from assistant.learning.progress import Progress
from assistant.learning.recipes.retriever.recipe import over
from assistant.replay.streams.datasets import SETS, ReplayPassage, ReplayQuestion, read_set, splits_of
from assistant.settings.config import EncoderSettings, LearningSettings, Settings
from assistant.settings.locations import Locations, find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.judged_corpus import JudgedQuestion, add_passages, judge_questions
from benchmarks.trained_once import TrainedOnce, newest_passage

DROPPED, BORROWED = 0.3, 0.3  # shares of a copy's words
CORPUS_SEED = 1  # of its order and its copies: the same for every seed of a round
TAKEN_OVER = ("training", "exporting", "encoding")  # phases of a round whose work the next size takes over
SHOWN = 10  # of a question's passages, judged


class Gold:
    """Knows which passage answers which question; a copy answers nothing."""

    name = "gold"

    def __init__(self, answers: Mapping[str, Collection[str]]) -> None:
        """answers: passages' texts by question."""
        self._answers = answers

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """An answer, or irrelevant."""
        right = self._answers.get(question, ())
        verdicts = tuple(
            Verdict("answer" if c.passage.text in right else "irrelevant", 0.9) for c in candidates
        )
        return Judged(verdicts, 0, 0)


class Phases:
    """How long each phase of a round takes."""

    def __init__(self, seconds: Mapping[str, float], ends: Callable[[str], None]) -> None:
        """seconds: of phases that were taken over. ends: is told each phase that is over; not counted."""
        self.seconds = dict(seconds)
        self._ends = ends
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
            self._ends(self._phase)
        self._began = time.monotonic()


def short_passages(
    data: Path, name: str, longest: int
) -> tuple[list[ReplayPassage], list[ReplayQuestion], dict[str, set[str]]]:
    """Short passages of a set, answers first; questions that these answer; texts that answer, by question.

    No text is there twice. longest: words of a passage.
    """
    parts = [read_set(data, name, part) for part in splits_of(name)]
    by_text = {p.text: p for part in parts for p in part.passages if len(p.text.split()) <= longest}
    texts = {p.id: p.text for part in parts for p in part.passages if p.text in by_text}
    questions = {
        q.text: q for part in parts for q in part.questions if q.answers and q.gold and q.gold <= texts.keys()
    }
    answers = {text: {texts[id] for id in q.gold or ()} for text, q in questions.items()}
    right = set().union(*answers.values())
    passages = list(by_text.values())
    random.Random(CORPUS_SEED).shuffle(passages)
    return sorted(passages, key=lambda p: p.text not in right), list(questions.values()), answers


def copies(originals: Sequence[ReplayPassage], size: int) -> list[ReplayPassage]:
    """The originals, and so many varied copies of them that there are `size` in all; no text twice."""
    made = {passage.text: passage for passage in originals[:size]}
    drawn = random.Random(CORPUS_SEED)
    while len(made) < size:
        one, other = drawn.choice(originals), drawn.choice(originals)
        words = [word for word in one.text.split() if drawn.random() >= DROPPED]
        borrowed = drawn.sample(other.text.split(), min(len(other.text.split()), int(BORROWED * len(words))))
        for word in borrowed:
            words.insert(drawn.randrange(len(words) + 1), word)
        text = " ".join(words)
        made.setdefault(text, ReplayPassage(f"copy-{len(made)}", one.title, text))
    return list(made.values())


def assistant_in(folder: Path, options: argparse.Namespace, side: str = "query", seed: int = 0) -> Assistant:
    """Over this data directory."""
    settings = Settings(
        encoder=EncoderSettings(threads=options.threads),
        learning=LearningSettings(
            update_side=side,  # type: ignore[arg-type] # one of the parser's choices
            epochs=options.epochs,
            learning_rate=options.learning_rate,
            seed=seed,
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
    parser.add_argument("--set", choices=SETS, default="timeqa")
    parser.add_argument("--longest", type=int, default=60, help="words of a passage")
    parser.add_argument("--lessons", type=int, default=450)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--learning-rate", type=float, default=1e-5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    options = parser.parse_args(arguments)
    originals, questions, answers = short_passages(options.data, options.set, options.longest)
    sizes = sorted(options.sizes)
    _grown(options, originals, sizes[-1])
    for seed in options.seeds:
        drawn = random.Random(seed).sample(questions, min(options.lessons, len(questions)))
        judged = _judged(options, _place(options, sizes[0]), drawn, answers)
        for side in options.sides:
            once = TrainedOnce(options.work / f"trained-{seed}")
            for size in sizes:
                if side == "query":
                    once = TrainedOnce(options.work / f"trained-{seed}")
                found = _round(options, _place(options, size), side, seed, judged, Gold(answers), once)
                print(json.dumps({"passages": size, "seed": seed, **found}), flush=True)
            once.discard()


def _place(options: argparse.Namespace, size: int) -> Path:
    place: Path = options.work / f"{options.set}-{options.longest}-{size}"
    return place


def _grown(options: argparse.Namespace, originals: Sequence[ReplayPassage], size: int) -> Path:
    """The data directory of a size, made of the one before it."""
    folder = _place(options, size)
    if (folder / "done").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    smaller = [s for s in sorted(options.sizes) if s < size]
    if smaller:
        shutil.copytree(_grown(options, originals, smaller[-1]), folder)
        (folder / "done").unlink()
    folder.mkdir(parents=True, exist_ok=True)
    assistant = assistant_in(folder, options)
    try:
        assistant.catch_up()
        began = time.monotonic()
        add_passages(assistant, copies(originals, size)[smaller[-1] if smaller else 0 :])
        assistant.search.indexer.catch_up()
        print(f"{size} passages within {time.monotonic() - began:.0f} s", file=sys.stderr)
    finally:
        assistant.close()
    (folder / "done").touch()
    return folder


def _judged(
    options: argparse.Namespace,
    grown: Path,
    questions: Sequence[ReplayQuestion],
    answers: Mapping[str, Collection[str]],
) -> list[JudgedQuestion]:
    """What is found for each question in this corpus, and what of it answers."""
    assistant = assistant_in(grown, options)
    try:
        searching = assistant.search.searching
        space = searching.spaces.of(assistant.stores.journal.user_id("asker"))
        return [
            JudgedQuestion(
                question,
                [
                    c.passage.text
                    for c in searching.retriever.retrieve(question.text, space).candidates[:SHOWN]
                ],
                answers[question.text],
            )
            for question in questions
        ]
    finally:
        assistant.close()


def _round(
    options: argparse.Namespace,
    grown: Path,
    side: str,
    seed: int,
    judged: Sequence[JudgedQuestion],
    judge: Gold,
    once: TrainedOnce,
) -> dict[str, Any]:
    folder = grown.with_name(grown.name + "-round")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(grown, folder)
    database, newest = folder / "vouch.db", newest_passage(folder / "vouch.db")
    assistant = assistant_in(folder, options, side, seed)
    judge_questions(assistant, judged)
    assistant.models.__dict__["judge"] = judge
    before = _bytes(folder)
    once.give_vectors(database)

    def ends(phase: str) -> None:
        if phase == "encoding":
            once.keep_vectors(database, newest)

    phases = Phases(once.seconds, ends)
    try:
        learner = assistant.learning.learner_of("retriever")
        learner.trainable = over(assistant, train=once.train)
        ended = learner.run(tell=phases.tell)
        phases.end()
    finally:
        assistant.close()
    once.seconds = {name: each for name, each in phases.seconds.items() if name in TAKEN_OVER}
    compared = ended.figures.get("comparison", {})
    found = {
        "side": side,
        "state": ended.state,
        "reason": ended.reason,
        "seconds": round(sum(phases.seconds.values()), 1),
        "phases": {name: round(each, 1) for name, each in phases.seconds.items()},
        "bytes": _bytes(folder) - before,
        "comparison": {name: compared[name] for name in ("R@5", "nDCG@10") if name in compared},
    }
    shutil.rmtree(folder)
    return found


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
