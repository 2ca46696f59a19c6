"""Fits which of what was found is sent to a chat model: python -m training.helping --work DIR

    data/everyday and data/documents -> the product's search and judge -> candidates, which of them answer
      train: weights (logistic regression) ; dev: threshold ; test: what is reported

Each user of data/everyday has told what they tell there, every second one 200 other statements besides, and
the manual is shared; each is also asked what has nothing to do with them, and says what states and asks
nothing, for which nothing needs to be sent. The documents of a part lie in one store with the manual.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.base.interfaces import Candidate, Verdict
from agents.retrieval.helping import MOST_DOCUMENTS, MOST_TOLD, chosen, features
from assistant.library.documents import read_documents
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.documents import written
from stores.base.errors import UnreadableDocument
from stores.base.passages import SHARED
from stores.conversation.journal import Accepted

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("train", "dev", "test")
TALKS = 30  # of data/everyday, in each part
QUESTIONS = 80  # of data/documents, in each part
MORE = 100  # other statements of every second user
SEEN = 20  # candidates of a question, the first
PENALTY = 1.0
KEPT = 0.85  # of what answers and would be sent without a threshold, that it keeps on dev


@dataclass(frozen=True)
class Asked:
    """What was found for one message: features of each candidate, and which answers."""

    kind: str  # own: of what was told; document; nothing: what none of it answers
    rows: list[tuple[float, ...]]
    answers: list[bool]
    shared: list[bool]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--work", type=Path, required=True, help="a folder for what was found; it is gone on with"
    )
    told = parser.parse_args()
    told.work.mkdir(parents=True, exist_ok=True)
    found = {part: _collected(part, told.work) for part in PARTS}
    weights = fitted(found["train"])
    threshold = _threshold(found["dev"], weights)
    print("WEIGHTS =", tuple(round(float(w), 3) for w in weights))
    print("LIKELY =", threshold)
    for part in ("dev", "test"):
        print(part, *_told(found[part], weights, threshold), sep="\n  ")


def fitted(asked: Sequence[Asked]) -> np.ndarray:
    """(D,) weights by Newton's method, squared penalty on all but the first."""
    x = np.array([row for each in asked for row in each.rows])
    y = np.array([answers for each in asked for answers in each.answers], dtype=float)
    weights, penalty = np.zeros(x.shape[1]), PENALTY * np.eye(x.shape[1])
    penalty[0, 0] = 0.0
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ weights))
        curvature = (x * (p * (1 - p))[:, None]).T @ x + penalty
        weights -= np.linalg.solve(curvature, x.T @ (p - y) + penalty @ weights)
    return weights


def _threshold(asked: Sequence[Asked], weights: np.ndarray) -> float:
    """The highest of some levels that keeps `KEPT` of what answers and would be sent without one."""
    levels = [0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15]
    least = KEPT * _recall(asked, weights, 0.0)
    return max((level for level in levels if _recall(asked, weights, level) >= least), default=levels[0])


def _sent(each: Asked, weights: np.ndarray, threshold: float) -> list[int]:
    if not each.rows:
        return []
    scores = 1 / (1 + np.exp(-np.array(each.rows) @ weights))
    return chosen(scores.tolist(), each.shared, threshold=threshold, most=(MOST_TOLD, MOST_DOCUMENTS))


def _recall(asked: Sequence[Asked], weights: np.ndarray, threshold: float, kind: str = "") -> float:
    answered = [each for each in asked if any(each.answers) and kind in ("", each.kind)]
    kept = [any(each.answers[i] for i in _sent(each, weights, threshold)) for each in answered]
    return sum(kept) / max(1, len(kept))


def _told(asked: Sequence[Asked], weights: np.ndarray, threshold: float) -> Iterator[str]:
    for kind in ("own", "document"):
        some = [each for each in asked if each.kind == kind]
        sent = [len(_sent(each, weights, threshold)) for each in some]
        recall = _recall(some, weights, threshold)
        yield f"{kind}: {len(some)} questions, what answers sent for {recall:.3f}, {np.mean(sent):.1f} each"
    for kind in ("nothing", "statement"):
        some = [each for each in asked if each.kind == kind]
        sent = [len(_sent(each, weights, threshold)) for each in some]
        shared = [any(each.shared[i] for i in _sent(each, weights, threshold)) for each in some]
        yield f"{kind}: {len(some)} messages, {np.mean(sent):.1f} each, {sum(shared)} with a document"


