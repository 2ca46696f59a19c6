"""Each format is read as a person reads it; what cannot be read says why and harms nothing else."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from document_files import LONG, Write, characters, laid_out, pairs, put, read, refusal, write

from assistant.library.documents import PreparedDocument, read_documents
from assistant.library.formats import html_reader, packed_files, readers
from assistant.library.formats.outlines import TOO_MUCH, Reading
from stores.base.errors import UnreadableDocument

__all__ = ["write"]  # a fixture

# Text


def test_a_text_file_is_titled_by_its_name(write: Write) -> None:
    path = write("house rules.txt", "No shoes.\n\nNo smoke.")
    document = read(path)
    assert document.source == str(path)
    assert pairs(document) == [("house rules", "No shoes.\n\nNo smoke.")]


def test_a_long_text_becomes_several_passages(write: Write) -> None:
    assert len(read(write("a.txt", LONG), passage_words=35).passages) == 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_text_is_read_in_its_encoding(write: Write, encoding: str) -> None:
    assert read(write("a.txt", "Das Café öffnet um zehn – täglich.".encode(encoding))).passages[0].text == (
        "Das Café öffnet um zehn – täglich."
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "holds no text"),
        (b" \n\t\x01", "holds no text"),
        (b"PK\0\0text", "is not text"),
        (b"\xff\xfea", "is not text"),
        (bytes(range(1, 256)), "is not text"),
        ("Привет, мир".encode("cp1251"), "is in an unknown encoding; save it as UTF-8"),
    ],
)
def test_what_is_not_text_is_refused(write: Write, content: bytes, reason: str) -> None:
    assert refusal(write("a.txt", content)) == reason


def test_a_file_too_large_is_refused_without_being_read(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(data: bytes, source: str) -> Reading:
        pytest.fail("it was read")

    path = write("a.pdf", b"")
    os.truncate(path, readers.WHOLE_FILE_BYTES + 1)
    kind = readers._Kind(never, readers.WHOLE_FILE_BYTES)
    monkeypatch.setitem(readers.READERS, ".pdf", kind)
    assert refusal(path) == "is larger than 100 MB; cut it into smaller files"


def test_a_text_of_many_megabytes_is_refused_before_it_fills_the_memory(write: Write) -> None:
    path = write("a.txt", b"")
    os.truncate(path, readers.TEXT_BYTES + 1)
    assert refusal(path) == "is larger than 20 MB; cut it into smaller files"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError, "takes more memory to read than it may; cut it into smaller files"),
        (RecursionError, "is nested too deeply to be read"),
        (ZeroDivisionError, "is damaged, or not what its name says (ZeroDivisionError)"),
    ],
)
def test_what_stops_a_parser_is_told_in_words(
    write: Write, monkeypatch: pytest.MonkeyPatch, error: type[Exception], reason: str
) -> None:
    def fail(data: bytes, source: str) -> Reading:
        raise error

    monkeypatch.setitem(readers.READERS, ".pdf", readers._Kind(fail, 9))
    assert refusal(write("a.pdf", "x")) == reason


# Markdown


def test_markdown_headings_stand_over_passages_and_marks_are_gone(write: Write) -> None:
    path = write(
        "guide.md",
        f"---\ntitle: ignored\n---\n# The Guide\n\n{LONG}\n\n## Install\n\n{LONG}\n\n"
        f'### On *Linux*\n\nSee [the `manual`](http://example.com "x") &amp; ![a map](map.png).\\\nRun:\n\n'
        f"```sh\nif true:\n    go\n```\n\n1. first\n2. second\n   * inner\n\n"
        f"| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        f"> {LONG}\n\nUse\n---\n\n<div align=center>Raw <b>words</b><!-- no --></div>\n\n{LONG}\n",
    )
    assert pairs(read(path, passage_words=200)) == [
        ("The Guide", LONG),
        ("The Guide › Install", LONG),
        (
            "The Guide › Install › On Linux",
            "See the manual & a map.\nRun:\n\nif true:\n    go\n\n1. first\n2. second\n- inner\n\n"
            f"a: 1 | b: 2\n\n{LONG}",
        ),
        ("The Guide › Use", f"Raw words\n\n{LONG}"),
    ]


def test_without_one_heading_above_all_the_name_is_the_title(write: Write) -> None:
    path = write("notes.md", f"# One\n\n{LONG}\n\n# Two\n\n{LONG}\n")
    assert pairs(read(path)) == [("notes › One", LONG), ("notes › Two", LONG)]


def test_two_rules_are_not_front_matter(write: Write) -> None:
    assert (
        read(write("a.md", "---\nFirst words.\n\n---\nLast words.")).passages[0].text
        == "First words.\n\nLast words."
    )


# HTML


def test_html_is_read_as_a_reader_sees_it(write: Write) -> None:
    path = write(
        "page.html",
        f"""<!doctype html><html><head><title>Oslo &ndash; Guide</title><style>p {{}}</style></head><body>
        <nav>Home</nav><h1>Oslo</h1><p>{LONG}</p><h2>Food<br></h2>
        <p>Eat <a href=x>fish</a>,<br>drink&nbsp;<em>te</em>a.<!-- no --></p><script>no()</script>
        <ol><li>first</li><li><p>second</p></li></ol><ul><li>third</ul>
        <table><tr><th>Day<th>Time<tr><td>Mon<td>10</table><div hidden>no</div>
        <pre>a\n  b</pre>{LONG}<img alt="A map"><footer>no</footer></body></html>""",
    )
    document = read(path)
    assert document.title == "Oslo – Guide"
    assert pairs(document) == [
        ("Oslo – Guide", LONG),
        (
            "Oslo – Guide › Food",
            "Eat fish,\ndrink tea.\n\n1. first\n2. second\n- third\n\nDay: Mon | Time: 10\n\na\n  b\n\n"
            + LONG
            + "A map",
        ),
    ]


def test_only_the_main_part_of_a_page_is_read(write: Write) -> None:
    assert pairs(read(write("a.htm", "<p>Cookies?</p><main><h1>Oslo</h1><p>A city.</main>"))) == [
        ("Oslo", "A city.")
    ]


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1252"])
def test_html_is_read_in_the_encoding_it_declares(write: Write, declared: str) -> None:
    page = f'<meta charset="{declared}"><p>Café – täglich</p>'.encode("cp1252")
    assert read(write("a.html", page)).passages[0].text == "Café – täglich"


def test_html_of_russian_in_its_own_encoding(write: Write) -> None:
    page = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>Привет'.encode(
        "cp1251"
    )
    assert read(write("a.html", page)).passages[0].text == "Привет"


@pytest.mark.parametrize("unit", ["<div>", "<a ", "<!--", "<a b='x' ", "<b>"])
def test_broken_html_is_read_in_time_in_proportion(write: Write, unit: str) -> None:
    document = read(write("a.html", "<p>Words.</p>" + unit * 20_000))
    assert document.passages[0].text == "Words."


@pytest.mark.parametrize("start", ["<![C", "<![if x]", "<![CDATA[x]]"])
def test_a_marked_section_is_a_comment_as_it_is_to_browsers(write: Write, start: str) -> None:
    assert read(write("a.html", f"<p>Before {start}>after.")).passages[0].text == "Before after."


def test_a_page_of_too_many_tags_is_refused_before_it_fills_the_memory(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_reader, "MOST_TAGS", 1000)
    assert read(write("a.html", "<b>" * 1000 + "Words.")).passages[0].text == "Words."
    assert refusal(write("b.html", "<b>" * 1001)) == "has more than 1,000 tags; cut it into smaller files"
    assert refusal(write("c.md", "<div>" * 1001)) == "has more than 1,000 tags; cut it into smaller files"


# PDF


def pdf(pages: list[str], *, password: str = "") -> bytes:
    """A PDF with these lines on its pages."""
    return laid_out(
        ["".join(put(50, 700 - 14 * n, line) for n, line in enumerate(t.split("\n"))) for t in pages],
        password=password,
    )


def test_larger_type_is_a_heading_that_stands_over_the_next_page_too(write: Write) -> None:
    first = put(50, 700, "Berths", size=20) + put(50, 660, "Fees", size=16) + put(50, 640, "Paid a night.")
    document = read(write("a.pdf", laid_out([first, put(50, 700, "Or a week, in one sum.")])))
    assert pairs(document) == [
        ("a › page 1 › Berths › Fees", "Paid a night."),
        ("a › page 2 › Berths › Fees", "Or a week, in one sum."),
    ]


def test_lines_that_stand_wide_apart_are_one_paragraph_where_all_do(write: Write) -> None:
    lines = ["The office opens", "at ten and closes", "at four each day.", "No ship leaves", "before noon."]
    at = [700, 672, 644, 600, 572]
    document = read(
        write("a.pdf", laid_out(["".join(put(50, y, t) for y, t in zip(at, lines, strict=True))]))
    )
    ((_, text),) = pairs(document)
    assert text == "The office opens at ten and closes at four each day.\n\nNo ship leaves before noon."


def test_what_stands_on_every_page_and_page_numbers_and_contents_are_left_out(write: Write) -> None:
    pages = [
        put(50, 780, f"Chapter {n}") + put(50, 700, told) + put(290, 20, f"- {n} -")
        for n, told in enumerate(
            ["The office opens at ten.", "Fees . . . . . . . . . . 12", "It closes."], start=1
        )
    ]
    document = read(write("a.pdf", laid_out(pages)))
    assert [text for _, text in pairs(document)] == ["The office opens at ten.", "It closes."]


ROWS = [("Berth", "Depth", "Fee"), ("B1", "4 m", "7 EUR"), ("B2", "5 m", "14 EUR")]
TOLD = "Berth: B1 | Depth: 4 m | Fee: 7 EUR\nBerth: B2 | Depth: 5 m | Fee: 14 EUR"


@pytest.mark.parametrize("is_ruled", [True, False])
def test_a_row_of_a_table_stands_with_the_names_of_its_columns(write: Write, is_ruled: bool) -> None:
    page = put(50, 700, "Every ship has a berth of its own.")
    for row, cells in enumerate(ROWS):
        for column, cell in enumerate(cells):
            x, y = 60 + 100 * column, 600 - 20 * row
            page += put(x, y, cell)
            page += f"{x - 10} {y - 6} 100 20 re S " if is_ruled else ""
    page += put(50, 500, "The fee is paid before the ship leaves.")
    ((_, text),) = pairs(read(write("a.pdf", laid_out([page]))))
    assert TOLD in text
    assert text.index("Every ship") < text.index("B1") < text.index("The fee")


def test_a_page_in_two_columns_is_read_column_by_column(write: Write) -> None:
    left = [f"The left column says {word} here," for word in ("one", "two", "three", "four", "five", "six")]
    right = [
        f"and the right one {word} there." for word in ("seven", "eight", "nine", "ten", "eleven", "zero")
    ]
    page = put(50, 740, "A title that goes across both of the columns of this page, from left to right")
    for n, (one, other) in enumerate(zip(left, right, strict=True)):
        page += put(50, 700 - 14 * n, one) + put(320, 695 - 14 * n, other)
    text = " ".join(text for _, text in pairs(read(write("a.pdf", laid_out([page])))))
    assert [text.index(line) for line in (*left, *right)] == sorted(
        text.index(line) for line in (*left, *right)
    )
    assert text.startswith("A title")


def test_a_pdf_is_read_page_by_page(write: Write) -> None:
    path = write(
        "rules.pdf", pdf(["No shoes in the exam-\nple.", "", LONG.replace("Sentence", "\nSentence")])
    )
    document = read(path)
    assert document.title == "rules"
    assert [passage.title for passage in document.passages] == ["rules › page 1", "rules › page 3"]
    assert document.passages[0].text == "No shoes in the example."
    assert characters(document.passages[1].text) == characters(LONG)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (pdf(["secret"], password="x"), "is encrypted; save a copy without a password"),
        (pdf([""]), "holds no text; it may be a scan, which only shows pictures of text"),
        (b"%PDF-1.4 broken", "is damaged, or not what its name says (PdfReadError)"),
        (b"", "is damaged, or not what its name says (EmptyFileError)"),
    ],
    ids=["encrypted", "without text", "damaged", "empty"],
)
def test_a_pdf_that_cannot_be_read_says_why(
    write: Write, capfd: pytest.CaptureFixture[str], content: bytes, reason: str
) -> None:
    assert refusal(write("a.pdf", content)).split(" (")[0] == reason.split(" (")[0]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ZeroDivisionError, "page 2 is damaged (ZeroDivisionError)"),
        (MemoryError, "page 2 takes more memory to read than it may; cut it into smaller files"),
    ],
)
def test_a_damaged_page_leaves_the_others(
    write: Write, monkeypatch: pytest.MonkeyPatch, error: type[Exception], reason: str
) -> None:
    from pdfplumber.page import Page

    whole = Page.extract_words

    def extract(page: Page, **how: Any) -> Any:
        words = whole(page, **how)
        if any(word["text"] == "torn" for word in words):
            raise error
        return words

    monkeypatch.setattr(Page, "extract_words", extract)
    document, lost = read_documents(write("a.pdf", pdf(["Good words.", "torn"])))
    assert isinstance(document, PreparedDocument)
    assert pairs(document) == [("a › page 1", "Good words.")]
    assert isinstance(lost, UnreadableDocument)
    assert lost.reason == reason


@pytest.mark.slow
def test_one_page_that_is_told_to_be_a_million_is_read_once(write: Write) -> None:
    objects = [
        b"<< /Type /Catalog /Pages 3 0 R >>",
        b"<< /Type /Page /Parent 3 0 R /MediaBox [0 0 9 9] >>",
        b"<< /Type /Pages /Count 1000000 /Kids [" + b"2 0 R " * 1_000_000 + b"] >>",
    ]
    body, table = b"%PDF-1.7\n", b""
    for number, content in enumerate(objects, start=1):
        table += b"%010d 00000 n \n" % len(body)
        body += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    end = b"xref\n0 4\n0000000000 65535 f \n%btrailer\n<< /Size 4 /Root 1 0 R >>\n" % table
    path = write("a.pdf", body + end + b"startxref\n%d\n%%%%EOF\n" % len(body))
    assert refusal(path).startswith("holds no text")


def test_a_row_of_an_html_table_stands_with_the_names_of_its_columns(write: Write) -> None:
    head = "<table><caption>Prices</caption><thead><tr><th>Plan<th>Price</thead>"
    closed = head.replace("<th>Price", "</th><th>Price</th></tr>")
    rows = "<tr><td>Small</td><td><b>12</b> €</td></tr><tr><td></td><td>30 €</td><td>new</td></tr></table>"
    [passage] = read(write("a.html", f"{closed}{rows}")).passages
    assert passage.text == "Prices\n\nPlan: Small | Price: 12 €\nPrice: 30 € | new"
    by_row = "<table><tr><th>Mon</th><td>10</td></tr><tr><th>Tue</th><td>11</td></tr></table>"
    assert read(write("b.html", by_row)).passages[0].text == "Mon | 10\nTue | 11"
    only = "<table><tr><th>Mon</th><th>10</th></tr></table>"
    assert read(write("c.html", only)).passages[0].text == "Mon | 10"


# DOCX


def docx_bytes(*, title: str = "") -> bytes:
    from docx import Document

    document = Document()
    if title:
        document.add_heading(title, 0)
    document.add_heading("Hours", 1)
    document.add_paragraph("Open at ten.")
    document.add_paragraph("on Monday", style="List Bullet")
    document.add_paragraph("on Friday", style="List Bullet")
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ["Day", "Time", "Mon", "10"], strict=True):
        cell.text = text
    document.add_paragraph(LONG)
    document.add_heading("Prices", 1)
    document.add_paragraph(LONG)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def with_document_xml(xml: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(docx_bytes())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return zipped({**members, "word/document.xml": xml})


def test_a_docx_is_read_with_headings_lists_and_tables(write: Write) -> None:
    assert pairs(read(write("a.docx", docx_bytes(title="Museum")))) == [
        ("Museum › Hours", f"Open at ten.\n\n- on Monday\n- on Friday\n\nDay: Mon | Time: 10\n\n{LONG}"),
        ("Museum › Prices", LONG),
    ]
    assert read(write("b.docx", docx_bytes())).title == "b"


def test_a_zip_bomb_is_refused_by_its_directory(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_files, "UNPACKED_BYTES", 1_000_000)
    bomb = with_document_xml(b"<" + b" " * 2_000_000)
    assert refusal(write("a.docx", bomb)) == "unpacks to more than 1 MB"


def test_a_zip_bomb_that_lies_about_its_size_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_files, "UNPACKED_BYTES", 1_000_000)
    bomb = with_document_xml(b"<" + b" " * 2_000_000)
    lie = bomb.replace(struct.pack("<I", 2_000_001), struct.pack("<I", 1_000))
    assert lie != bomb
    assert refusal(write("a.docx", lie)) == "is damaged, or not what its name says (BadZipFile)"


def test_a_docx_whose_text_alone_unpacks_to_too_much_is_refused_and_pictures_do_not_count(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_files, "UNPACKED_XML_BYTES", 1_000_000)
    text = with_document_xml(b"<" + b" " * 1_000_000)
    assert refusal(write("a.docx", text)) == "holds text that unpacks to more than 1 MB"
    with zipfile.ZipFile(io.BytesIO(docx_bytes())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    pictured = zipped({**members, "word/media/map.png": bytes(1_000_001)})
    assert read(write("b.docx", pictured)).passages


def test_entities_are_not_expanded(write: Write, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    namespace = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    lol = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
    xml = (
        f'<!DOCTYPE d [<!ENTITY l0 "lol">{lol}<!ENTITY f SYSTEM "file://{secret}">]>'
        f"<w:document {namespace}><w:body><w:p><w:r><w:t>Words &l9; &f;</w:t></w:r></w:p></w:body>"
        "</w:document>"
    )
    for result in read_documents(write("a.docx", with_document_xml(xml.encode()))):
        said = pairs(result) if isinstance(result, PreparedDocument) else result.reason
        assert "secret" not in str(said)
        assert len(str(said)) < 200


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is damaged, or not what its name says (BadZipFile)"),
        (docx_bytes()[:2000], "is damaged, or not what its name says (BadZipFile)"),
        (zipped({"a": b"b"}), "is damaged, or not what its name says (KeyError)"),
        (with_document_xml(b"<" + b"<w:p>" * 9), "is damaged, or not what its name says (XMLSyntaxError)"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is encrypted, or of the older kind .doc; save it as .docx"),
    ],
    ids=["empty", "cut", "another zip", "damaged XML", "the older kind"],
)
def test_a_docx_that_cannot_be_read_says_why(write: Write, content: bytes, reason: str) -> None:
    assert refusal(write("a.docx", content)) == reason


# Tables that multiply, or are wider than is read


def test_a_header_of_paragraphs_stands_once_and_not_before_each_cell(write: Write) -> None:
    names = [f"{'paragraph ' * 300}{n}" for n in range(8)]
    document = read(write("a.csv", "\n".join([",".join(names), *["1,2,3,4,5,6,7,8"] * 2_000])))
    told = sum(len(passage.text) for passage in document.passages)
    assert told < 200_000
    assert document.passages[0].text.startswith("paragraph paragraph")


def test_long_names_stand_before_ordinary_cells(write: Write) -> None:
    document = read(write("a.csv", "Do you agree that it was worth its price?\nyes\nno\n"))
    assert "Do you agree that it was worth its price?: no" in document.passages[0].text


def test_a_file_that_says_one_text_a_thousand_times_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.library.formats.readers._ALWAYS_CHARACTERS", 10_000)
    assert refusal(write("a.xlsx", book([["x" * 30_000] * 50] * 20))) == TOO_MUCH
    assert read(write("b.xlsx", book([["x" * 3_000]])))


@pytest.mark.parametrize("width", [200, 201])
def test_columns_that_are_left_out_are_told(write: Write, width: int) -> None:
    rows = [[f"{what}{n}" for n in range(width)] for what in ("name", "value")]
    csv = "\n".join(",".join(row) for row in rows)
    for path in (write("a.csv", csv), write("a.xlsx", book(rows))):
        document, *lost = read_documents(path)
        assert isinstance(document, PreparedDocument)
        assert "name199: value199" in document.passages[-1].text
        assert len(lost) == width - 200
        assert all("those behind the 200th were left out" in str(each) for each in lost)


def book(rows: list[list[str]]) -> bytes:
    """An Excel file of one sheet."""
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()
