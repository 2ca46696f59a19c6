"""Answers with the reader and without it, beside each other, to be read one by one by a person.

    python -m benchmarks.side_by_side DATA --work DIR [--questions 50] [--seed 7]

The questions of benchmarks/manual_questions.txt, some of which it does not answer, are put to the manual, a
sample of SQuAD's development questions to all its passages (DATA and DIR are those of benchmarks.recall).
Everything goes through search, reranking and quoting, with the settings in use. Whether an answer is right is
for the reader of this list to say; what is expected stands beside: SQuAD's answers, and for the manual a
pattern of what the sentence holds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from agents.answering.quoting import Quote
from assistant.library.documents import read_documents
from assistant.settings.config import Settings
from benchmarks.offline_answers import Way, ways
from benchmarks.questions import read_questions
from benchmarks.recall import BenchmarkAssistant
from benchmarks.recall_collections import COLLECTIONS, ingest_collection
from stores.base.errors import UnreadableDocument
from stores.base.passages import SHARED

MANUAL = Path(__file__).parent.parent / "docs" / "manual"
QUESTIONS = Path(__file__).with_name("manual_questions.txt")


def shown(quotes: Sequence[Quote]) -> str:
    """What a person would see, on one line."""
    if not quotes:
        return "(found nothing)"
    named = f"{quotes[0].answer}. " if quotes[0].answer else ""
    return named + " / ".join(f"“{' '.join(quote.text.split())}” {quote.probability:.2f}" for quote in quotes)


def asked(
    assistant: BenchmarkAssistant, answering: dict[str, Way], questions: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """A few lines for each question and what is expected."""
    space = assistant.spaces.of(assistant.journal.user_id("benchmark"))
    for number, (question, expected) in enumerate(questions, start=1):
        candidates = assistant.searching.retriever.retrieve(question, space).candidates
        yield f"{number}. {question}" + (f"   [{expected}]" if expected else "")
        for name, way in answering.items():
            yield f"   {name}: {shown(way.quotes(question, candidates))}"


def of_manual(work: Path) -> Iterator[str]:
    """The manual's questions."""
    assistant = BenchmarkAssistant(work / "manual", work / "vectors")
    try:
        user_id = assistant.journal.user_id("benchmark")
        pages = (document for page in sorted(MANUAL.glob("*.md")) for document in read_documents(page))
        documents = (document for document in pages if not isinstance(document, UnreadableDocument))
        for _ in assistant.ingest.run(user_id, SHARED, documents, summary="manual"):
            pass
        lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
        questions = [
            (asked_for, expected) for asked_for, _, expected in (line.partition("\t") for line in lines)
        ]
        yield from asked(assistant, ways(assistant, Settings().answer), questions)
    finally:
        assistant.close()


def of_squad(data: Path, work: Path, *, count: int, seed: int) -> Iterator[str]:
    """SQuAD's questions."""
    collection = next(c for c in COLLECTIONS if c.name == "squad")
    assistant = BenchmarkAssistant(work / collection.store, work / "vectors")
    try:
        ingest_collection(assistant, data, collection)
        entries = read_questions(data / collection.questions, count=count, seed=seed, answered=True)
        questions = [(entry["question"], " | ".join(dict.fromkeys(entry["answers"]))) for entry in entries]
        yield from asked(assistant, ways(assistant, Settings().answer), questions)
    finally:
        assistant.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only-manual", action="store_true")
    arguments = parser.parse_args()
    for line in of_manual(arguments.work):
        print(line)
    if arguments.only_manual:
        return
    for line in of_squad(arguments.data, arguments.work, count=arguments.questions, seed=arguments.seed):
        print(line)


if __name__ == "__main__":
    main()
