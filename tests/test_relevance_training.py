"""The fit of the relevance weights: it finds what tells right from wrong, and else stays near the mix."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agent_fakes import FakeChat, candidate

from agents.base.chat_interfaces import ReplyRequest
from agents.retrieval.feature_names import NAMES
from agents.retrieval.relevance import Relevance, Weights
from experiments.evo.answers import Asked
from experiments.evo.month import month
from training.relevance import MIX, SIGNALS, Ranking, fitted, of_all, of_longmemeval, rankings


def ranking(right: int, **features: tuple[float, float]) -> Ranking:
    """Two candidates, of which one is right; what is not named is 0 for both."""
    rows = np.zeros((2, len(NAMES)))
    for name, values in features.items():
        rows[:, NAMES.index(name)] = values
    evidence = np.array([0 if place == right else -1 for place in range(2)])
    return Ranking(rows, np.ones(2, bool), np.zeros(2, bool), evidence, 1)


def test_what_tells_right_from_wrong_gets_weight_and_what_does_not_vary_gets_none() -> None:
    some = [
        ranking(1, found=(1.0, 0.0), meaning=(0.0, 1.0)),
        ranking(0, found=(1.0, 0.0), meaning=(1.0, 0.0)),
    ]
    weights = fitted([some], SIGNALS, 1e-3)
    assert weights.named["meaning"] > weights.named["found"]
    assert "words" not in weights.named
    relevance = Relevance(weights, MIX.documents)
    assert [each.recall(relevance, 1) for each in some] == [1.0, 1.0]
    assert [each.recall(MIX, 1) for each in some] == [0.0, 1.0]


def test_under_a_strong_penalty_the_weights_are_those_of_the_mix() -> None:
    one = {"judged": (0.9, 0.1), "found": (1.0, 0.0), "meaning": (0.3, 0.2)}
    some = [ranking(0, **one), ranking(0, **one), ranking(1, **one)]  # the mix is right twice of three times
    weights = fitted([some, some], SIGNALS, 1e6)
    assert weights.named["judged"] == pytest.approx(0.5, abs=1e-3)
    assert weights.named["meaning"] == pytest.approx(0.0, abs=1e-3)


def written(file: Path, records: Sequence[Mapping[str, object]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress("".join(f"{json.dumps(each)}\n" for each in records).encode()))


def test_longmemeval_is_one_memory_of_what_users_said(tmp_path: Path) -> None:
    def record(question: str, *said: tuple[str, str], abstain: bool = False) -> dict[str, object]:
        turns = [{"speaker": speaker, "text": text} for speaker, text in said]
        return {"question": question, "abstain": abstain, "sessions": [{"date": "", "turns": turns}]}

    some = [
        record("Where?", ("user", "In Porto."), ("assistant", "Nice.")),
        record("When?", ("user", "In Porto."), ("user", "In May.")),
        record("Who?", ("user", "By bus."), abstain=True),
    ]
    written(tmp_path / "longmemeval/evidence.jsonl.gz", some)
    read = of_longmemeval(tmp_path)
    assert [each.text for each in read.passages] == ["In Porto.", "In May.", "By bus."]
    first, second, _ = (each.id for each in read.passages)
    assert [each.gold for each in read.questions] == [frozenset({first}), frozenset({first, second})]
    assert {each.owner for each in read.passages} == {each.user for each in read.questions}


def test_a_set_of_documents_has_the_questions_of_all_its_parts(tmp_path: Path) -> None:
    written(tmp_path / "covidqa/passages.jsonl.gz", [{"id": "p", "doc": "d", "title": "", "text": "Bats."}])
    for part in ("train", "dev", "test"):
        asked = {"id": part, "question": f"{part}?", "answers": ["Bats"], "passage_ids": ["p"], "doc": "d"}
        written(tmp_path / f"covidqa/{part}.jsonl.gz", [asked])
    assert {each.id for each in of_all(tmp_path, "covidqa").questions} == {"train", "dev", "test"}
    assert len(of_all(tmp_path, "covidqa", most=2).questions) == 2


def test_a_month_of_one_set_has_at_most_so_many_of_its_questions_in_a_drawn_order(tmp_path: Path) -> None:
    made = [ranking(0, found=(number / 9, 0.0)) for number in range(9)]
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in made])
        for name in ("rows", "told", "asks", "evidence")
    }
    np.savez_compressed(tmp_path / "nq.npz", **columns, counts=[2] * 9, parts=[1] * 9)
    assert len(rankings("nq", Path(), tmp_path)) == 9
    orders = [
        [float(each.rows[0, NAMES.index("found")]) for each in month(tmp_path, seed, {"nq": 20})]
        for seed in (0, 1)
    ]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == [number / 9 for number in range(9)]
    assert len(month(tmp_path, 0, {"nq": 4})) == 4


def test_an_answer_is_read_once_for_each_order_and_right_where_its_first_words_are() -> None:
    async def first(request: ReplyRequest) -> AsyncIterator[str]:
        yield f"{request.sources[0].passage.text} [1] or {request.sources[1].passage.text} [2]"

    chat = FakeChat(first)
    found = [candidate(1, "In Porto."), candidate(2, "In Lisbon.")]
    asked = Asked(ranking(1, found=(1.0, 0.0), meaning=(0.0, 1.0)), "Where?", "lisbon", found, chat)
    turned = Relevance(Weights({"meaning": 1.0}), MIX.documents)
    assert [asked.is_right(each) for each in (MIX, turned, MIX, turned)] == [False, True, False, True]
    assert [request.message for request in chat.requests] == ["Where?"] * 2
