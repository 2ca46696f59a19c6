"""Months and domains as the training screen tells them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from round_rows import comparison, keep, of, promoted, running
from screen_fixtures import on_screen

from assistant.terminal.facts.training import comparison_of, measured_table, slices_of, training_facts
from assistant.terminal.facts.training_lines import round_line, slice_name, table_lines
from assistant.terminal.training.round_page import _figures, _held_out
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


@pytest.mark.parametrize("name", ["2026-10", "x" * 27, "規則" * 20])
def test_a_name_takes_its_column_and_no_more(name: str) -> None:
    shown = slice_name(name)
    assert cell_len(shown) == 26
    assert shown.strip().endswith(name[-5:])


# The table, and from what a round learns


def test_the_table_tells_recall_among_ten_and_what_was_forgotten_most() -> None:
    kept = promoted()
    lines = table_lines(kept, 36)
    assert [line.split()[0] for line in lines] == ["in", "nDCG@10", "R@5", "R@10", "forgetting"]
    assert lines[3] == "R@10        80.0       80.0   +0.00"
    assert lines[4] == "forgetting 2026-10            -0.40"
    kept.figures["comparison"]["domains"] = [
        {"name": "/home/ann/notes/a long name.md", "gain": -0.02, "questions": 40}
    ]
    assert table_lines(kept, 36)[4:] == [
        "forgetting …/a long name.md   -2.00",
        "2026-10                       -0.40",
    ]
    kept.figures["comparison"] |= {"domains": [], "slices": {"2026-10": {"gain": 0.004, "questions": 96}}}
    assert table_lines(kept, 36)[4:] == [
        "forgetting                    +0.00",
        "2026-10                       +0.40",
    ]
    kept.figures["comparison"]["slices"] = {}
    assert len(table_lines(kept, 36)) == 4  # no month was large enough: nothing is claimed


def test_held_out_questions_that_no_passage_answers_are_told() -> None:
    kept = promoted()
    assert list(_held_out(kept)) == [
        "Held-out questions: 240"
    ]  # a round of before: how many were asked is not kept
    kept.figures["comparison"]["asked"] = 242
    table = measured_table(kept)
    assert table is not None
    assert table.title == "Held-out questions: 240 of 242"
    assert list(_held_out(kept)) == [
        "Held-out questions: 240 of 242",
        "For 2 of them the judge found no answer in what either model found.",
    ]


async def test_a_round_that_runs_tells_from_what_it_learns(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["One [1]."], ["Two [1]."], ["Three [1]."]]) as chat:
        for message in ("One?", "Two?", "/good 1", "/bad 2", "/teach Three it is."):
            await chat.asks(message)
        running_now = running(1)
        running_now.created_at = datetime.now(UTC)
        keep(of(chat), running_now)
        await chat.presses("f4")
        await chat.shows("from 97 lessons, 2 ratings, 1 correction")
        facts = training_facts(of(chat))
        assert training_facts(of(chat), facts).lineage is facts.lineage  # counted once
        assert round_line(facts, promoted(9), 200).count("lessons") == 0
