"""Where several statements answer, all of them are listed, oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from agent_fakes import FixedEncoder, source

from agents.answering.listing import Listed, Lister
from agents.answering.memory_answers import MemoryAnswer, Remembered
from agents.languages.signs import LABELS, ORDERS, SEVERAL, Signs
from stores.base.clock import time_by
from stores.base.statement_links import ReplacedBy

QUESTION = "what do i need?"
NEAR, FAR = (1, 0, 0, 0), (-1, 0, 0, 0)
NOW = datetime(2026, 9, 16, 12, tzinfo=UTC)


class Asking:
    """Heads that say what every message asks for."""

    def __init__(self, wanted: str, *, several: float = 0.9, is_open: float = 0.0) -> None:
        asked = dict.fromkeys(SEVERAL, 0.0) | ({wanted: several} if wanted in SEVERAL else {})
        labels, orders = dict.fromkeys(LABELS, 0.0), dict.fromkeys(ORDERS, 0.0)
        self._signs = Signs(labels, orders, 0.0, 0.0, asked, is_open)

    def is_english(self, text: str) -> bool:
        return True

    def language(self, text: str) -> str:
        return "en"

    def signs(self, texts: Sequence[str]) -> list[Signs]:
        return [self._signs for _ in texts]


def told(number: int, text: str, *, day: int = 1, gone: float = 0.0) -> MemoryAnswer:
    found = source(number, text)
    replaced = (ReplacedBy(99, gone),) if gone else ()
    passage = replace(
        found.passage, created_at=datetime(2026, 9, day, 12, tzinfo=UTC), kind="fact", replaced_by=replaced
    )
    return MemoryAnswer(Remembered(replace(found, passage=passage), text, (passage,)), text, 0.1)


def listed(
    asking: Asking, *said: MemoryAnswer, question: str = QUESTION, far: Sequence[str] = ()
) -> Listed | None:
    vectors = {one.statement.text: FAR if one.statement.text in far else NEAR for one in said}
    with time_by(lambda: NOW):
        return Lister(FixedEncoder(vectors | {question: NEAR}), asking).listed(question, said)


def texts(found: Listed | None) -> list[str]:
    return [one.text for one in found.statements] if found else []


def test_all_that_answers_is_listed_oldest_first() -> None:
    said = told(1, "bread", day=3), told(2, "milk", day=2), told(3, "Ines has a dog", day=1)
    found = listed(Asking("all"), *said, far=["Ines has a dog"])
    assert found == Listed("all", (said[1].statement, said[0].statement))


def test_of_the_latest_that_alone_is_told() -> None:
    said = told(1, "saw the dentist", day=3), told(2, "saw the dentist again", day=5)
    assert texts(listed(Asking("latest"), *said)) == ["saw the dentist again"]


@pytest.mark.parametrize("asking", [Asking("one"), Asking("all", several=0.1)])
def test_who_asks_for_one_thing_gets_no_list(asking: Asking) -> None:
    assert listed(asking, told(1, "bread"), told(2, "milk")) is None


def test_one_alone_is_no_list() -> None:
    assert listed(Asking("count"), told(1, "bread"), told(2, "a dog"), far=["a dog"]) is None
    assert listed(Asking("all")) is None


def test_what_is_over_is_left_out_of_what_is_open() -> None:
    said = (
        told(1, "bread"),
        told(2, "milk", gone=0.9),
        told(3, "cake for the 10 september", day=2),
        told(4, "wine for the 20 september", day=3),
    )
    assert texts(listed(Asking("all", is_open=0.9), *said)) == ["bread", "wine for the 20 september"]
    assert len(texts(listed(Asking("all"), *said))) == 4


def test_what_is_on_is_listed_by_day() -> None:
    said = (
        told(1, "party on saturday", day=13),
        told(2, "visit on 17 september", day=14),
        told(3, "lunch on tuesday", day=13),  # over
        told(4, "choir every thursday", day=1),
        told(5, "Ines came", day=15),
    )
    found = listed(Asking("all"), *said, question="what is on this week?")
    assert texts(found) == ["choir every thursday", "visit on 17 september", "party on saturday"]
    assert found is not None
    assert [days.first.day for days in found.days] == [17, 17, 19]
