"""Months and domains as the training screen tells them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from rich.cells import cell_len
from round_rows import comparison

from assistant.terminal.facts.training import comparison_of, slices_of
from assistant.terminal.facts.training_lines import slice_name, table_lines
from assistant.terminal.training.round_page import _figures
from stores.database.tables import Round

LOSS = {"name": "/home/ann/documents/rules of the rooms", "gain": -0.031, "low": -0.05, "high": 0.0}
OWN = {"name": "own", "gain": 0.02, "low": 0.0, "high": 0.05, "questions": 31}


def compared(**figures: Any) -> Round:
    told = {**comparison(0.021), **figures}
    began = datetime(2026, 11, 18, tzinfo=UTC)
    return Round(id=1, recipe="retriever", state="refused", figures={"comparison": told}, created_at=began)


def test_months_and_domains_are_told_with_their_questions() -> None:
    row = compared(domains=[{**LOSS, "questions": 40}, OWN])
    assert slices_of(row) == [
        ("2026-10", -0.004, 96),
        ("domain /home/ann/documents/rules of the rooms", -0.031, 40),
        ("domain own", 0.02, 31),
    ]
    assert set(comparison_of(row)) == {"R@5", "R@10", "nDCG@10"}, "slices are no measures"


def test_a_round_of_before_there_were_domains_tells_its_months() -> None:
    assert slices_of(compared()) == [("2026-10", -0.004, 96)]


def test_the_table_tells_the_worst_first_and_the_end_of_a_long_name() -> None:
    lines = table_lines(compared(domains=[{**LOSS, "questions": 40}, OWN]), 60)
    assert [line.split() for line in lines[-3:]] == [
        ["forgetting", "…es", "of", "the", "rooms", "-3.10"],
        ["2026-10", "-0.40"],
        ["domain", "own", "+2.00"],
    ]
    assert len({len(line) for line in lines[-3:]}) == 1
    assert lines[0].split() == ["in", "%", "live", "candidate", "points"]
    assert len(lines[0]) == len(lines[-1]), "the unit stands above the differences"


def test_the_page_of_a_round_tells_a_domain_with_its_questions() -> None:
    told = "\n".join(_figures(compared(domains=[OWN])))
    assert "domain own                  +2.00 points on 31 questions" in told


@pytest.mark.parametrize("name", ["2026-10", "x" * 26, "x" * 27, "規則" * 20, "x" + "規" * 13])
def test_a_name_takes_its_column_and_no_more(name: str) -> None:
    shown = slice_name(name)
    assert cell_len(shown) == 26
    assert shown.strip().endswith(name[-5:])
