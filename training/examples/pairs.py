"""Questions with passages: what judge and answer learn from.

    answer      a passage that holds the answer; its occurrences are the spans
    relevant    a passage of the same article, or a supporting fact, without the answer
    irrelevant  a passage of another article without the answer: mostly one that shares the question's words

A passage without the answer also teaches the answer head that there is none.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from agents.base.memory_page import asked_after, said_before
from assistant.learning.recipes.examples.records import read_records
from training.examples.documents import documents
from training.examples.example import (
    Example,
    Part,
    answer_spans,
    interleaved,
    normalised,
    part_of,
    untokenised,
)
from training.examples.passage_search import PassageSearch

RELEVANT_SHARE = 0.5  # of questions that also come with a passage of the same article
RANDOM_SHARE = 0.2  # of irrelevant passages that are drawn and not searched
_SEARCHED = 30  # passages looked at for a hard negative
_ANSWER, _RELEVANT, _IRRELEVANT = 0, 1, 2

Mined = Mapping[str, Sequence[str]]  # by question: ids of passages found by search, best first


@dataclass(frozen=True)
class Passage:
    """A passage of a data set."""

    id: str
    article: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question of a data set and where it is answered."""

    id: str
    text: str
    answers: tuple[str, ...]
    passage_ids: tuple[str, ...]
    article: str
    key: str  # what must not stand in two parts


class Corpus:
    """The passages of one data set."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self.by_id = {passage.id: passage for passage in passages}
        self.of_article: defaultdict[str, list[Passage]] = defaultdict(list)
        for passage in passages:
            self.of_article[passage.article].append(passage)

    def without(self, held_out: frozenset[str]) -> Corpus:
        """Those that are not held out by their own name or their article's."""
        kept = [p for p in self.passages if not held_out & {p.id, normalised(p.article)}]
        return self if len(kept) == len(self.passages) else Corpus(kept)

    @cached_property
    def search(self) -> PassageSearch:
        """Made when first asked: it reads every word of the corpus."""
        return PassageSearch([passage.text for passage in self.passages])


@dataclass(frozen=True)
class PairSet:
    """A data set of questions and passages: its files, and its share of the examples."""

    name: str
    weight: float
    test: str = "test"
    train_passages: str = "passages"
    test_passages: str = "passages"

    def questions(self, data: Path, part: Part) -> Path:
        """The file of the questions of a part."""
        return data / self.name / f"{self.test if part == 'test' else 'train'}.jsonl.gz"

    def passages(self, data: Path, part: Part) -> Path:
        """The file of the passages of a part."""
        return data / self.name / f"{self.test_passages if part == 'test' else self.train_passages}.jsonl.gz"


SETS = (
    PairSet("squad", 88, "dev", "passages_train", "passages_dev"),
    PairSet("nq", 3),
    PairSet("timeqa", 2),
    PairSet("covidqa", 1.5),
)
_HOTPOT_WEIGHT, _BOOLQ_WEIGHT, _DIALOGUE_WEIGHT, _DOCUMENTS_WEIGHT = 1.5, 4.0, 10.0, 200.0
_AFTER_ANOTHER_SHARE = 0.15  # of questions in training that come after one that has nothing to do with them
_LONGEST_SPAN = 120  # characters of an answer of a dialogue; a longer one teaches judge alone


def pairs(data: Path, part: Part, *, seed: int, mined: Mined | None = None) -> Iterator[Example]:
    """Examples of judge and answer, question by question in seeded order, made as they are taken."""
    streams = {s.name: (s.weight, _of_set(data, s, part, seed, mined or {})) for s in SETS}
    for name, weight, made in (
        ("hotpotqa", _HOTPOT_WEIGHT, _of_hotpot),
        ("boolq", _BOOLQ_WEIGHT, _of_boolq),
        ("doc2dial", _DIALOGUE_WEIGHT, _of_dialogues),
    ):
        streams[name] = weight, made(data, part, random.Random(f"{seed} {part} {name}"))
    streams["documents"] = _DOCUMENTS_WEIGHT, documents(part, seed=seed)
    return interleaved(streams)


