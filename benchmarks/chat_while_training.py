"""How quick a chat stays while it trains: turns and keys on two cores, training against idle.

    python -m benchmarks.chat_while_training DATA [--cores 0,1] [--turns 40] [--passages 400] [--seed 1]
    python -m benchmarks.chat_while_training DATA --side both [--phase encoding --passages 10000]

One process is the chat: it plays turns that need no chat model, and its learner trains in the background, as
in `vouch chat`, both on these cores alone. Blocks of turns alternate: in one the training runs and gives way
to each answer by itself, in the other it was paused by command. Between two turns the person reads for a
second, and the training goes on. A key is a byte that a process of its own writes with the moment it did so;
it is measured until the chat's main thread has read it, all the while, also while nothing is being answered.

A round of both sides also encodes every passage anew, once an epoch has won; the blocks can be of that phase
instead. The packaged encoder knows SQuAD too well for that, so the passages and questions are TimeQA's then.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Thread

import numpy as np

from assistant.replay.streams.datasets import ReplayPassage, ReplayQuestion
from assistant.settings.config import LearningSettings, Settings, TrainingSettings
from assistant.settings.locations import Locations, find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.judged_corpus import add_passages, beside_others, chosen, judge_questions
from benchmarks.update_sides import short_passages

BLOCK = 5  # turns
LONGEST = 60  # words of a passage that is encoded anew
READS_SECONDS = 1.0  # between two turns
EPOCHS = 200  # and none is the last for want of a gain: the training outlasts the turns
KEYS_EVERY = 0.02  # seconds
TYPIST = """
import os, struct, time
while True:
    time.sleep({every})
    os.write(1, struct.pack("d", time.monotonic()))
