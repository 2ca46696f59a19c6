"""Six data sets as a labelled start and four rounds of candidates, each with a part kept from training.

    records -> candidates of each group (question, passage, premise) -> start, holdout, R1 .. R4

A group lies in one part alone, so that nothing returns; of `bioasq_true` the rounds are those of the
experts, and questions return. What the shipped reader was trained on is left out.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from assistant.learning.recipes.examples.records import read_records
from training.examples.claims import fever_claims

ROUNDS = 4
KEPT = 0.3  # of the groups of each round: never trained on
_LIST = 10  # candidates of a question at most
_WORDS = 110  # that are read of a long text


@dataclass(frozen=True)
class Item:
    """A candidate: what is asked, what it is asked of, and the place of its label in the set's labels."""

    id: str
    group: str  # never in two parts
    question: str  # candidates of the same question form a list; with one candidate, its id
    asked: str
    text: str
    label: int


@dataclass(frozen=True)
class Stream:
    """What a run learns from and is measured on."""

    labels: tuple[str, ...]  # by their numbers; of two, 1 is the helpful one
    start: Sequence[Item]
    holdout: Sequence[Item]  # labelled, of the start: threshold and temperature
    rounds: Sequence[Sequence[Item]]
    kept: Sequence[Sequence[Item]]  # of each round, never trained on

    @property
    def has_lists(self) -> bool:
        """Whether a question has several candidates."""
        return any(a.question == b.question for a, b in zip(self.start, self.start[1:], strict=False))


@dataclass(frozen=True)
class DataSet:
    """How a set is read and cut: items of the start, holdout included, and of a round with its kept part."""

    read: Callable[[Path], Iterator[tuple[int | None, Item]]]  # with the part, where the set knows it
    labels: tuple[str, ...] = ("False", "True")
    start: int = 450
    round: int = 350


def read_stream(name: str, data: Path, *, seed: int) -> Stream:
    """A set, cut by seeded chance where it has no rounds of its own."""
    found = SETS[name]
    parts: list[list[Item]] = [[] for _ in range(ROUNDS + 1)]
    sizes = [found.start, *[found.round] * ROUNDS]
    groups: dict[tuple[int | None, str], list[Item]] = defaultdict(list)
    for part, item in found.read(data):
        groups[part, item.group].append(item)
    for part, group in sorted(groups, key=lambda key: _place(f"{seed} {key[1]}")):
        open_parts = [number for number in range(ROUNDS + 1) if len(parts[number]) < sizes[number]]
        if part is None and open_parts:
            parts[open_parts[0]] += groups[part, group]
        elif part in open_parts:
            parts[part] += groups[part, group]

    def cut(items: Sequence[Item], share: float) -> tuple[list[Item], list[Item]]:
        apart = [_place(f"{seed} kept {item.group}") < share for item in items]
        first = [item for item, kept in zip(items, apart, strict=True) if not kept]
        return first, [item for item, kept in zip(items, apart, strict=True) if kept]

    start, holdout = cut(parts[0], 1 / 3)
    rounds = [cut(part, KEPT) for part in parts[1:]]
    return Stream(found.labels, start, holdout, [each for each, _ in rounds], [each for _, each in rounds])


def _place(key: str) -> float:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8]) / 2**64


def _hotpotqa(data: Path) -> Iterator[tuple[None, Item]]:
    """Sentences: the supporting ones, and others of the ten paragraphs at random."""
    for record in chain.from_iterable(read_records(data / f"hotpotqa/{p}.jsonl.gz") for p in ("dev", "test")):
        facts = {(title, number) for title, number in record["supporting_facts"]}
        said = [
            (f"{title}: {text.strip()}", int((title, number) in facts))
            for title, texts in record["context"]
            for number, text in enumerate(texts)
        ]
        yield from _listed(record["id"], record["question"], said)


def _multirc(data: Path) -> Iterator[tuple[None, Item]]:
    """Answers, each with the sentences of its passage that share most words with it and the question."""
    for record in chain.from_iterable(read_records(data / f"multirc/{p}.jsonl.gz") for p in ("train", "dev")):
        for question in record["questions"][:4]:
            for number, answer in enumerate(question["answers"][:_LIST]):
                asked = f"{question['question']} {answer['text']}"
                text = excerpt(record["passage"], asked)
                id_, label = f"{question['id']} {number}", int(answer["label"])
                yield None, Item(id_, record["id"], question["id"], asked, text, label)


