"""Curves in characters."""

from __future__ import annotations

import math

import pytest

from assistant.terminal.text.plot import plot, sparkline


def test_a_falling_line_goes_from_the_upper_left_to_the_lower_right() -> None:
    assert plot([(0, 3.0), (10, 1.0)], width=14, height=5) == [
        "3.0 ┤⠑⠢⣀      ",
        "    │   ⠑⠢⢄   ",
        "1.0 ┤      ⠉⠢⢄",
        "    └─────────",
        "     0   5  10",
    ]


@pytest.mark.parametrize(("width", "height"), [(14, 5), (36, 8), (60, 20), (13, 4)])
def test_every_row_fits_and_the_curve_begins_high_and_ends_low(width: int, height: int) -> None:
    rows = plot([(1, 2.0), (50, 1.0), (100, 0.5)], width=width, height=height, ends_at=100)
    assert len(rows) == height
    assert all(len(row) <= width for row in rows)
    assert rows[0].strip().startswith("2.0")
    assert rows[-3].strip().startswith("0.5")
    assert rows[-1].split()[0] == "0"
    assert rows[-1].split()[-1] == "100"
    assert rows[-3][-1] != " "  # the last value is the lowest, and stands at the right end


def test_a_curve_that_is_half_way_leaves_the_right_half_empty() -> None:
    rows = plot([(0, 2.0), (50, 1.0)], width=45, height=8, ends_at=100)
    left = rows[0].index("┤") + 1
    assert all(not row[left + 22 :].strip() for row in rows[:-2])
    assert any(row[left : left + 20].strip() for row in rows[:-2])


def test_what_cannot_be_drawn_is_nothing() -> None:
    assert plot([], width=40, height=8) == []
    assert plot([(1, 1.0)], width=40, height=8) == []
    assert plot([(1, 1.0), (2, math.nan)], width=40, height=8) == []
    assert plot([(1, 1.0), (2, 0.5)], width=6, height=8) == []
    assert plot([(1, 1.0), (2, 0.5)], width=40, height=3) == []


def test_a_flat_curve_and_tiny_or_huge_values_are_drawn_too() -> None:
    for y, other in ((1.0, 1.0), (1e-7, 2e-7), (1e9, 2e9), (0.0, 0.0)):
        rows = plot([(0, y), (10, other)], width=40, height=8)
        assert len(rows) == 8
        assert all(len(row) <= 40 for row in rows)


def test_a_sparkline_has_the_lowest_block_for_the_least_and_the_highest_for_the_most() -> None:
    assert sparkline([8, 4, 1], 10) == "█▄▁"
    assert sparkline([4, 4, 0, 0], 2) == "█▁"  # the means of two
    assert sparkline([1, 1], 5) == "▁▁"
    assert sparkline([], 5) == ""
    assert sparkline([1, 2], 0) == ""
    assert len(sparkline(range(1000), 7)) == 7
