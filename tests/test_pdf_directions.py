"""Text of a PDF that stands sideways, upside down or aslant, and what of a PDF cannot be read."""

from __future__ import annotations

import pytest
from document_files import laid_out, put

from assistant.library.formats.outlines import Reading
from assistant.library.formats.pdf_reader import read_pdf

_ROWS = [("Service", "Interval", "Fluid"), ("Oil", "6 months", "synthetic"), ("Coolant", "2 years", "orange")]
_ROWS += [("Brakes", "3 years", "light")]
_AS_READ = (
    "Service: Oil | Interval: 6 months | Fluid: synthetic\n"
    "Service: Coolant | Interval: 2 years | Fluid: orange\n"
    "Service: Brakes | Interval: 3 years | Fluid: light"
)


def _read(*pages: str) -> Reading:
    return read_pdf(laid_out(list(pages)), "a.pdf")


def _told(reading: Reading) -> list[tuple[str, str]]:
    return [(" › ".join(section.path), section.text) for section in reading.sections]


def _sideways(degrees: int) -> str:
    """A table on a page of 600 by 800 points, set so that it is read with the page turned."""
    put_at = {
        0: lambda x, y: (x, 800 - y),
        90: lambda x, y: (y, x),
        180: lambda x, y: (600 - x, y),
        270: lambda x, y: (600 - y, 800 - x),
    }[degrees]
    cells = [(50 + 150 * c, 100 + 20 * r, cell) for r, row in enumerate(_ROWS) for c, cell in enumerate(row)]
    return "".join(put(*put_at(x, y), cell, degrees=degrees) for x, y, cell in cells)


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_a_table_is_read_however_it_is_turned(degrees: int) -> None:
    assert _told(_read(_sideways(degrees))) == [("page 1", _AS_READ)]


def test_a_sideways_note_in_the_margin_is_read_by_itself_and_names_nothing() -> None:
    page = put(50, 700, "The office opens at ten.") + put(50, 686, "It closes at four.")
    note = put(20, 200, "Draft of May", size=20, degrees=90)
    assert _told(_read(page + note, put(50, 700, "No ship leaves."))) == [
        ("page 1", "The office opens at ten.\nIt closes at four."),
        ("page 1", "Draft of May"),
        ("page 2", "No ship leaves."),
    ]


def test_what_stands_upright_on_every_page_is_left_out_where_a_page_is_turned_too() -> None:
    head = put(50, 780, "Handbook of the harbour")
    pages = [head + put(50, 600, "The office opens at ten."), head + _sideways(90)]
    assert [text for _, text in _told(_read(*pages))] == ["The office opens at ten.", _AS_READ]


def test_letters_that_stand_aslant_are_left_out_and_counted() -> None:
    page = put(50, 700, "The office opens at ten.") + put(100, 300, "DRAFT", size=90, degrees=45)
    reading = _read(page, put(50, 700, "No ship leaves."), page, page)
    assert [text for _, text in _told(reading)][:2] == ["The office opens at ten.", "No ship leaves."]
    assert reading.lost == ("is read without 15 letters that stand aslant, on pages 1, 3 to 4",)


def test_a_page_that_is_a_picture_is_told_of() -> None:
    picture = b"q 600 0 0 800 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x00 EI Q".decode("latin-1")
    reading = _read(put(50, 700, "The office opens at ten."), picture, "")
    assert reading.lost == ("holds pictures instead of text, which are not read, on page 2",)
