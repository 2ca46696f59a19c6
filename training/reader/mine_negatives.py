"""Finds hard negatives by the product's whole search, for examples(..., mined=FILE).

    python -m training.reader.mine_negatives DATA --out FILE --count 500

Stores passages of SQuAD's training articles in a Vouch of its own, in a folder that is deleted
afterwards, asks `--count` of their questions and notes what is found without the answer. Encoding takes
most of the time, about 30 passages a second; fewer passages are whole articles, drawn by the seed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from assistant.library.documents import PreparedDocument, PreparedPassage
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.base.passages import SHARED
from training.examples.example import answer_spans
from training.examples.pairs import (
    SETS,
    Corpus,
    Passage,
    Question,
    read_corpus,
    read_questions,
)

_KEPT = 10  # passages noted for a question
_USER = "learning"


def main() -> None:
    """Reads the command line and writes the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, required=True, help="questions to ask")
    parser.add_argument("--passages", type=int, help="passages to store; all of them when left out")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    squad = SETS[0]
    corpus = read_corpus(squad.passages(arguments.data, "train"))
    questions = read_questions(squad.questions(arguments.data, "train"))
    rng = random.Random(arguments.seed)
    passages = drawn_articles(corpus, arguments.passages or len(corpus.passages), rng)
    articles = {passage.article for passage in passages}
    asked = [question for question in questions if question.article in articles]
    asked = rng.sample(asked, min(arguments.count, len(asked)))
    with tempfile.TemporaryDirectory() as folder:
        assistant = Assistant(Settings(), find_locations(os.environ, data=folder), offline=True)
        try:
            store(assistant, passages)
            found = mined(assistant, asked)
        finally:
            assistant.close()
    part = arguments.out.with_suffix(".part")
    part.write_text(json.dumps(found), encoding="utf-8")
    part.replace(arguments.out)
    print(f"{len(found)} questions, {sum(map(len, found.values()))} negatives: {arguments.out}")


def drawn_articles(corpus: Corpus, count: int, rng: random.Random) -> list[Passage]:
    """Whole articles in seeded order, until they have `count` passages."""
    articles = sorted(corpus.of_article)
    rng.shuffle(articles)
    drawn: list[Passage] = []
    for article in articles:
        if len(drawn) >= count:
            break
        drawn += corpus.of_article[article]
    return drawn


def store(assistant: Assistant, passages: Sequence[Passage]) -> None:
    """Makes the passages findable, each a document of its own as in a collection."""
    documents = [
        PreparedDocument(
            passage.id,
            passage.article.replace("_", " "),
            hashlib.sha256(passage.text.encode()).hexdigest(),
            (PreparedPassage(passage.article.replace("_", " "), passage.text),),
            passage.id,
        )
        for passage in passages
    ]
    began = time.monotonic()
    user = assistant.stores.journal.user_id(_USER)
    steps = assistant.turns.ingest.run(user, SHARED, documents, summary="passages to learn from")
    for done, _ in enumerate(steps, start=1):
        if done % 1000 == 0:
            rate = done / (time.monotonic() - began)
            print(f"{done} steps of about {len(documents)}, {rate:.0f} a second", file=sys.stderr)


def mined(assistant: Assistant, questions: Sequence[Question]) -> dict[str, list[str]]:
    """By question: passages of other articles without an answer that the search ranks first, best first."""
    space = assistant.search.spaces.of(assistant.stores.journal.user_id(_USER))
    found: dict[str, list[str]] = {}
    for question in questions:
        candidates = assistant.search.searching.retriever.retrieve(question.text, space).candidates
        about = question.article.replace("_", " ")
        wrong = [
            candidate.passage.external_id
            for candidate in candidates
            if candidate.passage.title != about and not answer_spans(candidate.passage.text, question.answers)
        ]
        found[question.id] = wrong[:_KEPT]
    return found


if __name__ == "__main__":
    main()