def held_out_questions(data: Path) -> Iterator[str]:
    """The questions that only test files may hold."""
    for file in (*(pair_set.questions(data, "test") for pair_set in SETS), data / "hotpotqa/test.jsonl.gz"):
        for record in read_records(file):
            yield record["question"]


@cache
def held_out_articles(data: Path) -> frozenset[str]:
    """What the test files ask about: titles, and passages where the parts share papers."""
    found: set[str] = set()
    for pair_set in SETS:
        for record in read_records(pair_set.questions(data, "test")):
            found.update(record["passage_ids"] if pair_set.name == "covidqa" else [normalised(record["doc"])])
    found.update(normalised(record["title"]) for record in read_records(data / "fm2/test.jsonl.gz"))
    titles = {
        normalised(r["passage"].partition(" -- ")[0]) for r in read_records(data / "boolq/dev.jsonl.gz")
    }
    found.update(title for title in titles if part_of(title, has_test_file=False) == "test")
    return frozenset(found)


def _of_set(data: Path, pair_set: PairSet, part: Part, seed: int, mined: Mined) -> Iterator[Example]:
    questions = read_questions(pair_set.questions(data, part))
    passages = read_corpus(pair_set.passages(data, part))
    if part != "test":
        held_out = held_out_articles(data)
        questions = [q for q in questions if not held_out & {normalised(q.article), *q.passage_ids}]
        questions = [q for q in questions if part_of(q.key, has_test_file=True) == part]
        passages = passages.without(held_out)
    rng = random.Random(f"{seed} {part} {pair_set.name}")
    rng.shuffle(questions)
    for question in questions:
        asked = question
        if part == "train" and rng.random() < _AFTER_ANOTHER_SHARE:
            asked = replace(question, text=asked_after(question.text, rng.choice(questions).text))
        yield from _of_question(asked, passages, pair_set.name, rng, mined.get(question.id, ()))


def read_questions(path: Path) -> list[Question]:
    """The questions of a file that a passage answers, and those of which it is known that none does."""
    return [
        Question(
            r["id"],
            r["question"],
            tuple(r["answers"]),
            tuple(r["passage_ids"]),
            r["doc"],
            # a paper of covidqa has questions in every part: only its passages can be kept apart
            r["passage_ids"][0] if path.parent.name == "covidqa" else normalised(r["doc"]),
        )
        for r in read_records(path)
        if r["passage_ids"] or r.get("unanswerable")
    ]


@cache
def read_corpus(path: Path) -> Corpus:
    """The passages of a file."""
    tidy = untokenised if path.parent.name == "timeqa" else str
    return Corpus([Passage(r["id"], r["doc"], tidy(r["text"])) for r in read_records(path)])


def _of_question(
    question: Question, corpus: Corpus, source: str, rng: random.Random, mined: Sequence[str]
) -> Iterator[Example]:
    known = [corpus.by_id[i] for i in question.passage_ids if i in corpus.by_id]
    right = rng.choice(known) if known else None
    if right and (spans := answer_spans(right.text, question.answers)):
        yield Example(question.text, right.text, _ANSWER, spans, source=source, key=question.key)
    wrong = [(_irrelevant(question, corpus, rng, mined), _IRRELEVANT)]
    if right is None or rng.random() < RELEVANT_SHARE:
        wrong.append((_relevant(question, corpus, rng), _RELEVANT))
    for passage, label in wrong:
        if passage is not None:
            yield Example(question.text, passage.text, label, (), source=source, key=question.key)


def _irrelevant(
    question: Question, corpus: Corpus, rng: random.Random, mined: Sequence[str]
) -> Passage | None:
    """One of the three best found of other articles without the answer, or any."""
    drawn = (rng.choice(corpus.passages) for _ in range(_SEARCHED))
    if rng.random() < RANDOM_SHARE:
        found: Iterator[Passage] = drawn
    elif mined:
        found = (corpus.by_id[i] for i in mined if i in corpus.by_id)
    else:
        found = (corpus.passages[place] for place in corpus.search.ranked(question.text, _SEARCHED))
    fit = (p for p in found if p.article != question.article and not answer_spans(p.text, question.answers))
    best = [passage for passage, _ in zip(fit, range(3), strict=False)]
    return rng.choice(best) if best else None


