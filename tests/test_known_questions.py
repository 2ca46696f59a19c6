"""What the word of a judge is worth, and what an encoder must not lose, on questions with known answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from agents.base.interfaces import Candidate, Judged, Label, Vectors, Verdict
from assistant.learning.held_out.bootstrap import share
from assistant.learning.held_out.judge_probes import JudgeProbes
from assistant.learning.held_out.known_questions import (
    FILE,
    KnownQuestion,
    gain_on_known,
    known_questions,
    mrr_by,
    probe,
    vectors_of,
)
from stores.learning.lessons import DOCUMENTS, TOLD

Says = Callable[[str, Candidate], tuple[Label, float] | None]
RIGHT = {(each.text, i) for each in known_questions() for i in each.right}


@dataclass
class Judge:
    """Says what a function says."""

    says: Says
    name: str = "judge-1"
    calls: int = 0

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        self.calls += 1
        said = [self.says(question, each) for each in candidates]
        return Judged(tuple(None if each is None else Verdict(*each) for each in said), 0, 0)


def knows(question: str, each: Candidate) -> tuple[Label, float]:
    return ("answer", 0.9) if (question, each.passage.version_id) in RIGHT else ("irrelevant", 0.1)


def of_all(question: str, each: Candidate) -> tuple[Label, float]:
    return "answer", 0.95 if (question, each.passage.version_id) in RIGHT else 0.55


def of_kind(kind: str) -> list[KnownQuestion]:
    return [each for each in known_questions() if each.kind == kind]


class OneHot:
    """Finds what it is told, by a vector of its own for each passage."""

    version = "one-hot-000000000000"
    dimension = 0

    def __init__(self, right: bool) -> None:
        self.right = right

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        every = known_questions()
        count = 1 + max(each.passage.version_id for q in every for each in q.candidates)
        vectors = np.zeros((len(texts), count), dtype=np.float32)
        for row, question in zip(vectors, every, strict=True):
            for each in question.candidates:
                row[each.passage.version_id] = (each.passage.version_id in question.right) == self.right
        return vectors

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return np.eye(len(texts), dtype=np.float32)


def test_each_question_has_an_answer_among_its_first_ten() -> None:
    for kind in (DOCUMENTS, TOLD):
        assert len(of_kind(kind)) == 100
    for each in known_questions():
        assert each.right & {found.passage.version_id for found in each.candidates[:10]}


def test_who_knows_has_all_of_both_and_teaches_from_the_first_score_on() -> None:
    found = probe(Judge(knows), of_kind(DOCUMENTS))
    assert found.precision == (1, 1, 1)
    assert found.recall == (1, 1, 1)
    assert found.from_score == 0


def test_who_calls_everything_an_answer_teaches_only_where_it_is_surer() -> None:
    found = probe(Judge(of_all), of_kind(TOLD))
    assert found.precision is not None
    assert found.precision.high < 0.3
    assert found.recall.value == 1
    assert found.from_score == 0.6


def test_who_is_as_sure_of_what_is_wrong_teaches_nothing() -> None:
    assert probe(Judge(lambda *_: ("answer", 1.0)), of_kind(TOLD)).from_score is None


def test_of_a_few_answers_nothing_is_known() -> None:
    wrong = {each.text for each in of_kind(TOLD)[:3]}
    found = probe(
        Judge(lambda q, each: ("answer", 0.9) if q in wrong and each.found_rank == 10 else None),
        of_kind(TOLD),
    )
    assert found.recall.value < 0.1
    assert found.from_score == 0


def test_who_calls_nothing_an_answer_has_no_precision() -> None:
    found = probe(Judge(lambda *_: None), of_kind(TOLD))
    assert found.precision is None
    assert found.recall == (0, 0, 0)


def test_a_share_is_drawn_by_questions() -> None:
    one_by_one = share([1, 0] * 50, [1] * 100, seed=1)
    hangs_together = share([10, 0] * 5, [10] * 10, seed=1)
    assert one_by_one is not None
    assert hangs_together is not None
    assert one_by_one.value == hangs_together.value == 0.5
    assert hangs_together.high - hangs_together.low > 2 * (one_by_one.high - one_by_one.low)
    assert share([0], [0], seed=1) is None


def test_a_judge_is_asked_once_and_again_by_other_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, file = Judge(of_all), tmp_path / "cache" / "judges.json"
    first = JudgeProbes(file).of(judge)
    calls = judge.calls
    assert JudgeProbes(file).of(judge) == first
    assert judge.calls == calls
    other = tmp_path / "questions.json.gz"
    other.write_bytes(FILE.read_bytes() + b" ")
    monkeypatch.setattr("assistant.learning.held_out.known_questions.FILE", other)
    assert JudgeProbes(file).all() == {}


@pytest.mark.parametrize("damaged", ["", "[]", '{"asked": 1}', "x" * 200_000, '{"asked": "", "judges": []}'])
def test_a_damaged_file_is_asked_for_anew(tmp_path: Path, damaged: str) -> None:
    file = tmp_path / "judges.json"
    file.write_text(damaged)
    assert JudgeProbes(file).all() == {}
    assert JudgeProbes(file).all_trusted() == {}


def test_of_a_judge_only_what_counts_is_heard(tmp_path: Path) -> None:
    question = of_kind(DOCUMENTS)[0]
    heard = JudgeProbes(tmp_path / "judges.json").trusted(Judge(of_all))
    for each, verdict in zip(
        question.candidates, heard.judge(question.text, question.candidates).verdicts, strict=True
    ):
        assert (verdict is not None) == (each.passage.version_id in question.right)


def test_what_was_found_of_a_judge_is_told_in_words(tmp_path: Path) -> None:
    probes = JudgeProbes(tmp_path / "judges.json")
    probes.of(Judge(knows))
    told = probes.lines("judge-1")
    assert told[0] == (
        "documents: 100 % [100, 100] of what it calls answers are, it finds 100 % [100, 100]; "
        "learned from 0.0 on"
    )
    assert probes.lines("another") == []


def test_an_encoder_that_turns_the_order_round_loses() -> None:
    good, bad = OneHot(True), OneHot(False)
    vectors = vectors_of(good)
    assert mrr_by(good, vectors, dense_weight=1.0) > 0.9 > mrr_by(bad, vectors, dense_weight=1.0)
    lost = gain_on_known(bad, bad, good, dense_weight=1.0)
    assert lost.mean == lost.low == lost.high < -0.3
    assert gain_on_known(good, good, good, dense_weight=1.0).mean == 0