"""


@dataclass
class Measured:
    """Milliseconds, by what the training did."""

    turns: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    keys: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    phases: dict[str, int] = field(default_factory=lambda: defaultdict(int))


class Keys:
    """Reads keys on a thread of the chat, and notes how late each was read."""

    def __init__(self, measured: Measured) -> None:
        self.state = "warm-up"
        self._measured = measured
        self._typist = subprocess.Popen(
            [sys.executable, "-c", TYPIST.format(every=KEYS_EVERY)], stdout=subprocess.PIPE, bufsize=0
        )
        self._is_over = Event()
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """No more keys."""
        self._is_over.set()
        self._typist.kill()
        self._thread.join()
        self._typist.communicate()

    def _read(self) -> None:
        assert self._typist.stdout is not None
        pipe = self._typist.stdout.fileno()
        while not self._is_over.is_set() and (part := os.read(pipe, 8)):
            sent = float(np.frombuffer(part, dtype=np.float64)[0])
            self._measured.keys[self.state].append(1000 * (time.monotonic() - sent))


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints p50 and p95 of both, and their ratio with a 95 % interval."""
    parser = argparse.ArgumentParser(prog="chat_while_training")
    parser.add_argument("data", type=Path)
    parser.add_argument("--cores", default="0,1")
    parser.add_argument("--turns", type=int, default=40, help="of each kind")
    parser.add_argument("--passages", type=int, default=400)
    parser.add_argument("--questions", type=int, default=600)
    parser.add_argument("--side", choices=("query", "both"), default="query", help="what is trained")
    parser.add_argument("--phase", choices=("training", "encoding"), default="training", help="of the round")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if options.phase == "encoding" and options.side != "both":
        parser.error("only a round of both sides encodes: --side both")
    os.sched_setaffinity(0, {int(core) for core in options.cores.split(",")})
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(options, Path(folder))
    told = summary(measured)
    print(json.dumps(told, indent=2))
    if options.json:
        options.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def measure(options: argparse.Namespace, folder: Path) -> Measured:
    """All turns of a chat over a corpus of its own."""
    settings = folder / "settings.toml"
    epochs = EPOCHS if options.phase == "training" else 1
    learning = LearningSettings(epochs=epochs, update_side=options.side)
    lasts = (
        f'[learning]\nepochs = {epochs}\nfewest_lessons = 100\nupdate_side = "{options.side}"\n'
        f"[training]\npatience = {EPOCHS}\n"
    )
    settings.write_text(lasts, encoding="utf-8")
    places = Locations(
        data=folder / "data",
        settings=settings,
        cache=find_locations(os.environ).cache,
        state=folder / "state",
    )
    training = TrainingSettings(patience=EPOCHS)
    assistant = Assistant(Settings(learning=learning, training=training), places, offline=True)
    notices: list[str] = []
    measured = Measured()
    try:
        assistant.catch_up()
        passages, questions = _corpus(options)
        add_passages(assistant, passages)
        judge_questions(assistant, beside_others(passages, questions[: options.questions], options.seed))
        asked = [question.text for question in questions[options.questions :]]
        print(f"{len(passages)} passages, {min(len(questions), options.questions)} lessons", file=sys.stderr)
        learner = assistant.learning.background_learner
        learner.start(notices.append, by_itself=False)
        keys = Keys(measured)
        try:
            user = assistant.stores.journal.user_id("ann")
            session = assistant.stores.journal.open_session(user)
            for question in asked[:5]:
                _turn(assistant, user, session, question)
            learner.begin()
            _until(options.phase, assistant, notices)
            blocks = ["training", "idle"] * -(-options.turns // BLOCK)
            random.Random(options.seed).shuffle(blocks)
            for number, state in enumerate(blocks):
                learner.pause() if state == "idle" else learner.go_on()
                time.sleep(0.5)
                keys.state = state
                for question in asked[5 + number * BLOCK : 5 + (number + 1) * BLOCK]:
                    measured.turns[state].append(_turn(assistant, user, session, question))
                    time.sleep(READS_SECONDS)
                row = assistant.stores.rounds.latest(1)[0]
                if row.state != "running":
                    raise SystemExit(f"the round ended before the turns did: {row.state}, {row.reason}")
                measured.phases[
                    f"{state}: {row.figures.get('phase')}, paused {row.figures.get('is_paused')}"
                ] += 1
                print(state, row.state, row.figures.get("progress"), file=sys.stderr)
        finally:
            keys.state = "over"
            keys.close()
    finally:
        begun = time.monotonic()
        assistant.learning.background_learner.close()
        print(f"the learner let go within {time.monotonic() - begun:.2f} s; {notices}", file=sys.stderr)
        print(f"its round: {assistant.stores.rounds.latest(1)[0].state}", file=sys.stderr)
        assistant.close()
    return measured


def _corpus(options: argparse.Namespace) -> tuple[list[ReplayPassage], list[ReplayQuestion]]:
    if options.phase == "training":
        return chosen(options.data, options.passages, options.seed)
    passages, questions, answers = short_passages(options.data, "timeqa", LONGEST)
    kept = {passage.text: passage.id for passage in passages[: options.passages]}
    questions = [
        replace(question, gold=frozenset(kept[text] for text in answers[question.text]))
        for question in questions
        if answers[question.text] <= kept.keys()
    ]
    random.Random(options.seed).shuffle(questions)
    return passages[: options.passages], questions


def _turn(assistant: Assistant, user: int, session: int, question: str) -> float:
    begun = time.perf_counter()
    finished = assistant.turns.host.play(user, session, question, watch=lambda event: None)
    assert finished.error is None, finished.error
    return 1000 * (time.perf_counter() - begun)


def _until(phase: str, assistant: Assistant, notices: Sequence[str]) -> None:
    done = "step" if phase == "training" else "passages"
    while True:
        time.sleep(0.5)
        rounds = assistant.stores.rounds.latest(1)
        if notices:
            raise SystemExit(f"the training ended at once: {notices[0]}")
        figures = rounds[0].figures if rounds else {}
        if figures.get("phase") == phase and figures.get("progress", {}).get(done, 0) >= 2:
            return


def summary(measured: Measured) -> dict[str, object]:
    """p50, p95 and the ratio of p95, training to idle."""
    told: dict[str, object] = {"phases": dict(measured.phases)}
    for name, times in (("turn", measured.turns), ("key", measured.keys)):
        idle, training = np.array(times["idle"]), np.array(times["training"])
        drawn = np.random.default_rng(1)
        ratios = [
            np.percentile(drawn.choice(training, len(training)), 95)
            / np.percentile(drawn.choice(idle, len(idle)), 95)
            for _ in range(2_000)
        ]
        told[name] = {
            "count": [len(idle), len(training)],
            "idle_ms": [round(float(np.percentile(idle, p)), 2) for p in (50, 95, 99)],
            "training_ms": [round(float(np.percentile(training, p)), 2) for p in (50, 95, 99)],
            "p95_ratio": round(float(np.percentile(training, 95) / np.percentile(idle, 95)), 3),
            "p95_ratio_95": [round(float(np.percentile(ratios, p)), 3) for p in (2.5, 97.5)],
        }
    return told


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
