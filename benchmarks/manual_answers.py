"""How many plain questions about Vouch its own manual answers, asked as in a chat.

    python -m benchmarks.manual_answers --work DIR [--show mended] [--without] [--manual docs/manual]

The manual is read into a store of its own, as `make chat` does it, and each question is the first message of
a new user, with the settings that nobody changed. An answer is right when the pattern behind its question
stands in it. DIR keeps the vectors between runs.

The lists are counted apart. `manual_plain_questions.txt` was written by somebody who had not opened the
manual; the first half of it by the SHA-256 of the questions is *mended* on, the other half is *held out* and
only counted. `manual_everyday_questions.txt` is a later list of what people type, short and misspelt too,
halved in the same way; so is `manual_terse_questions.txt`, of a word or two each. `manual_questions.txt` is
the older list, *seen* while the manual was written. Its questions without a pattern are not answered by the
manual; to say so is right. So it is with all questions of `manual_own_questions.txt`: people ask them of
their own affairs, in words that the manual has too.

--show prints the answers of one list. --without asks the mended and the seen ones with and without every
passage in which the pattern stands, and prints what each floor under the best sentence keeps and lets by.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from agents.answering.quoting import Quoter
from agents.backends.extractive import NOT_SURE, is_sure
from agents.retrieval.reader_judge import ReaderJudge
from assistant.library.documents import read_documents
from assistant.turns.events import Finished
from benchmarks.offline_answers import Way
from benchmarks.recall import BenchmarkAssistant
from stores.base.errors import UnreadableDocument
from stores.base.passages import SHARED

HERE = Path(__file__).parent
MANUAL = HERE.parent / "docs" / "manual"
MENDED, HELD_OUT, SEEN = "mended", "held out", "seen"
EVERYDAY_MENDED, EVERYDAY_HELD_OUT = "everyday mended", "everyday held out"
TERSE_MENDED, TERSE_HELD_OUT = "terse mended", "terse held out"
OWN_AFFAIRS = "own affairs"
LISTS = (
    MENDED,
    HELD_OUT,
    EVERYDAY_MENDED,
    EVERYDAY_HELD_OUT,
    TERSE_MENDED,
    TERSE_HELD_OUT,
    SEEN,
    OWN_AFFAIRS,
)
VERDICTS = ("right", "right, unsure", "wrong", "wrong, unsure", "nothing found")
FLOORS = (0.05, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4)


@dataclass(frozen=True)
class ManualQuestion:
    """A question and the pattern of what a right answer holds; empty where the manual has none."""

    text: str
    holds: str

    def is_held_by(self, text: str) -> bool:
        """Whether a text holds what is asked for, however its lines are broken."""
        return bool(self.holds) and bool(re.search(self.holds, " ".join(text.split()), re.I | re.S))


def read_list(path: Path) -> list[ManualQuestion]:
    """One question a line, a tab, and the pattern."""
    lines = filter(None, path.read_text(encoding="utf-8").splitlines())
    return [ManualQuestion(text, holds) for text, _, holds in (line.partition("\t") for line in lines)]


def halves(questions: Sequence[ManualQuestion]) -> tuple[list[ManualQuestion], list[ManualQuestion]]:
    """The mended and the held-out half: the order of their hashes is nobody's choice."""
    ordered = sorted(questions, key=lambda question: sha256(question.text.encode()).digest())
    return ordered[: len(ordered) // 2], ordered[len(ordered) // 2 :]


def question_lists() -> dict[str, list[ManualQuestion]]:
    """All questions, by list."""
    plain = halves(read_list(HERE / "manual_plain_questions.txt"))
    everyday = halves(read_list(HERE / "manual_everyday_questions.txt"))
    terse = halves(read_list(HERE / "manual_terse_questions.txt"))
    seen = read_list(HERE / "manual_questions.txt")
    own = read_list(HERE / "manual_own_questions.txt")
    return dict(zip(LISTS, (*plain, *everyday, *terse, seen, own), strict=True))


def verdict_on(question: ManualQuestion, answer: str) -> str:
    """One of `VERDICTS`; to give no answer is right where the manual has none."""
    if not is_sure(answer) and not answer.startswith(NOT_SURE):
        return "nothing found" if question.holds else "right"
    is_right = question.is_held_by(answer)
    return ("right" if is_right else "wrong") + (", unsure" if answer.startswith(NOT_SURE) else "")


class ManualChat:
    """Vouch that has read its manual and nothing else."""

    def __init__(self, store: Path, vectors: Path, manual: Path = MANUAL) -> None:
        self._assistant = BenchmarkAssistant(store, vectors)
        user_id = self._assistant.stores.journal.user_id("benchmark")
        read = (document for page in sorted(manual.glob("*.md")) for document in read_documents(page))
        documents = (document for document in read if not isinstance(document, UnreadableDocument))
        for _ in self._assistant.turns.ingest.run(user_id, SHARED, documents, summary="manual"):
            pass

    def answer(self, question: str) -> str:
        """What a new user is told."""
        return asyncio.run(self._answer(question))

    async def _answer(self, question: str) -> str:
        journal = self._assistant.stores.journal
        user_id = journal.user_id(f"asks {question}")
        session_id = journal.open_session(user_id)
        async for event in self._assistant.turns.pipeline.take(user_id, session_id, question):
            if isinstance(event, Finished) and event.error is not None:
                raise event.error
        return journal.last_turn(user_id).answer

    def best_probabilities(self, question: ManualQuestion) -> tuple[float, bool, float]:
        """Of the best sentence, and whether it is right; then of the best without what holds the answer."""
        assistant = self._assistant
        space = assistant.search.spaces.of(assistant.stores.journal.user_id("benchmark"))
        readings = assistant.models.readings
        way = Way(
            ReaderJudge(readings),
            Quoter(assistant.search.encoder, threshold=0.0, quotes=1, readings=readings),
        )
        found = assistant.search.searching.retriever.retrieve(question.text, space).candidates
        without = [candidate for candidate in found if not question.is_held_by(candidate.passage.text)]
        best, bare = way.quotes(question.text, found), way.quotes(question.text, without)
        return (
            best[0].probability if best else 0.0,
            bool(best) and question.is_held_by(best[0].text),
            bare[0].probability if bare else 0.0,
        )

    def close(self) -> None:
        """Gives the store back."""
        self._assistant.close()


def floors(chat: ManualChat, questions: Sequence[ManualQuestion]) -> Iterator[str]:
    """For each floor the share of right first sentences that it leaves, and of the others that it passes."""
    rows = [chat.best_probabilities(question) for question in questions if question.holds]
    best, right, bare = (np.array(column) for column in zip(*rows, strict=True))
    yield f"{len(rows)} questions, the best sentence is right for {right.sum()}"
    yield "| floor | right ones kept | wrong ones shown | shown without the passage |"
    yield "| ---: | ---: | ---: | ---: |"
    for floor in FLOORS:
        kept, wrong = (best[right] >= floor).mean(), (best[~right] >= floor).mean()
        yield f"| {floor:.2f} | {kept:.1%} | {wrong:.1%} | {(bare >= floor).mean():.1%} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--manual", type=Path, default=MANUAL)
    parser.add_argument("--show", choices=LISTS)
    parser.add_argument("--without", action="store_true")
    arguments = parser.parse_args()
    lists = question_lists()
    with tempfile.TemporaryDirectory() as folder:
        chat = ManualChat(Path(folder), arguments.work / "vectors", arguments.manual)
        try:
            if arguments.without:
                for line in floors(chat, [*lists[MENDED], *lists[SEEN]]):
                    print(line)
                return
            print("| list | " + " | ".join(VERDICTS) + " |")
            print("| --- |" + " ---: |" * len(VERDICTS))
            for name, questions in lists.items():
                answers = [(question, chat.answer(question.text)) for question in questions]
                counts = Counter(verdict_on(question, answer) for question, answer in answers)
                print(f"| {name} | " + " | ".join(str(counts[verdict]) for verdict in VERDICTS) + " |")
                for question, answer in answers if name == arguments.show else ():
                    print(f"{verdict_on(question, answer).upper()}: {question.text}\n    {answer}")
        finally:
            chat.close()


if __name__ == "__main__":
    main()