def _pubmedqa(data: Path) -> Iterator[tuple[None, Item]]:
    """Yes or no by an abstract, whose conclusion is left out; maybe is left out too."""
    for record in chain.from_iterable(
        read_records(data / f"pubmedqa/{part}.jsonl.gz") for part in ("train", "test")
    ):
        if record["decision"] != "maybe":
            text = excerpt(" ".join(record["contexts"]), record["question"])
            id_, label = record["id"], int(record["decision"] == "yes")
            yield None, Item(id_, id_, id_, record["question"], text, label)


def _fever(data: Path) -> Iterator[tuple[None, Item]]:
    """Claims that the reader was not trained on."""
    for number, claim in enumerate([*fever_claims(data, "test"), *fever_claims(data, "calibration")]):
        id_ = f"fever-{number}"
        yield (
            None,
            Item(id_, claim.key, id_, claim.text, excerpt(claim.evidence, claim.text), 1 - claim.label),
        )


def _anli(data: Path) -> Iterator[tuple[int, Item]]:
    """Start and R1 are of its first round, R2 of the second, R3 and R4 of the third."""
    for number, parts in ((1, (0, 1)), (2, (2,)), (3, (3, 4))):
        for record in read_records(data / f"anli/r{number}_dev.jsonl.gz"):
            premise, label = record["premise"], _NLI.index(record["label"])
            part = parts[int(_place(premise) * len(parts))]
            text = excerpt(premise, record["hypothesis"])
            yield part, Item(record["id"], premise, record["id"], record["hypothesis"], text, label)


def _bioasq(data: Path, *, is_true: bool) -> Iterator[tuple[int | None, Item]]:
    """Snippets that experts judged: in their five rounds, or a question with all of it in one part.

    From the third round on only right ones are known: wrong ones are the question's of before, each once.
    """
    asked = {
        each["id"]: each["question"] for each in read_records(data / "bioasq_synergy/questions.jsonl.gz")
    }
    right: dict[tuple[str, int], list[str]] = defaultdict(list)
    wrong: dict[str, list[str]] = defaultdict(list)
    for record in read_records(data / "bioasq_synergy/snippets.jsonl.gz"):
        at = (record["question_id"], record["round"] - 1 if is_true else 0)
        if record["relevant"]:
            right[at].append(record["text"])
        else:
            wrong[record["question_id"]].append(record["text"])
    for (question, part), texts in sorted(right.items(), key=lambda each: _place(str(each[0]))):
        said = [(text, 1) for text in texts[: _LIST // 3]] if is_true else [(text, 1) for text in texts[:8]]
        most = 7 if is_true else 16
        said += [(wrong[question].pop(), 0) for _ in range(min(most, len(wrong[question])))]
        for _, item in _listed(question, asked[question], said, most=len(said), prefix=f"{part}-"):
            yield part if is_true else None, item


def _listed(
    group: str, asked: str, said: Sequence[tuple[str, int]], *, most: int = _LIST, prefix: str = ""
) -> Iterator[tuple[None, Item]]:
    """The right ones and others at random, in random order, with the numbers that they had."""
    rng = random.Random(group)
    others = [number for number, (_, label) in enumerate(said) if not label]
    chosen = [number for number, (_, label) in enumerate(said) if label][:most]
    chosen += rng.sample(others, min(len(others), most - len(chosen)))
    rng.shuffle(chosen)
    for number in chosen:
        text, label = said[number]
        yield None, Item(f"{prefix}{group} {number}", group, f"{prefix}{group}", asked, text, label)


def excerpt(text: str, asked: str, *, words: int = _WORDS) -> str:
    """The sentences that share most words with what is asked, in their order, up to so many words."""
    sentences = re.split(r"(?<=[.!?])\s+", text)
    wanted = set(re.findall(r"\w{3,}", asked.lower()))
    shared = [len(wanted & set(re.findall(r"\w{3,}", each.lower()))) for each in sentences]
    kept: set[int] = set()
    left = words
    for number in sorted(range(len(sentences)), key=lambda number: -shared[number]):
        length = len(sentences[number].split())
        if length <= left or not kept:
            kept.add(number)
            left -= length
    return " ".join(sentences[number] for number in sorted(kept))


_NLI = ("entailment", "neutral", "contradiction")
SETS: Mapping[str, DataSet] = {
    "hotpotqa": DataSet(_hotpotqa),
    "multirc": DataSet(_multirc),
    "pubmedqa": DataSet(_pubmedqa, ("no", "yes"), start=210, round=170),
    "bioasq": DataSet(lambda data: _bioasq(data, is_true=False)),
    "bioasq_true": DataSet(lambda data: _bioasq(data, is_true=True)),
    "fever": DataSet(_fever, ("REFUTES", "SUPPORTS")),
    "anli": DataSet(_anli, _NLI, start=450),
}
