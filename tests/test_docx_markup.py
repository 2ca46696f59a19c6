"""What Word keeps beside its plain paragraphs: tracked changes, controls, boxes, notes, tables that span."""

from __future__ import annotations

import io
import zipfile

import docx
import pytest
from docx.oxml import parse_xml

from assistant.library.formats.docx_reader import read_docx
from assistant.library.formats.outlines import Reading

_SPACES = " ".join(
    f'xmlns:{name}="{address}"'
    for name, address in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "v": "urn:schemas-microsoft-com:vml",
    }.items()
)
_BY = 'w:id="1" w:author="x" w:date="2026-01-01T00:00:00Z"'


def _run(text: str, tag: str = "t") -> str:
    return f'<w:r><w:{tag} xml:space="preserve">{text}</w:{tag}></w:r>'


def _paragraph(content: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{content}</w:p>"


def _saved(*blocks: str) -> bytes:
    """A document that holds these blocks."""
    document = docx.Document()
    for block in parse_xml(f"<w:body {_SPACES}>{''.join(blocks)}</w:body>"):
        document.element.body.insert(len(document.element.body) - 1, block)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _reading(*blocks: str, notes: str = "") -> Reading:
    data = _saved(*blocks)
    return read_docx(_with_footnotes(data, notes) if notes else data, "a.docx")


def _with_footnotes(data: bytes, notes: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name).decode("latin-1") for name in archive.namelist()}
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    parts["word/footnotes.xml"] = f"<w:footnotes {_SPACES}>{notes}</w:footnotes>"
    for name, end, more in (
        (
            "[Content_Types].xml",
            "</Types>",
            f'<Override PartName="/word/footnotes.xml" ContentType="{kind}"/>',
        ),
        (
            "word/_rels/document.xml.rels",
            "</Relationships>",
            f'<Relationship Id="n1" Type="{relation}" Target="footnotes.xml"/>',
        ),
    ):
        parts[name] = parts[name].replace(end, more + end)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text.encode("latin-1"))
    return file.getvalue()


def _text(*blocks: str, notes: str = "") -> str:
    return "\n\n".join(section.text for section in _reading(*blocks, notes=notes).sections)


def test_tracked_changes_are_read_as_accepted() -> None:
    deleted = f"<w:del {_BY}>{_run('30', 'delText')}</w:del>"
    inserted = f"<w:ins {_BY}>{_run('45')}</w:ins>"
    assert _text(_paragraph(_run("The fee is ") + deleted + inserted + _run(" crowns."))) == (
        "The fee is 45 crowns."
    )


def test_a_moved_paragraph_stands_where_it_was_moved_to() -> None:
    moved = _run("It is locked at dusk.")
    from_here = _paragraph(f"<w:moveFrom {_BY}>{moved}</w:moveFrom>", f"<w:rPr><w:moveFrom {_BY}/></w:rPr>")
    to_here = _paragraph(f"<w:moveTo {_BY}>{moved}</w:moveTo>", f"<w:rPr><w:moveTo {_BY}/></w:rPr>")
    assert _text(from_here, _paragraph(_run("Between.")), to_here) == "Between.\n\nIt is locked at dusk."


def test_paragraphs_whose_border_was_deleted_are_one() -> None:
    mark = f"<w:rPr><w:del {_BY}/></w:rPr>"
    assert _text(
        _paragraph(_run("One "), mark), _paragraph(_run("two "), mark), _paragraph(_run("three."))
    ) == ("One two three.")


def test_deleted_rows_are_gone_and_inserted_ones_there() -> None:
    def row(text: str, mark: str) -> str:
        cell = f"<w:tc>{_paragraph(_run(text))}</w:tc>"
        return f"<w:tr><w:trPr>{mark}</w:trPr>{cell}{cell}</w:tr>"

    rows = row("kept", "") + row("old", f"<w:del {_BY}/>") + row("new", f"<w:ins {_BY}/>")
    assert _text(f"<w:tbl><w:tblPr/><w:tblGrid/>{rows}</w:tbl>") == "kept | kept\nnew | new"


def test_content_controls_are_opened_unless_they_wait_to_be_filled() -> None:
    def control(content: str, properties: str = "") -> str:
        return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"

    outer = control(control(_paragraph(_run("Keeper: ") + control(_run("Hester Lowe")))))
    empty = _paragraph(control(_run("Click to enter text."), "<w:showingPlcHdr/>") + _run("Signed."))
    assert _text(outer, empty) == "Keeper: Hester Lowe\n\nSigned."


def test_fields_and_formulas_are_text() -> None:
    field = f'<w:fldSimple w:instr="DATE">{_run("3 March")}</w:fldSimple>'
    formula = "<m:oMath><m:r><m:t>E=m</m:t></m:r><m:r><m:t>c</m:t></m:r></m:oMath>"
    assert _text(_paragraph(_run("On ") + field + _run(": ") + formula)) == "On 3 March: E=mc"


