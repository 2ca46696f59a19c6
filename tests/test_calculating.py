"""Sums and weekdays: answered where a message asks for nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.answering.calculating import Calculator
from agents.models.encoders.encoder import OnnxEncoder
from stores.base.clock import time_by


@pytest.fixture(scope="module")
def calculator(minilm_folder: Path) -> Calculator:
    return Calculator(OnnxEncoder(minilm_folder))


def asked(calculator: Calculator, message: str) -> str | None:
    with time_by(lambda: datetime(2026, 7, 4, 12, tzinfo=UTC)):
        return calculator.answer(message)


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("17*23", "17*23 = 391"),
        ("what is 17*23?", "17*23 = 391"),
        ("How much is (12 + 8) × 5?", "(12 + 8) × 5 = 100"),
        ("1/3 =", "1/3 = 0.3333333333"),
        ("what's 2^10", "2^10 = 1024"),
        ("what day is 3 May?", "3 May 2027 is a Monday."),
        ("what day is 24 December", "24 December 2026 is a Thursday."),
        ("what day of the week was 12 March 1999?", "12 March 1999 was a Friday."),
        ("which weekday is 29 February", "29 February 2028 is a Tuesday."),
    ],
)
def test_what_needs_no_document_is_computed(calculator: Calculator, message: str, answer: str) -> None:
    assert asked(calculator, message) == answer


@pytest.mark.parametrize(
    "message",
    [
        "22-2 in the hour field",
        "I have 12+8 eggs",
        "what does error 12-4 mean",
        "is the shop open on 3 May?",
        "what day is the meeting on 3 May?",
        "what day is it in 10 days",
        "2026-05-03",
        "9**9**9",
        "1/0",
        "what is 12",
        "what day is it",
        "10:30 - 12:00",
        "port 8080",
        "a warm 12:30 F on 3 May",
    ],
)
def test_all_else_is_looked_up(calculator: Calculator, message: str) -> None:
    assert asked(calculator, message) is None


@given(st.text(st.sampled_from("0123456789+-*/^()., what is day May FXZ"), max_size=40))
def test_no_message_makes_it_fail(calculator: Calculator, message: str) -> None:
    answer = asked(calculator, message)
    assert answer is None or " = " in answer or answer.endswith("day.")
