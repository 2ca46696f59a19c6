"""What the benchmarks of methods and of judging count."""

from __future__ import annotations

import numpy as np
import pytest
from agent_fakes import FixedJudge, candidate

from benchmarks.judging_tokens import (
    ONE,
    SEVERAL,
    Costs,
    CountingJudge,
    saved_percent,
)


def words(text: str) -> int:
    return len(text.split())


def test_a_call_costs_its_instruction_its_question_its_passages_and_its_reply() -> None:
    judge = CountingJudge(FixedJudge({1: "answer"}), words)
    judge.judge("who was it", [candidate(1, "three words here")])
    # "Question:" and "Passage:" are a word each; the reply is "answer 0.50"
    assert judge.tokens == words(ONE) + 1 + 3 + 1 + 3 + 2
    judge.judge("who was it", [candidate(2, "three words here"), candidate(3, "two words")])
    # "Passages:", the numbers "1." and "2.", and the reply "1 irrelevant 0.50", "2 irrelevant 0.50"
    assert judge.tokens == words(ONE) + 10 + words(SEVERAL) + 1 + 3 + 1 + (1 + 3) + (1 + 2) + 6
    assert (judge.calls, judge.passages) == (2, 3)


def costs(tokens: list[float], judged: list[float], recalls: list[float]) -> Costs:
    return Costs(tokens, judged, [1.0] * len(tokens), recalls, [0, 1] * (len(tokens) // 2))


SINGLE = costs([100, 100, 300, 500], [1, 1, 3, 40], [1, 1, 1, 0])
MULTI = costs([100, 100, 300, 300], [1, 1, 3, 40], [1, 1, 0, 0])


def test_the_share_saved_is_of_all_tokens() -> None:
    percent, low, high = saved_percent(SINGLE, MULTI)
    assert percent == pytest.approx(20.0)  # 800 instead of 1,000
    assert low <= percent <= high
    assert saved_percent(SINGLE, MULTI, np.array([False, True, False, True]))[0] == pytest.approx(100 / 3)
