"""A judge that takes a cross-encoder's word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from agent_fakes import FixedReader, candidate

from agents.retrieval.cross_encoder_judge import CrossEncoderJudge
from agents.retrieval.reader_judge import ReaderJudge, Readings

QUESTION = "When does the reading room open?"


class FixedCrossEncoder:
    """Knows the scores of some passages, and counts a token for each word."""

    name = "fixed cross-encoder"

    def __init__(self, known: Mapping[str, float]) -> None:
        self._known = known
        self.read_passages: list[str] = []

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        self.read_passages += passages
        return [self._known[passage] for passage in passages]

    def count_tokens(self, question: str, passages: Sequence[str]) -> int:
        return sum(len(f"{question} {passage}".split()) for passage in passages)


@pytest.mark.parametrize(
    ("score", "label"),
    [
        (0.19, "irrelevant"),
        (0.2, "relevant"),
        (0.49, "relevant"),
        (0.5, "answer"),
    ],
)
def test_the_label_follows_from_the_score(score: float, label: str) -> None:
    (verdict,) = (
        CrossEncoderJudge(FixedCrossEncoder({"It opens.": score}))
        .judge(QUESTION, [candidate(1, "It opens.")])
        .verdicts
    )
    assert verdict is not None
    assert (verdict.label, verdict.score) == (label, score)


def test_verdicts_keep_the_order_of_the_candidates() -> None:
    judge = CrossEncoderJudge(FixedCrossEncoder({"Lunch is at noon.": 0.1, "It opens at ten.": 0.9}))
    judged = judge.judge(QUESTION, [candidate(1, "Lunch is at noon."), candidate(2, "It opens at ten.")])
    assert [v.score for v in judged.verdicts if v] == [0.1, 0.9]
    assert (judged.tokens_in, judged.tokens_out) == (6 + 4 + 6 + 4, 0)
    assert judge.name == "fixed cross-encoder"


def test_a_message_that_only_asks_answers_nothing_and_is_not_read() -> None:
    told = candidate(2, "The reading room opens at ten.", kind="message")
    cross_encoder = FixedCrossEncoder({told.passage.text: 0.9})
    judged = CrossEncoderJudge(cross_encoder).judge(QUESTION, [candidate(1, QUESTION, kind="message"), told])
    assert [v.label for v in judged.verdicts if v] == ["irrelevant", "answer"]
    assert cross_encoder.read_passages == [told.passage.text]


def test_a_document_that_asks_is_read() -> None:
    judged = CrossEncoderJudge(FixedCrossEncoder({QUESTION: 0.3})).judge(QUESTION, [candidate(1, QUESTION)])
    assert [v.label for v in judged.verdicts if v] == ["relevant"]


# A judge that reads


def test_the_verdicts_are_the_readers() -> None:
    judge = ReaderJudge(Readings(FixedReader({"ten": 0.9})))
    judged = judge.judge(QUESTION, [candidate(1, "Lunch is at noon."), candidate(2, "It opens at ten.")])
    assert [(v.label, v.score) for v in judged.verdicts if v] == [("irrelevant", 0), ("answer", 0.9)]
    assert judged.tokens_in == 8
    assert judge.name == "fixed reader"


def test_the_reader_reads_no_message_that_only_asks() -> None:
    reader = FixedReader({"reading room": 0.9})
    told = candidate(2, "The reading room opens at ten.", kind="message")
    judged = ReaderJudge(Readings(reader)).judge(QUESTION, [candidate(1, QUESTION, kind="message"), told])
    assert [v.label for v in judged.verdicts if v] == ["irrelevant", "answer"]
    assert reader.read_passages == [told.passage.text]


def test_no_candidates_are_no_verdicts() -> None:
    assert ReaderJudge(Readings(FixedReader({}))).judge(QUESTION, []).verdicts == ()


def test_a_passage_is_read_once_a_question() -> None:
    reader = FixedReader({"ten": 0.9})
    readings = Readings(reader)
    first = readings.of(QUESTION, ["It opens at ten.", "Lunch.", "Lunch."])
    assert readings.of(QUESTION, ["Lunch.", "It opens at ten."]) == [first[1], first[0]]
    assert first[1] == first[2]
    assert reader.read_passages == ["It opens at ten.", "Lunch."]
    readings.of("Where is it?", ["Lunch."])
    assert len(reader.read_passages) == 3


def test_old_readings_are_forgotten() -> None:
    reader = FixedReader({})
    readings = Readings(reader)
    readings.of(QUESTION, ["the first"])
    readings.of(QUESTION, [f"passage {n}" for n in range(300)])
    readings.of(QUESTION, ["the first", "passage 299"])
    assert reader.read_passages.count("the first") == 2
    assert reader.read_passages.count("passage 299") == 1
