"""Tables are read as they are looked at: spanning cells, names above columns, numbers in their formats."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Any

import pytest

from assistant.library.formats.html_reader import read_html
from assistant.library.formats.number_formats import shown_number
from assistant.library.formats.outlines import Reading
from assistant.library.formats.packed_files import read_pptx
from assistant.library.formats.table_readers import read_csv, read_xlsx


def _text(reading: Reading) -> str:
    return "\n\n".join(section.text for section in reading.sections)


def _html(table: str) -> str:
    return _text(read_html(f"<body><table>{table}</table></body>".encode(), "a.html"))


def _sheet(
    rows: list[list[Any]], *merged: str, change: Callable[[Any], None] = lambda sheet: None
) -> Reading:
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "S"
    for row in rows:
        book.active.append(row)
    for cells in merged:
        book.active.merge_cells(cells)
    change(book.active)
    file = io.BytesIO()
    book.save(file)
    return read_xlsx(file.getvalue(), "a.xlsx")


# HTML


def test_a_cell_over_several_rows_stands_in_each_under_a_header_of_two_rows() -> None:
    head = "<tr><th rowspan=2>Boat</th><th colspan=2>Summer</th></tr>"
    rows = "<tr><th>Hour</th><th>Day</th></tr><tr><td rowspan=2>Punt</td><td>11</td><td>60</td></tr>"
    assert _html(f"{head}{rows}<tr><td>12</td><td>66</td></tr>") == (
        "Boat: Punt | Summer Hour: 11 | Summer Day: 60\nBoat: Punt | Summer Hour: 12 | Summer Day: 66"
    )


def test_a_cell_over_several_columns_has_all_their_names() -> None:
    head = "<tr><th>Bath</th><th>Mon</th><th>Tue</th><th>Wed</th></tr>"
    assert _html(f"{head}<tr><td>North</td><td colspan=2>closed</td><td>10</td></tr>") == (
        "Bath: North | Mon, Tue: closed | Wed: 10"
    )


def test_a_cell_all_across_is_a_line_without_names() -> None:
    title, head = "<tr><th colspan=2>Rates of May</th></tr>", "<tr><th>Boat</th><th>Fee</th></tr>"
    rows = "<tr><td colspan=2>With sails</td></tr><tr><td>Sloop</td><td>23</td></tr>"
    assert _html(title + head + rows) == "Rates of May\n\nWith sails\nBoat: Sloop | Fee: 23"


def test_a_row_that_names_itself_is_no_header() -> None:
    rows = "<tr><th rowspan=2>Mon</th><td>swim</td></tr><tr><td>dive</td></tr>"
    assert _html(rows) == "Mon | swim\nMon | dive"


def test_a_cell_reaches_no_further_than_its_part_of_the_table() -> None:
    head = "<thead><tr><td>Boat</td><td>Fee</td></tr></thead>"
    parts = [
        f"<tbody><tr><td rowspan=0>{boat}</td><td>1</td></tr><tr><td>2</td></tr></tbody>" for boat in "AB"
    ]
    assert _html(head + "".join(parts)) == (
        "Boat: A | Fee: 1\nBoat: A | Fee: 2\nBoat: B | Fee: 1\nBoat: B | Fee: 2"
    )


def test_ends_of_cells_and_rows_need_not_be_written() -> None:
    assert _html("<tr><th>Boat<th>Fee<tr><td rowspan=2>Punt<td>11<tr><td>12") == (
        "Boat: Punt | Fee: 11\nBoat: Punt | Fee: 12"
    )


def test_a_table_that_lays_out_a_page_is_read_as_it_comes() -> None:
    assert _html("<tr><td colspan=2><h1>News</h1></td></tr><tr><td>Left</td><td><p>One.</p></td></tr>") == (
        "Left\n\nOne."
    )


def test_a_cell_that_claims_a_million_columns_does_no_harm() -> None:
    head = "<tr><th colspan=1000000>Boat</th></tr><tr><td>Punt</td><td rowspan=999999999>5</td></tr>"
    assert _html(head + "<tr><td>Skiff</td></tr>") == "Boat\n\nPunt | 5\nSkiff | 5"


# Excel


def test_merged_cells_stand_in_each_row_under_each_name() -> None:
    rows = [
        ["Rates", None, None],
        ["Region", "Summer", None],
        [None, "Hour", "Day"],
        ["North", 4, 9],
        [None, "closed", None],
    ]
    reading = _sheet(rows, "A1:C1", "A2:A3", "B2:C2", "A4:A5", "B5:C5")
    assert _text(reading) == (
        "Rates\n\nRegion: North | Summer Hour: 4 | Summer Day: 9\n"
        "Region: North | Summer Hour, Summer Day: closed"
    )


def test_values_are_read_as_the_sheet_shows_them() -> None:
    row = [0.475, 7, "0007", False, datetime(2026, 11, 2, 14, 15), time(7, 30), timedelta(hours=26)]

    def change(sheet: Any) -> None:
        sheet["A1"].number_format, sheet["B1"].number_format = "0.0%", "0000"

    assert _text(_sheet([row], change=change)) == (
        "47.5% | 0007 | 0007 | False | 2026-11-02 14:15 | 07:30 | 26:00"
    )


def test_formulas_without_a_result_are_told_of() -> None:
    reading = _sheet([["a", "sum"], [1, "=A2+1"], [2, "=A3+1"]])
    (told,) = reading.lost
    assert told.startswith("sheet 'S' is read without the results of 2 formulas")


def test_comments_and_charts_of_a_sheet_are_told_of() -> None:
    from openpyxl.chart import BarChart
    from openpyxl.comments import Comment

    def change(sheet: Any) -> None:
        sheet["A1"].comment, sheet["A2"].comment = Comment("Ask Ida.", "x"), Comment("Ask Bo.", "x")
        sheet.add_chart(BarChart(), "D1")

    assert _sheet([["Region"], ["North"]], change=change).lost == (
        "is read without what stands in comments (2)",
        "is read without what stands in charts (1)",
    )


def test_a_merged_cell_goes_on_over_rows_that_hold_nothing_and_a_far_cell_is_told_of() -> None:
    def change(sheet: Any) -> None:
        sheet["B7"], sheet["GR7"], sheet["GX9"] = "tar", "200th", "far"

    reading = _sheet([["Region", "Item"], ["North", "rope"]], "A2:A8", change=change)
    assert _text(reading) == "Region: North | Item: rope\nRegion: North | Item: tar | 200th"
    (told,) = reading.lost
    assert told.startswith("sheet 'S' has more than 200 columns")


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (1500, '#,##0.00 "EUR"', "1,500.00 EUR"),
        (-3.5, '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)', "(3.50)"),
        (0, '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)', "-"),
        (-1234.5, '"$"#,##0.00', "-$1,234.50"),
        (12345, "[$€-407] #,##0", "€ 12,345"),
        (2_500_000, '0.0,,"M"', "2.5M"),
        (123456789, "000\\-00\\-0000", "123-45-6789"),
        (12345.678, "0.00E+00", "1.23E+04"),
        (0.125, "0.00", "0.13"),
        (-0.001, "0.00", "0.00"),
        (-5, "0;[Red]-0", "-5"),
        (3, "0.0#", "3.0"),
        (0.1 + 0.2, "General", "0.3"),
        (0.5, "# ?/?", "0.5"),
        (1500, '[>=1000]0,"k";0', "1500"),
        (float("inf"), "0", "inf"),
    ],
)
def test_a_number_in_its_format(value: float, number_format: str, shown: str) -> None:
    assert shown_number(value, number_format) == shown


# CSV


@pytest.mark.parametrize("line", ["sep=;", "SEP=;", '"sep=;"'])
def test_the_line_that_names_the_separator_is_no_row(line: str) -> None:
    data = f"\ufeff{line}\r\nitem, kind;price\r\nsaw, old;12,50\r\n".encode()
    assert _text(read_csv(data, "a.csv")) == "item, kind: saw, old | price: 12,50"


# PowerPoint


def test_what_is_grouped_or_spans_on_a_slide_is_read_and_a_chart_is_told_of() -> None:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    inner = slide.shapes.add_group_shape().shapes.add_group_shape()
    inner.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "Tide table on request."
    table = slide.shapes.add_table(3, 3, 0, 0, 9, 9).table
    for cell, words in zip(table.iter_cells(), "Berth May June North 5 6 _ closed _".split(), strict=True):
        cell.text = words.strip("_")
    table.cell(1, 0).merge(table.cell(2, 0))
    table.cell(2, 1).merge(table.cell(2, 2))
    data = CategoryChartData()
    data.categories = ["May"]
    data.add_series("Boats", (5,))
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, 9, 9, data)
    file = io.BytesIO()
    deck.save(file)
    reading = read_pptx(file.getvalue(), "a.pptx")
    assert _text(reading) == (
        "Tide table on request.\n\nBerth: North | May: 5 | June: 6\nBerth: North | May, June: closed"
    )
    assert reading.lost == ("is read without what stands in charts or diagrams (1)",)
