"""What counts as a right list."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from agents.backends.extractive import NOT_SURE, NOT_TOLD
from assistant.turns.events import Finished
from benchmarks.lists import Scored, scored

SAYS = [{"d": "2026-03-01", "t": text} for text in ("we need milk", "got a dog", "we need bread too")]


def answered(answer: str, *places: int) -> Finished:
    sources = [SimpleNamespace(passage=SimpleNamespace(text=SAYS[n]["t"])) for n in places]
    return cast(Finished, SimpleNamespace(answer=answer, cited=sources))


def asking(kind: str, *places: int) -> dict[str, Any]:
    return {"q": "", "kind": kind, "from": list(places)}


@pytest.mark.parametrize(
    ("asked", "finished", "wanted"),
    [
        (asking("list", 0, 2), answered("You said", 0, 2), Scored("list", 1.0, True, False)),
        (asking("count", 0, 2), answered("2. You said", 2, 0), Scored("count", 1.0, True, True)),
        (asking("list", 0, 2), answered("You said", 1, 2), Scored("list", 0.5, False, False)),
        (asking("list", 0, 2), answered(NOT_TOLD, 0, 2), Scored("list", 0.0, False, False)),
        (asking("empty"), answered(NOT_SURE, 1), Scored("empty", 1.0, True, False)),
        (asking("empty"), answered("You said", 1), Scored("empty", 0.0, False, False)),
    ],
)
def test_an_answer_is_scored_by_what_it_cites(
    asked: dict[str, Any], finished: Finished, wanted: Scored
) -> None:
    assert scored(asked, SAYS, finished) == wanted
