"""Readers and the settings file, fed with what nobody would write: documents, settings, or a clear error.

The cases are the same in every run. `python -m benchmarks.fuzz` makes others for as long as one likes.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from docx import Document
from hypothesis import HealthCheck, example, given
from hypothesis import settings as effort
from hypothesis import strategies as st

from assistant.library.cutting import PASSAGE_WORDS, count_words
from assistant.library.documents import PreparedDocument, read_documents
from assistant.settings.config import SECTIONS, Settings
from assistant.settings.settings_file import MOST_TOLD, load_settings
from stores.base.errors import UnreadableDocument, WrongUsage

CASES = effort(
    deadline=None,  # a busy machine is no defect
    derandomize=True,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def holds_the_contract(path: Path) -> None:
    """Fails unless a file gives documents fit to be stored, or errors fit to be told, or both."""
    results = list(read_documents(path))
    assert results
    for result in results:
        assert result.source.partition("#")[0] == str(path)
        if isinstance(result, UnreadableDocument):
            assert is_told_clearly(result.reason), result.reason
            if path.suffix not in (".pdf", ".docx", ".gz"):
                assert "damaged" not in result.reason, "text cannot be damaged"
            continue
        assert isinstance(result, PreparedDocument)
        assert result.passages
        for passage in result.passages:
            assert passage.text.strip()
            assert count_words(passage.text) <= 2.5 * PASSAGE_WORDS
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", passage.text + passage.title)


def is_told_clearly(line: str) -> bool:
    return bool(line) and line.isprintable() and len(line) <= 600 and "Traceback" not in line


def pieces(*own: str) -> st.SearchStrategy[bytes]:
    """Files of a format's own signs in any order, between words, other characters and plain bytes."""
    tokens = st.sampled_from(
        [*own, "word", " ", "\n", "\n\n", "Ends. ", "é", "漢字。", "e\u0301", "\u202e", "\0"]
    )
    texts = st.one_of(tokens, tokens.map(lambda token: token * 40), st.text(max_size=5))
    raw = st.binary(max_size=6)
    return st.lists(
        st.one_of(texts.map(lambda text: text.encode("utf-8", "surrogatepass")), raw), max_size=40
    ).map(b"".join)


MARKDOWN = pieces(
    *"# ## - * ** ` ``` > >> [ ]( ![ <div> </div> <!-- --> | |- --- === &amp; 1. \\ [a]:".split()
)
HTML = pieces(
    *"<div> </div> <p> <a <!-- --> <![ <![CDATA[ ]]> <! <? <script> <table> <td> <ol> <li> <pre> <h1> "
    "<title> <main> <br> <svg> &lt &#xD800; &#0; > = ' <meta\tcharset='utf-16'>".split()
)
JSON_LINES = pieces(
    *'{ } [ ] , : "id" "text" "title" null 1e999 NaN "\\ud800" {"id":1,"text":"x"}\n'.split(" ")
)
PDF = pieces(
    *"%PDF-1.7 1\t0\tobj endobj << >> /Type /Pages /Page /Kids [ ] 1\t0\tR 2\t0\tR stream endstream xref "
    "trailer startxref %%EOF /Root /Length /Filter /FlateDecode BT ET (a) Tj".split()
)
XML = pieces(
    *"<w:p> </w:p> <w:r> </w:r> <w:t> </w:t> <w:tbl> </w:tbl> <w:tr> </w:tr> <w:tc> </w:tc> <w:pPr> </w:pPr> "
    "<w:numPr/> <w:gridSpan\tw:val='9'/> <w:br/> <!-- --> &amp; &x; <![CDATA[ ]]>".split()
)


@CASES
@given(pieces("- ", "1. ", "A.B. ", "\u2028", "[1]"), st.sampled_from(["", "\ufeff"]))
def test_any_text_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, mark: str
) -> None:
    holds_the_contract(written(tmp_path_factory, "a.txt", mark.encode("utf-16-le") + content))


