"""Tables, slides, books, e-mails, notebooks and marked-up text, each read as a person reads it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from datetime import date

import pytest
from document_files import Write, pairs, read, refusal, write

from assistant.library.documents import find_documents

__all__ = ["write"]  # a fixture


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plans.csv", "Plan,Price\nSmall,12 €\n\n,30 €,new\n"),
        ("plans.csv", "Plan;Price\nSmall;12 €\n;30 €;new\n"),
        ("plans.tsv", "Plan\tPrice\nSmall\t12 €\n\t30 €\tnew\n"),
    ],
)
def test_a_row_of_a_table_stands_with_the_names_of_its_columns(write: Write, name: str, content: str) -> None:
    assert pairs(read(write(name, content))) == [("plans", "Plan: Small | Price: 12 €\nPrice: 30 € | new")]


def test_a_sheet_of_excel_is_a_section(write: Write) -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "Prices"
    for row in (["Plan", "Price", "Since"], ["Small", 12, date(2026, 5, 1)], [None, None, None]):
        book.active.append(row)
    book.create_sheet("Empty")
    book.create_sheet("Note").append(["Prices without tax."])
    buffer = io.BytesIO()
    book.save(buffer)
    assert pairs(read(write("a.xlsx", buffer.getvalue()))) == [
        ("a", "Prices\n\nPlan: Small | Price: 12 | Since: 2026-05-01\n\nNote\n\nPrices without tax.")
    ]
    assert "damaged" in refusal(write("b.xlsx", buffer.getvalue()[:-200]))


def test_a_slide_is_a_section_with_its_table_and_notes(write: Write) -> None:
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Opening hours"
    slide.placeholders[
        1
    ].text = "Open at ten.\nClosed on Monday, as every week of the year, and on all days of the feast."
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(2), Inches(1)).table
    for cell, text in zip(table.iter_cells(), ["Day", "Time", "Tue", "10"], strict=True):
        cell.text = text
    slide.notes_slide.notes_text_frame.text = (
        "Say it slowly, and name the door that is open to visitors on Sunday."
    )
    buffer = io.BytesIO()
    deck.save(buffer)
    assert pairs(read(write("a.pptx", buffer.getvalue()))) == [
        (
            "a › slide 1: Opening hours",
            "Open at ten.\nClosed on Monday, as every week of the year, and on all days of the feast.\n\n"
            "Day: Tue | Time: 10\n\nSay it slowly, and name the door that is open to visitors on Sunday.",
        )
    ]


def book(pages: dict[str, str], order: list[str]) -> bytes:
    items = "".join(f'<item id="{n}" href="text/{n}.xhtml"/>' for n in pages)
    spine = "".join(f'<itemref idref="{name}"/>' for name in order)
    package = (
        '<package xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<metadata><dc:title>The Sea</dc:title></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("OPS/book.opf", package)
        for name, text in pages.items():
            archive.writestr(f"OPS/text/{name}.xhtml", text)
    return buffer.getvalue()


def test_a_book_is_read_in_its_order(write: Write) -> None:
    pages = {
        "two": "<h1>Storm</h1><p>" + "The wind rose. " * 30 + "</p>",
        "one": "<h1>Calm</h1><p>" + "The sea lay still. " * 30 + "</p>",
    }
    found = read(write("a.epub", book(pages, ["one", "two", "gone"])))
    assert found.title == "The Sea"
    assert list(dict.fromkeys(passage.title for passage in found.passages)) == [
        "The Sea › Calm",
        "The Sea › Storm",
    ]
    assert "not what its name says" in refusal(write("b.epub", b"PK no archive"))


def test_a_notebook_is_its_text_and_code(write: Write) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Tides\n", "High water is at six."]},
        {"cell_type": "code", "source": "for hour in day:\n    print(hour)", "outputs": [{"text": "never"}]},
    ]
    [(title, text)] = pairs(read(write("a.ipynb", json.dumps({"cells": cells}))))
    assert (title, text) == ("Tides", "High water is at six.\n\nfor hour in day:\n    print(hour)")
    assert "damaged" in refusal(write("b.ipynb", "{"))


MAN = """OPTIONS
-w, --warmup <NUM>
    Perform NUM runs before the benchmark. This fills
    the caches.
-r, --runs <NUM>
    Perform exactly NUM runs.

Smith wrote, and so did
others, that this helps.
"""


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_an_option_is_a_paragraph_with_its_definition(write: Write, name: str) -> None:
    text = MAN.partition("\n")[2]
    assert read(write(name, text)).passages[0].text == (
        "-w, --warmup <NUM>\nPerform NUM runs before the benchmark. This fills the caches.\n\n"
        "-r, --runs <NUM>\nPerform exactly NUM runs.\n\n"
        "Smith wrote, and so did others, that this helps."
    )
    listed = "- one\n  goes on\n- two\n  as well\n"
    assert read(write(name, listed)).passages[0].text == "- one goes on\n- two as well"
    html = "<dl><dt>-a<dd>All of it.</dd></dt><dt>-b</dt><dd>Brief.</dd></dl>"
    assert read(write("b.html", html)).passages[0].text == "-a\nAll of it.\n\n-b\nBrief."


RST = """
Guide
=====

Install
-------

Run *this*:

.. code-block:: sh

   make all

.. include:: /etc/hostname

.. raw:: html

   <p>raw</p>

