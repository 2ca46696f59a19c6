"""What Training tells in figures: the table of the held-out questions, and from what a round learns."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from round_rows import keep, of, promoted, running
from screen_fixtures import on_screen

from assistant.terminal.facts.training import measured_table, training_facts
from assistant.terminal.facts.training_lines import round_line, table_lines
from assistant.terminal.training.round_page import _held_out


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