@CASES
@given(MARKDOWN)
def test_any_markdown_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    holds_the_contract(written(tmp_path_factory, "a.md", content))


@CASES
@given(HTML)
@example(b"<p>x<![C")
def test_any_page_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    holds_the_contract(written(tmp_path_factory, "a.html", content))


@CASES
@given(JSON_LINES)
@example(b"\n \n")
def test_any_collection_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    holds_the_contract(written(tmp_path_factory, "a.jsonl", content))


@CASES
@given(JSON_LINES, st.integers(0, 60), st.binary(max_size=20))
def test_any_packed_collection_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, at: int, change: bytes
) -> None:
    packed = gzip.compress(content, mtime=0)
    holds_the_contract(
        written(tmp_path_factory, "a.jsonl.gz", packed[:at] + change + packed[at + len(change) :])
    )


@CASES
@given(PDF)
def test_any_pdf_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    holds_the_contract(written(tmp_path_factory, "a.pdf", content))


def docx_parts() -> dict[str, bytes]:
    buffer = io.BytesIO()
    Document().save(buffer)
    with zipfile.ZipFile(buffer) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


PARTS = docx_parts()
NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


@CASES
@given(XML, st.sampled_from(sorted(PARTS)), st.booleans())
def test_any_docx_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, part: str, is_left_out: bool
) -> None:
    body = f"<w:document {NAMESPACE}><w:body>".encode() + content + b"</w:body></w:document>"
    parts = {**PARTS, "word/document.xml": body}
    if is_left_out:
        del parts[part]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    holds_the_contract(written(tmp_path_factory, "a.docx", buffer.getvalue()))


def written(folders: pytest.TempPathFactory, name: str, content: bytes) -> Path:
    path = folders.getbasetemp() / name
    path.write_bytes(content)
    return path


# The settings file

KEYS = st.sampled_from(
    [f"{name}.{key}" for name, kind in SECTIONS.items() for key in vars(kind())]
    + ["modle.name", "pool", '"\\u001b"', "a.b.c", "terminal.keys.why", '""', ".".join("a" * 40)]
)
VALUES = st.recursive(
    st.one_of(
        st.sampled_from(["true", "inf", "-nan", "1e400", "1979-05-27", "99:99", "''", '"\\u0000"', "0x"]),
        st.integers(-(10**30), 10**30).map(str),
        st.text(max_size=6).map(lambda text: json.dumps(text.encode("utf-8", "replace").decode())),
        st.just("9" * 5000),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        inner.map(lambda item: f"{{k = {item}}}"),
        inner.map(lambda item: "[" * 2000 + item),
    ),
    max_leaves=4,
)
STATEMENTS = st.one_of(
    st.tuples(KEYS, VALUES).map(lambda pair: f"{pair[0]} = {pair[1]}\n".encode()),
    st.sampled_from([*SECTIONS, "terminal.keys", "modle", "[log]"]).map(lambda name: f"[{name}]\n".encode()),
    st.binary(max_size=4),
    st.sampled_from(['"""', "'''", "[", "=", "#", "\r\n", "\ufeff"]).map(str.encode),
)


@effort(CASES, max_examples=200)
@given(st.lists(STATEMENTS, max_size=8).map(b"".join))
@example(b".".join([b"a"] * 40_000) + b" = 1")
@example(b"[model]\n" + b"".join(b"bakend%d = 1\n" % n for n in range(5000)))
@example(b"'''" * 30_000)
def test_any_settings_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = written(tmp_path_factory, "settings.toml", content)
    try:
        settings = load_settings(path, environ={}, explicit=True)
    except WrongUsage as error:
        lines = error.message.split("\n")
        assert len(lines) <= MOST_TOLD + 1
        assert all(is_told_clearly(line) and "settings.toml" in line for line in lines), lines
    else:
        assert isinstance(settings, Settings)
        for key, value, _ in settings.in_force():
            assert not isinstance(value, float) or abs(value) < 1e9, key