====  =====
Plan  Price
====  =====
Big   30
====  =====
"""


def test_restructured_text_includes_nothing(write: Write) -> None:
    [(title, text)] = pairs(read(write("a.rst", RST)))
    assert (title, text) == ("Guide", "Install\n\nRun this:\n\nmake all\n\nPlan: Big | Price: 30")


def test_org_has_its_headings(write: Write) -> None:
    text = "#+TITLE: Garden\n* Spring\n** Beds\nDig in March,\nsow in April.\n* Autumn\nRake.\n"
    assert pairs(read(write("a.org", text))) == [
        ("Garden › Spring › Beds", "Dig in March, sow in April."),
        ("Garden › Autumn", "Rake."),
    ]


def test_source_code_keeps_its_spaces(write: Write) -> None:
    code = "def wide():\n    return 1\n\n\nclass Door:\n\n    is_open = True\n"
    assert pairs(read(write("a.py", code))) == [
        ("a", "def wide():\n    return 1\n\nclass Door:\n\n    is_open = True")
    ]


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


BOMB = zipped("xl/workbook.xml", b" " * 41_000_000)
OUTSIDE = zipped("META-INF/container.xml", b'<rootfile full-path="../../etc/passwd"/>')


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.ipynb", b'{"cells": 3}', "is damaged"),
        ("a.eml", b"Subject: nothing else\n\n", "holds no text"),
        ("a.rst", b".. include:: /etc/passwd\n", "holds no text"),
        ("a.csv", b'a,b\n"' + b"x" * 200_000, "is damaged"),
        ("a.csv", b"x\n" * 200_001, "has more than 200,000 rows; cut it into smaller files"),
        ("a.xlsx", BOMB, "holds text that unpacks to more than 40 MB"),
        ("a.pptx", BOMB, "holds text that unpacks to more than 40 MB"),
        ("a.epub", BOMB, "holds text that unpacks to more than 40 MB"),
        ("a.epub", OUTSIDE, "is damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # an archive has another time in each process
)
def test_a_file_that_cannot_be_read_says_why(write: Write, name: str, content: bytes, reason: str) -> None:
    assert reason in refusal(write(name, content))


def test_a_quote_that_never_closes_is_damage_whatever_limit_the_process_has(write: Write) -> None:
    csv.field_size_limit(10**9)
    assert "is damaged" in refusal(write("a.csv", 'a,b\n"' + "x" * 200_000))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Use `cd` as cd <folder> <b>now</b>.", "Use cd as cd <folder> now."),
        ("--user <name><br>Signs in. <img src='a.png'>", "--user <name>\nSigns in."),
        ("One<WBR>word,<p> <a href='x'>a link</a>.", "Oneword, a link."),
    ],
)
def test_a_tag_of_markdown_that_is_never_closed_is_a_placeholder(write: Write, line: str, text: str) -> None:
    assert read(write("a.md", f"# Help\n\n{line}\n")).passages[0].text == text


ROFF = r""".\" A comment
.TH LAMP 1 "2026"
.de Vb
.ft CW
..
.SH NAME
lamp \- light a room
.SH OPTIONS
Use \fBlamp\fR with \fI\-\-help\fP to see them.
.TP
\fB\-d\fR, \fB\-\-dim\fR \fILEVEL\fR
How bright it is,
from 0 to 9.
.IP \-q
.PD 0
.IP \-\-quiet
.PD
Say nothing.
.SS "Exit status"
.B 0
on success.
.PP
.nf
  lamp \-d 3
.fi
See
.BR fuse (8).
"""

MDOC = r""".Dd May 1, 2026
.Dt LAMP 1
.Os
.Sh NAME
.Nm lamp
.Nd light a room
.Sh SYNOPSIS
.Nm
.Op Fl d Ar level
.Ar room
.Sh DESCRIPTION
The options are:
.Bl -tag -width Ds
.It Fl d Ar level
How bright it is.
.It Fl q , Fl v
Say less, or more.
.El
.Pp
See
.Xr fuse 8
and
.Dq the manual .
"""


@pytest.mark.parametrize("name", ["lamp.1", "lamp.1.gz", "lamp.man"])
def test_a_manual_page_has_its_options_above_what_they_do(write: Write, name: str) -> None:
    content = ROFF.encode()
    document = read(write(name, gzip.compress(content) if name.endswith(".gz") else content))
    assert document.title == "lamp(1)"
    text = "\n".join(f"{title}: {text}" for title, text in pairs(document))
    assert "lamp - light a room" in text
    assert "Use lamp with --help to see them." in text
    assert "-d, --dim LEVEL\nHow bright it is, from 0 to 9." in text
    assert "-q, --quiet\nSay nothing." in text
    assert "Exit status: 0 on success." in text
    assert "lamp -d 3" in text
    assert "See fuse(8)." in text
    assert "\\" not in text


def test_a_page_in_mdoc_is_read_as_one_in_man(write: Write) -> None:
    text = "\n".join(f"{title}: {text}" for title, text in pairs(read(write("lamp.1", MDOC))))
    assert "lamp [-d level] room" in text
    assert "-d level\nHow bright it is." in text
    assert "-q, -v\nSay less, or more." in text
    assert "See fuse(8) and “the manual.”" in text


def test_what_is_called_like_a_manual_page_is_read_as_text(write: Write) -> None:
    path = write("notes.2", "The lamp is green.")
    write("libc.so.6", b"\x7fELF\0")
    assert pairs(read(path)) == [("notes", "The lamp is green.")]
    assert find_documents([path.parent]).files == (path,)


def test_a_packed_page_that_never_ends_is_refused(write: Write) -> None:
    assert refusal(write("a.1.gz", gzip.compress(b"\n" * 30_000_000))).startswith(
        "holds more than can be read"
    )
