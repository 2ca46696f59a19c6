"""Sums, means, ends and counts over the rows of a table in a document, or why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from agent_fakes import FixedEncoder, passage, source

from agents.answering.quoting import Quoter
from agents.backends.extractive import ExtractiveChat
from agents.base.chat_interfaces import ReplyRequest, Tabulated
from agents.base.interfaces import Encoder
from agents.dialogue.tabulating import Tabulator, holds_rows
from agents.dialogue.wish_parser import Change, Meant, WishParser
from agents.models.dialogue_arrays import VECTOR
from agents.models.wish_network import TotalHead

FOOD = "Category: food | Amount: 4.50 € | By: Ines"
MORE_FOOD = "Category: food | Amount: 10.25 € | By: Olaf"
BUS = "Category: transport | Amount: 29 € | By: Olaf"
OF_FOOD = Change("Category", "is", "food")


class FixedMeaning:
    """A parser, and a head for sums and means, that always say the same."""

    def __init__(self, meant: Meant, total: str = "none") -> None:
        self._meant, self._total = meant, total

    def meant(self, message: str, table: object) -> Meant:
        return self._meant

    def chances(self, message: str) -> dict[str, float]:
        return {each: 0.9 if each == self._total else 0.05 for each in ("none", "sum", "mean")}


def counted(meant: Meant, total: str = "none", *texts: str) -> Tabulated | None:
    told = FixedMeaning(meant, total)
    tabulator = Tabulator(cast(WishParser, told), cast(TotalHead, told))
    rows = texts or (f"{FOOD}\n{BUS}", f"And so on.\n\n{MORE_FOOD}")
    return tabulator.answer("asked", [passage(number, text) for number, text in enumerate(rows, start=1)])


def text_of(meant: Meant, total: str = "none", *texts: str) -> str:
    found = counted(meant, total, *texts)
    assert found is not None
    return found.text


@pytest.mark.parametrize(
    ("meant", "total", "text", "rows"),
    [
        (
            Meant((OF_FOOD,)),
            "sum",
            "Sum of Amount: 14.75 €, of 2 rows with Category: food.",
            [FOOD, MORE_FOOD],
        ),
        (Meant(), "mean", "Mean of Amount: 14.58 €, of 3 rows.", [FOOD, BUS, MORE_FOOD]),
        (Meant(best=("Amount", "highest")), "none", "Highest Amount: 29.00 €, of 3 rows.", [BUS]),
        (Meant((OF_FOOD,), act="count"), "sum", "2 of 3 rows have Category: food.", [FOOD, MORE_FOOD]),
    ],
)
def test_what_is_asked_is_counted_and_shown_with_its_rows(
    meant: Meant, total: str, text: str, rows: list[str]
) -> None:
    found = counted(meant, total)
    assert found is not None
    assert (found.text, [row for _, row in found.rows]) == (text, rows)


def test_what_lies_at_a_limit_is_told_apart_from_what_lies_beyond() -> None:
    over = Meant((Change("Amount", "least", "10.25"),), act="count")
    assert text_of(over) == "1 of 3 rows have Amount: at least 10.25, and 1 more at the limit itself."


@pytest.mark.parametrize(
    "meant", [Meant(), Meant(act="count"), Meant((OF_FOOD,)), Meant(act="ask"), Meant(unsure=("olaf",))]
)
def test_what_asks_for_nothing_of_the_kind_is_answered_otherwise(meant: Meant) -> None:
    assert counted(meant, "sum" if meant.unsure else "none") is None


def test_what_cannot_be_counted_is_said_with_the_reason() -> None:
    two = ("Beer: A | ABV: 4 % | Price: £4", "Beer: B | ABV: 6 % | Price: £5")
    assert text_of(Meant(), "sum", *two) == "I cannot tell which column is meant; ABV, Price have numbers."
    assert text_of(Meant(asks=("Price",)), "sum", *two).startswith("Sum of Price: £9,")
    mixed = ("Run: a | Way: 4 km", "Run: b | Way: far")
    assert "“far” is no number" in text_of(Meant(best=("Way", "highest")), "none", *mixed)
    units = ("Run: a | Way: 4 km", "Run: b | Way: 300 m")
    assert "different units" in text_of(Meant(best=("Way", "lowest")), "none", *units)


def test_only_rows_of_a_document_are_a_table() -> None:
    assert holds_rows(source(1, FOOD).passage)
    assert not holds_rows(source(1, "Prose: it has no cells.").passage)
    assert not holds_rows(source(1, FOOD, kind="message").passage)


async def test_the_answer_cites_the_rows_that_were_found_and_shows_the_others() -> None:
    prose, first = source(1, "Prose."), source(2, FOOD)
    rows = ((first.passage.version_id, FOOD), (99, BUS), *((98, MORE_FOOD) for _ in range(10)))
    chat = ExtractiveChat(Quoter(FixedEncoder({}), threshold=0.5, quotes=1))
    counted = Tabulated("Sum: 3.", rows, found_in=first.passage.version_id)
    request = ReplyRequest((), "x", "x", (prose, first), tabulated=counted)
    lines = "".join([piece async for piece in chat.stream(request)]).splitlines()
    assert lines[:3] == ["Sum: 3. [2]", f"{FOOD} [2]", BUS]
    assert lines[-1] == "and 2 more rows"


class Ones:
    """An encoder to whom everything is the same."""

    def encode_queries(self, texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), VECTOR), np.float32)


def test_the_head_that_comes_with_vouch_reads_vectors_of_the_packaged_encoder() -> None:
    assert sum(TotalHead(cast(Encoder, Ones())).chances("total").values()) == pytest.approx(1)


def test_a_last_row_that_is_the_sum_of_the_others_is_left_out() -> None:
    rows = "Item: tea | Cost: 10\nItem: rice | Cost: 5\nItem: all | Cost: 15"
    assert text_of(Meant(), "sum", rows).startswith("Sum of Cost: 15, of 2 rows, without the last one")
    assert text_of(Meant(best=("Cost", "highest")), "none", rows).startswith("Highest Cost: 10, of 2 rows")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (("1,234.50", "99.50"), "Sum of Price: 1334.00"),
        (("1.200", "80,50"), "written in more than one way"),
        (("10 m²", "20 m²"), "Sum of Price: 30 m²"),
        (("−5", "8"), "Sum of Price: 3"),
    ],
)
def test_numbers_are_read_as_they_are_written_or_not_at_all(values: tuple[str, str], told: str) -> None:
    rows = "\n".join(f"Item: thing {number} | Price: {value}" for number, value in enumerate(values))
    assert told in text_of(Meant(), "sum", rows)


def test_lengths_and_areas_are_not_added() -> None:
    assert counted(Meant(), "sum", "Item: a | Size: 12 m²\nItem: b | Size: 3 m") is None


def test_a_digit_in_the_name_of_a_column_is_no_limit() -> None:
    rows = "Region: north | Q1: 10 | Q2: 20\nRegion: south | Q1: 11 | Q2: 1\nRegion: west | Q1: 1 | Q2: 2"
    wrong = Meant((Change("Q2", "most", "2"),), best=("Q1", "highest"))
    told = Tabulator(cast(WishParser, FixedMeaning(wrong)), cast(TotalHead, FixedMeaning(wrong)))
    found = told.answer("What is the highest Q2?", [passage(1, rows)])
    assert found is not None
    assert found.text.startswith("Highest Q2: 20, of 3 rows")


def test_tables_with_the_same_columns_are_not_added_together() -> None:
    told = FixedMeaning(Meant(), "sum")
    tabulator = Tabulator(cast(WishParser, told), cast(TotalHead, told))
    years = [
        replace(
            passage(number, f"Month: Jan | Spent: {number}\nMonth: Feb | Spent: 5"),
            title=f"Budget › {2022 + number}",
        )
        for number in (1, 2)
    ]
    found = tabulator.answer("Sum of Spent", years)
    assert found is not None
    assert "cannot tell which table" in found.text
    assert "2023" in found.text