def _collected(part: str, work: Path) -> list[Asked]:
    file = work / f"{part}.jsonl"
    if not file.exists():
        with tempfile.TemporaryDirectory() as folder:
            lines = [json.dumps(vars(each)) for each in (*_everyday(part, folder), *_documents(part, folder))]
        file.write_text("\n".join(lines), encoding="utf-8")
    return [Asked(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


class _Searched:
    """One store, searched as a turn does."""

    def __init__(self, home: Path) -> None:
        home.mkdir()
        self.assistant = Assistant(Settings(), find_locations({"HOME": str(home)}))
        self.user = self.assistant.stores.journal.user_id("reader")
        self.read(sorted((ROOT / "docs" / "manual").glob("*.md")))

    def read(self, files: Sequence[Path]) -> None:
        read = (document for file in files for document in read_documents(file))
        documents = (document for document in read if not isinstance(document, UnreadableDocument))
        for _ in self.assistant.turns.ingest.run(self.user, SHARED, documents, summary="documents"):
            pass
        self.assistant.catch_up()

    def asked(self, user: int, kind: str, message: str, answer: str | None) -> Asked:
        """answer: text that stands in what answers; None: nothing does."""
        assistant = self.assistant
        session = assistant.stores.journal.open_session(user, is_private=True)
        turn = assistant.stores.journal.accept(user, session, message, parts=[]).turn_id
        talk = assistant.turns.memory_talk
        finding = talk.begin(assistant.search.searching, user, Accepted(turn, session, ()), message, None, "")
        finding.retrieve()
        reranked = finding.rerank()
        order = reranked.order[:SEEN]
        verdicts: dict[int, Verdict] = {id(j.candidate): j.verdict for j in reranked.judgements}
        asks = bool(talk.sorter.sorted(message).asking)
        return Asked(
            kind,
            features(asks, order, verdicts),
            [answer is not None and _folded(answer) in _folded(c.passage.text) for c in order],
            [_is_document(candidate) for candidate in order],
        )


def _folded(text: str) -> str:
    return " ".join(text.split())


def _is_document(candidate: Candidate) -> bool:
    return candidate.passage.is_shared


def _talks(part: str) -> list[dict[str, Any]]:
    files = sorted((ROOT / "data" / "everyday").glob(f"{part}*.jsonl"))
    talks = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    random.Random(1).shuffle(talks)
    return talks


def _everyday(part: str, folder: str) -> Iterator[Asked]:
    searched = _Searched(Path(folder) / "everyday")
    talks, rng = _talks(part)[:TALKS], random.Random(2)
    others = [said["t"] for talk in _talks("train")[TALKS:] for said in talk["says"] if said["k"] == "self"]
    asked_elsewhere = [ask["q"] for talk in talks for ask in talk["asks"]]
    try:
        for number, talk in enumerate(talks):
            user = searched.assistant.stores.journal.user_id(f"user {number}")
            says = [said["t"] for said in talk["says"]]
            more = rng.sample(others, MORE) if number % 2 else []
            for said in (*more, *says):
                searched.assistant.stores.knowledge.remember(user, said)
            searched.assistant.catch_up()
            for ask in talk["asks"]:
                if ask.get("from") is not None:
                    yield searched.asked(user, "own", ask.get("alone") or ask["q"], says[ask["from"]])
            for question in rng.sample(GENERAL, 2):
                yield searched.asked(user, "nothing", question, None)
            yield searched.asked(user, "nothing", rng.choice(asked_elsewhere), None)
            for said in rng.sample(others, 2):
                yield searched.asked(user, "statement", said, None)
    finally:
        searched.assistant.close()


def _documents(part: str, folder: str) -> Iterator[Asked]:
    searched = _Searched(Path(folder) / "documents")
    lines = (ROOT / "data" / "documents" / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [q for q in map(json.loads, lines) if q["split"] == part and q.get("sentence")]
    try:
        searched.read(written(part, Path(folder) / "files"))
        for q in random.Random(3).sample(questions, min(QUESTIONS, len(questions))):
            yield searched.asked(searched.user, "document", q["q"], q["sentence"])
        for question in GENERAL:
            yield searched.asked(searched.user, "nothing", question, None)
    finally:
        searched.assistant.close()


GENERAL = """\
What is the tallest mountain in Africa?
Hello
Good evening!
Who discovered penicillin?
Write a limerick about a cat.
How do I reverse a list in Python?
What is the square root of 144?
Explain photosynthesis briefly.
Thank you so much
What is the plural of ox?
Why do cats purr?
Which country has the most islands?
How does a microwave oven work?
Summarise the plot of Hamlet.
What is the difference between a crocodile and an alligator?
When was the printing press invented?
ok cool
What does ephemeral mean?
Give me a synonym for happy.
How many bones does an adult have?
Who was the first person in space?
Translate 'where is the station' into Spanish.
What is a good name for a robot?
How do I center a div in CSS?
Is a tomato a fruit?
What is the chemical symbol for gold?
How long is a marathon?
Tell me something interesting.
What causes tides?
Who composed the Four Seasons?
How are you?
What is inflation?
List five prime numbers.
What is the speed of sound?
How do you make pancakes?
What year did the Titanic sink?
Convert 10 miles to kilometres.
What is a black hole?
Who wrote Don Quixote?
What is the currency of Japan?
""".splitlines()  # what has nothing to do with anybody


if __name__ == "__main__":
    main()
