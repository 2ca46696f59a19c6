"""The record, the cut into parts, the mixture; and over the data, where it is here, that nothing leaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from kill_points import ALL

from stores.base.passages import HEADING_OF
from training.examples.documents import documents, questions
from training.examples.example import Example, Part, interleaved, normalised, part_of
from training.examples.mixture import examples

DATA = Path(__file__).parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(not (DATA / "squad").is_dir(), reason="the data folder is not here")
PARTS: tuple[Part, ...] = ("train", "calibration", "test")

# what may go into shipped weights
ALLOWED = {
    "squad", "nq", "timeqa", "covidqa", "hotpotqa", "boolq",
    "fever", "fever_symmetric", "fm2", "scifact", "squad_entities", "squad_phrases",
    "squad_statements", "squad_sentences", "squad_questions",
    "nq_statements", "nq_questions", "boolq_questions",
    "everyday", "documents", "doc2dial",
}  # fmt: skip


def numbered(name: str, count: int) -> Iterator[Example]:
    return (Example(f"{name}{number}") for number in range(count))


def test_streams_keep_their_shares_in_every_stretch() -> None:
    mixed = interleaved({"a": (3.0, numbered("a", 1000)), "b": (1.0, numbered("b", 1000))})
    for _ in range(10):
        counts = Counter(one.first[0] for one in islice(mixed, 40))
        assert counts == {"a": 30, "b": 10}


def test_the_part_hangs_on_the_key_alone_and_has_its_share() -> None:
    keys = [f"key {number}" for number in range(5000)]
    with_test_file = Counter(part_of(key, has_test_file=True) for key in keys)
    one_file = Counter(part_of(key, has_test_file=False) for key in keys)
    assert 200 < with_test_file["calibration"] < 300
    assert not with_test_file["test"]
    assert 440 < one_file["test"] < 560
    assert 440 < one_file["calibration"] < 560


def test_an_answer_of_a_document_stands_where_its_headings_have_moved_it() -> None:
    asked = {q["q"]: q["answer"] for q in questions("calibration") if q["passage"] and not q.get("prev")}
    made = [one for one in documents("calibration", seed=1) if one.spans and one.first in asked]
    headed = [one for one in made if HEADING_OF in one.second.partition("\n")[0]]
    assert len(made) / 2 < len(headed) < len(made)
    for one in made:
        ((start, end),) = one.spans or ()
        assert one.second[start:end] == asked[one.first]


@cache
def all_of(part: Part) -> list[Example]:
    """A beginning of each part; by `make test-kills` a long one of the training, and the others whole."""
    whole = 10_000 if part == "train" else None
    return examples(DATA, part, limit=whole if ALL else 1_500)


@needs_data
def test_no_key_and_no_question_claim_or_sentence_is_in_two_parts() -> None:
    keys = {part: {one.key for one in all_of(part)} for part in PARTS}
    texts = {  # people ask "and before that?" in several conversations of data/everyday
        part: {normalised(one.first) for one in all_of(part) if one.source != "everyday"} for part in PARTS
    }
    assert not keys["train"] & keys["test"]
    assert not keys["calibration"] & keys["test"]
    assert not texts["train"] & texts["test"]
    assert not texts["calibration"] & texts["test"]
    assert all(one.key for part in PARTS for one in all_of(part))


@needs_data
def test_only_what_the_licences_allow_is_trained_on() -> None:
    assert {one.source for part in ("train", "calibration") for one in all_of(part)} <= ALLOWED


@needs_data
def test_spans_are_places_within_the_passage() -> None:
    for part in PARTS:
        for one in all_of(part):
            for start, end in one.spans or ():
                assert 0 <= start < end <= len(one.second)
            assert not (one.judge == 0 and one.spans == ())


@needs_data
def test_the_seed_decides_and_the_limit_only_cuts() -> None:
    some = examples(DATA, "test", limit=300, seed=2)
    assert some == examples(DATA, "test", limit=300, seed=2)
    assert some[:100] == examples(DATA, "test", limit=100, seed=2)
    assert some != examples(DATA, "test", limit=300, seed=1)


@needs_data
def test_every_class_of_every_head_is_in_every_part() -> None:
    for part in PARTS:
        for head, classes in (("judge", 3), ("verify", 3), ("sort", 4), ("relate", 5)):
            assert {getattr(one, head) for one in all_of(part)} == {None, *range(classes)}