def _relevant(question: Question, corpus: Corpus, rng: random.Random) -> Passage | None:
    """A passage of the same article without the answer."""
    same = corpus.of_article[question.article]
    for passage in rng.sample(same, min(len(same), _SEARCHED)):
        if passage.id not in question.passage_ids and not answer_spans(passage.text, question.answers):
            return passage
    return None


def _of_hotpot(data: Path, part: Part, rng: random.Random) -> Iterator[Example]:
    """Two paragraphs answer together: one holds the answer, one leads to it; the others mislead."""
    records = list(read_records(data / f"hotpotqa/{'test' if part == 'test' else 'train'}.jsonl.gz"))
    rng.shuffle(records)
    for record in records:
        question, answer, key = record["question"], record["answer"], record["id"]
        if answer in ("yes", "no") or part not in ("test", part_of(key, has_test_file=True)):
            continue
        facts = {(title, number) for title, number in record["supporting_facts"]}
        for title, said in record["context"]:
            telling = [number for number in range(len(said)) if (title, number) in facts]
            if not telling and rng.random() > 0.25:  # eight of ten paragraphs mislead
                continue
            # the supporting sentences alone are a fair passage too
            chosen = [said[number] for number in telling] if telling and rng.random() < 0.3 else said
            text = " ".join(sentence.strip() for sentence in chosen)
            spans = answer_spans(text, [answer])
            if spans and not telling:
                continue
            label = _ANSWER if spans else _RELEVANT if telling else _IRRELEVANT
            yield Example(question, text, label, spans, source="hotpotqa", key=key)


def _of_boolq(data: Path, part: Part, rng: random.Random) -> Iterator[Example]:
    """Questions of yes or no: their passage answers without a span."""
    records: list[tuple[str, str, str]] = []
    for record in read_records(data / "boolq/dev.jsonl.gz"):
        title, _, text = record["passage"].partition(" -- ")
        key = normalised(title)
        if part_of(key, has_test_file=False) == part and (
            part == "test" or key not in held_out_articles(data)
        ):
            records.append((record["question"], text, key))
    rng.shuffle(records)
    search = PassageSearch([text for _, text, _ in records])
    for question, text, key in records:
        yield Example(question, text, _ANSWER, source="boolq", key=key)
        others = [records[place] for place in search.ranked(question, 10)]
        fit = [other for _, other, about in others if about != key][:3]
        if fit:
            yield Example(question, rng.choice(fit), _IRRELEVANT, (), source="boolq", key=key)


def _of_dialogues(data: Path, part: Part, rng: random.Random) -> Iterator[Example]:
    """Follow-up questions over documents, each with the question before it."""
    records = list(read_records(data / f"doc2dial/{'test' if part == 'test' else 'train'}.jsonl.gz"))
    documents = {record["doc"] for record in records}
    everything = read_corpus(data / "doc2dial/passages.jsonl.gz").passages
    corpus = Corpus([passage for passage in everything if passage.article in documents])
    rng.shuffle(records)
    for record in records:
        key = record["doc"]
        if part not in ("test", part_of(key, has_test_file=True)) or not record["passage_ids"]:
            continue
        text = asked_after(record["question"], said_before([turn["question"] for turn in record["history"]]))
        right = corpus.by_id[record["passage_ids"][0]]
        spans = answer_spans(right.text, record["answers"])
        is_short = bool(spans) and all(b - a <= _LONGEST_SPAN for a, b in spans)
        yield Example(text, right.text, _ANSWER, spans if is_short else None, source="doc2dial", key=key)
        question = Question(
            record["id"], text, tuple(record["answers"]), tuple(record["passage_ids"]), key, key
        )
        for passage, label in (
            (_relevant(question, corpus, rng), _RELEVANT),
            (_irrelevant(question, corpus, rng, ()), _IRRELEVANT),
        ):
            if passage is not None:
                yield Example(text, passage.text, label, (), source="doc2dial", key=key)