def test_a_formula_on_its_own_and_letters_with_their_reading_are_text() -> None:
    formula = "<m:oMathPara><m:oMath><m:r><m:t>a+b</m:t></m:r></m:oMath></m:oMathPara>"
    reading = f"<w:rt>{_run('kagi')}</w:rt><w:rubyBase>{_run('鍵')}{_run('箱')}</w:rubyBase>"
    ruby = f"<w:r><w:ruby>{reading}</w:ruby></w:r>"
    assert _text(_paragraph(_run("A ") + ruby + _run(".")), _paragraph(formula)) == "A 鍵箱.\n\na+b"


def _box(text: str) -> str:
    return f"<w:txbxContent>{_paragraph(_run(text))}</w:txbxContent>"


def test_a_text_box_is_read_once_and_behind_its_paragraph() -> None:
    choice = f'<mc:Choice Requires="wps"><w:drawing>{_box("Call 0999.")}</w:drawing></mc:Choice>'
    fallback = f"<mc:Fallback><w:pict><v:textbox>{_box('Call 0999.')}</v:textbox></w:pict></mc:Fallback>"
    both = f"<w:r><mc:AlternateContent>{choice}{fallback}</mc:AlternateContent></w:r>"
    old = f"<w:r><w:pict><v:textbox>{_box('And 0998.')}</v:textbox></w:pict></w:r>"
    assert _text(_paragraph(_run("See.") + both + old), _paragraph(_run("End."))) == (
        "See.\n\nCall 0999.\n\nAnd 0998.\n\nEnd."
    )


def test_a_footnote_stands_behind_its_paragraph_as_accepted() -> None:
    note = (
        _run("Shut in ") + f"<w:del {_BY}>{_run('May', 'delText')}</w:del><w:ins {_BY}>{_run('June')}</w:ins>"
    )
    notes = f'<w:footnote w:id="2">{_paragraph(note)}</w:footnote>'
    referring = _paragraph(_run("A tap.") + '<w:r><w:footnoteReference w:id="2"/></w:r>')
    assert _text(referring, _paragraph(_run("End.")), notes=notes) == (
        "A tap.\n\nFootnote: Shut in June\n\nEnd."
    )


def test_a_note_may_not_bring_in_another_file() -> None:
    notes = f'<w:footnote w:id="2">{_paragraph(_run("&secret;"))}</w:footnote>'
    referring = _paragraph(_run("A tap.") + '<w:r><w:footnoteReference w:id="2"/></w:r>')
    document = _with_footnotes(_saved(referring), notes)
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    entity = b'<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/hostname">]>'
    parts["word/footnotes.xml"] = entity + parts["word/footnotes.xml"]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert [section.text for section in read_docx(file.getvalue(), "a.docx").sections] == ["A tap."]


def test_what_cannot_be_read_is_told() -> None:
    chart = '<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/chart"/>'
    reading = _reading(_paragraph(_run("Sales.") + f"<w:r><w:drawing>{chart}</w:drawing></w:r>"))
    assert reading.lost == ("is read without what stands in charts or diagrams (1)",)


def test_comments_are_counted() -> None:
    document = docx.Document()
    run = document.add_paragraph("Sales rise.").runs[0]
    for words in ("Do they?", "Ask Bo."):
        document.add_comment([run], words, author="x")
    file = io.BytesIO()
    document.save(file)
    assert read_docx(file.getvalue(), "a.docx").lost == ("is read without what stands in comments (2)",)


def _table(*rows: str) -> str:
    return f'<w:tbl><w:tblPr><w:tblLook w:firstRow="1"/></w:tblPr><w:tblGrid/>{"".join(rows)}</w:tbl>'


def _row(*cells: tuple[str, str]) -> str:
    made = (f"<w:tc><w:tcPr>{how}</w:tcPr>{_paragraph(_run(text))}</w:tc>" for text, how in cells)
    return f"<w:tr>{''.join(made)}</w:tr>"


def test_headers_of_two_rows_name_each_column() -> None:
    two, begins, goes_on = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    table = _table(
        _row(("Boat", begins), ("Summer", two)),
        _row(("", goes_on), ("Hour", ""), ("Day", "")),
        _row(("Skiff", ""), ("8", ""), ("40", "")),
        _row(("Punt", ""), ("closed", two)),
    )
    assert _text(table) == (
        "Boat: Skiff | Summer Hour: 8 | Summer Day: 40\nBoat: Punt | Summer Hour, Summer Day: closed"
    )


@pytest.mark.parametrize("second", [("north", "22"), ("8", "Week")])
def test_a_first_row_of_data_is_no_header(second: tuple[str, str]) -> None:
    table = _table(
        _row(("Bay", '<w:gridSpan w:val="2"/>'), ("Week", "")),
        _row((second[0], ""), ("full", ""), (second[1], "")),
        _row(("south", ""), ("empty", ""), ("23", "")),
    )
    assert _text(table).startswith(f"Bay: {second[0]} | Bay: full | Week: {second[1]}\n")
