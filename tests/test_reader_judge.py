"""A judge that reads, and readings that are paid for once."""

from __future__ import annotations

from agent_fakes import FixedReader, candidate

from agents.retrieval.reader_judge import ReaderJudge, Readings

QUESTION = "When does the reading room open?"


def test_the_verdicts_are_the_readers() -> None:
    judge = ReaderJudge(Readings(FixedReader({"ten": 0.9})))
    judged = judge.judge(QUESTION, [candidate(1, "Lunch is at noon."), candidate(2, "It opens at ten.")])
    assert [(v.label, v.score) for v in judged.verdicts if v] == [("irrelevant", 0), ("answer", 0.9)]
    assert judged.tokens_in == 8
    assert judge.name == "fixed reader"


def test_a_message_that_only_asks_answers_nothing_and_is_not_read() -> None:
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
