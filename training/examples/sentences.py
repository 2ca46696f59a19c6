"""Sentences of users and of texts: what sort learns from beside data/everyday.

    world     statements made of questions and answers, claims, sentences of articles
    asks      questions

What is personal, and what says nothing, comes from data/everyday alone (everyday.py).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from agents.base.sentences import sentences
from assistant.learning.recipes.examples.records import read_records
from training.examples.claims import fever_claims
from training.examples.example import SORT_LABELS, Example, Part, interleaved, normalised, part_of
from training.examples.pairs import held_out_articles, read_corpus, read_questions
from training.templates.statements import statement

WORLD, PERSONAL, ASKS, NOTHING = range(len(SORT_LABELS))
_PLAINLY = 0.6  # share of sentences that are left as they are written


def user_sentences(data: Path, part: Part, *, seed: int) -> Iterator[Example]:
    """Examples of sort, no sentence twice, made as they are taken."""
    rng = random.Random(f"{seed} {part} sentences")
    streams: dict[str, tuple[float, Iterator[Example]]] = {
        "squad statements": (20, _statements(data, "squad", part, rng)),
        "nq statements": (5, _statements(data, "nq", part, rng)),
        "articles": (15, _article_sentences(data, part, rng)),
        "fever": (20, _claims(data, part, rng)),
        "squad questions": (20, _questions(data, "squad", part, rng)),
        "nq questions": (10, _questions(data, "nq", part, rng)),
        "yes or no": (10, _yes_no_questions(data, part, rng)),
    }
    if part == "test":
        streams["measured"] = (50, _measured(data, rng))
    return _unrepeated(interleaved(streams))


def held_out_sentences(data: Path) -> Iterator[str]:
    """The sentences that only test files may hold."""
    for record in read_records(data / "statements/test.jsonl.gz"):
        yield record["text"]


def _statements(data: Path, name: str, part: Part, rng: random.Random) -> Iterator[Example]:
    """Statements made of questions and answers."""
    for question, answer, key in _asked(data, name, part, rng):
        if answer and (said := statement(question, answer)):
            text = _typed(said.within_sentence(said.answer), rng)
            yield Example(text, sort=WORLD, source=f"{name}_statements", key=key)


def _questions(data: Path, name: str, part: Part, rng: random.Random) -> Iterator[Example]:
    for question, _, key in _asked(data, name, part, rng):
        yield Example(_typed(question.strip(), rng), sort=ASKS, source=f"{name}_questions", key=key)


def _asked(data: Path, name: str, part: Part, rng: random.Random) -> list[tuple[str, str, str]]:
    """Question, first answer and key of the questions of one part, in seeded order."""
    test = "dev" if name == "squad" else "test"
    found = read_questions(data / name / f"{test if part == 'test' else 'train'}.jsonl.gz")
    held_out = frozenset() if part == "test" else held_out_articles(data)
    kept = [
        (q.text, q.answers[0] if q.answers else "", q.key)
        for q in found
        if part == "test" or (part_of(q.key, has_test_file=True) == part and q.key not in held_out)
    ]
    rng.shuffle(kept)
    return kept


def _yes_no_questions(data: Path, part: Part, rng: random.Random) -> Iterator[Example]:
    found = [
        (r["question"], normalised(r["passage"].split(" -- ")[0]))
        for r in read_records(data / "boolq/dev.jsonl.gz")
    ]
    found = [(q, key) for q, key in found if part_of(key, has_test_file=False) == part]
    rng.shuffle(found)
    for question, key in found:
        text = _typed(f"{question[0].upper()}{question[1:]}?", rng)
        yield Example(text, sort=ASKS, source="boolq_questions", key=key)


def _claims(data: Path, part: Part, rng: random.Random) -> Iterator[Example]:
    found = [(claim.text, claim.key) for claim in fever_claims(data, part)]
    rng.shuffle(found)
    for text, key in found:
        yield Example(_typed(text, rng), sort=WORLD, source="fever", key=key)


def _article_sentences(data: Path, part: Part, rng: random.Random) -> Iterator[Example]:
    """Sentences of articles, as somebody may paste them."""
    corpus = read_corpus(data / f"squad/passages_{'dev' if part == 'test' else 'train'}.jsonl.gz")
    fit = [p for p in corpus.passages if part in ("test", part_of(normalised(p.article), has_test_file=True))]
    for passage in rng.sample(fit, len(fit)):
        said = rng.choice(sentences(passage.text)).text
        if 5 <= len(said.split()) <= 30 and said[-1] == ".":
            text = _typed(said, rng)
            yield Example(text, sort=WORLD, source="squad_sentences", key=normalised(passage.article))


def _typed(text: str, rng: random.Random) -> str:
    """A sentence as people type it: often without its stop, without capitals, without apostrophes."""
    text = text[0].upper() + text[1:]
    if rng.random() < _PLAINLY:
        return text
    text = text.rstrip("?.") if rng.random() < 0.7 else text
    text = text.lower() if rng.random() < 0.7 else text
    return text.replace("'", "") if rng.random() < 0.3 else text


def _unrepeated(found: Iterable[Example]) -> Iterator[Example]:
    seen: set[str] = set()
    for example in found:
        said = normalised(example.first)
        if said and said not in seen:
            seen.add(said)
            yield example


def _measured(data: Path, rng: random.Random) -> Iterator[Example]:
    """A set that is only measured on."""
    labels = {"preference": PERSONAL, "personal_fact": PERSONAL, "world_fact": WORLD, "question": ASKS}
    found: list[Example] = []
    for record in read_records(data / "statements/test.jsonl.gz"):
        source = f"statements_{record['source']}"
        # a question after a sentence about oneself is both
        if record["label"] == "question" and len(sentences(record["text"])) > 1:
            source += "_mixed"
        found.append(Example(record["text"], sort=labels[record["label"]], source=source, key=record["id"]))
    rng.shuffle(found)
    return iter(found)
