"""Documents of every kind become passages; what cannot be read says why and harms nothing else."""

from __future__ import annotations

import gzip
import io
import json
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.library import documents
from assistant.library.documents import (
    PreparedDocument,
    count_words,
    cut,
    find_documents,
    one_line,
    plain,
    read_documents,
    read_stream,
    unwrapped,
)
from stores.errors import UnreadableDocument

LONG = " ".join(f"Sentence number {n} has exactly seven words." for n in range(1, 11))  # 70 words
Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def read(path: Path, **options: int) -> PreparedDocument:
    """The one document of a file that can be read."""
    (document,) = read_documents(path, **options)
    assert isinstance(document, PreparedDocument), document
    return document


def refusal(path: Path) -> str:
    """Why a file cannot be read."""
    (error,) = read_documents(path)
    assert isinstance(error, UnreadableDocument), error
    assert error.source == str(path)
    return error.reason


def pairs(document: PreparedDocument) -> list[tuple[str, str]]:
    return [(passage.title, passage.text) for passage in document.passages]


# --- Cutting


def characters(text: str) -> str:
    return "".join(text.split())


texts_of_sentences = st.lists(
    st.tuples(st.integers(1, 60), st.sampled_from([". ", "! ", ".\n\n", "\n- ", " "])), max_size=60
).map(lambda parts: "".join("Word " + "word " * (words - 1) + "end" + stop for words, stop in parts))


@given(texts_of_sentences | st.text(max_size=300), st.integers(4, 40))
def test_cutting_loses_and_reorders_nothing(text: str, passage_words: int) -> None:
    passages = cut(text, passage_words=passage_words)
    assert characters("".join(passages)) == characters(text)
    assert passages == cut(text, passage_words=passage_words)
    assert all(passage == passage.strip() != "" for passage in passages)


@given(texts_of_sentences, st.integers(8, 40))
def test_passages_are_neither_much_too_long_nor_much_too_short(text: str, passage_words: int) -> None:
    sizes = [count_words(passage) for passage in cut(text, passage_words=passage_words)]
    assert max(sizes, default=0) <= 2.5 * passage_words
    assert len(sizes) < 2 or min(sizes) >= passage_words / 4


@given(st.integers(1, 400), st.integers(20, 60))
def test_a_text_of_short_sentences_becomes_as_many_passages_as_fit_it(count: int, passage_words: int) -> None:
    text = "Three short words. " * count
    expected = 1 if 3 * count <= 1.5 * passage_words else max(1, round(3 * count / passage_words))
    sizes = [len(passage.split()) for passage in cut(text, passage_words=passage_words)]
    assert len(sizes) == expected
    assert max(sizes) - min(sizes) <= 6  # two sentences


def test_a_text_of_one_and_a_half_passages_stays_whole() -> None:
    assert cut(" ".join(["Word."] * 150)) == [" ".join(["Word."] * 150)]
    assert [len(passage.split()) for passage in cut(" ".join(["Word."] * 152))] == [76, 76]


def test_up_to_the_given_number_of_words_a_text_stays_whole() -> None:
    text = " ".join(["Word."] * 200)
    assert cut(text, whole_up_to_words=200) == [text]
    assert len(cut(text)) == 2


def test_passages_end_where_sentences_end() -> None:
    assert cut(LONG, passage_words=35) == [
        " ".join(f"Sentence number {n} has exactly seven words." for n in range(1, 6)),
        " ".join(f"Sentence number {n} has exactly seven words." for n in range(6, 11)),
    ]


def test_a_paragraph_is_kept_together_where_that_is_near() -> None:
    first, second = LONG[: LONG.index("Sentence number 5")].strip(), LONG[LONG.index("Sentence number 5") :]
    assert cut(f"{first}\n\n{second}", passage_words=35) == [first, second]  # 28 and 42 words


def test_a_sentence_far_too_long_is_cut_between_words() -> None:
    passages = cut("word " * 250, passage_words=100)
    assert [len(passage.split()) for passage in passages] == [125, 125]


def test_text_without_spaces_is_cut_too() -> None:
    assert [len(passage) for passage in cut("山" * 300, passage_words=100)] == [100, 100, 100]
    assert [len(passage) for passage in cut("x" * 40_000, passage_words=100)] == [10_000] * 4


def test_nothing_is_cut_into_nothing() -> None:
    assert cut("") == cut(" \n ") == []


# --- Text


def test_control_characters_and_halves_of_pairs_are_removed() -> None:
    assert plain("a\x00b\x1b[31m\x7f\x9bc\ud800\tq\u00ad\ufeff") == "ab[31mc\tq"


def test_line_ends_of_all_systems_become_one() -> None:
    assert plain("a\r\nb\rc\u2028d\x85e\x0cf") == "a\nb\nc\nd\ne\nf"


def test_text_is_composed() -> None:
    assert plain("Zoe\u0308") == "Zo\u00eb"
    assert len(plain("a" + "\u0301\u0323" * 100_000)) < 50  # no real letter carries as many marks


def test_a_wrapped_paragraph_becomes_one_line_and_list_items_stay() -> None:
    wrapped = (
        "The museum on the hill above the harbour of the city of\n  Oslo   opens at ten and\ncloses at five."
    )
    text = f"{wrapped}\n- one\n- two\n\n\n\nNext\tparagraph"
    assert unwrapped(text) == f"{one_line(wrapped)}\n- one\n- two\n\nNext paragraph"


@given(st.text(max_size=200))
def test_cleaned_text_is_clean(text: str) -> None:
    assert plain(plain(text)) == plain(text)
    assert all(
        character.isprintable() or character.isspace() or ord(character) > 0x9F for character in plain(text)
    )
    plain(text).encode()


# --- Finding


def test_folders_are_searched_in_order_and_what_is_hidden_or_unknown_is_counted(write: Write) -> None:
    wanted = [write(f"docs/{name}", "x") for name in ("a.txt", "b/c.MD", "b/d.jsonl.gz", "z.html")]
    for name in ("picture.png", ".hidden.txt", ".git/e.txt", "archive.gz"):
        write(f"docs/{name}", "x")
    found = find_documents([wanted[0].parent])
    assert (list(found.files), found.skipped, found.unreadable) == (wanted, 4, ())


def test_a_file_named_twice_is_found_once(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("docs/a.txt", "x")
    monkeypatch.chdir(path.parent)
    assert find_documents(["a.txt", path, path.parent, "../docs/a.txt"]).files == (path,)


def test_a_named_path_that_cannot_be_read_says_so(write: Write, tmp_path: Path) -> None:
    picture = write("picture.png", "x")
    os.mkfifo(tmp_path / "pipe.txt")
    missing, picture_error, pipe = find_documents(
        [tmp_path / "no.txt", picture, tmp_path / "pipe.txt"]
    ).unreadable
    assert (missing.source, missing.reason) == (str(tmp_path / "no.txt"), "is not there")
    assert "cannot be read; these can: .txt, .md" in picture_error.reason
    assert pipe.reason == "is not a file"


def test_links_are_followed_and_never_in_circles(write: Write, tmp_path: Path) -> None:
    path = write("docs/a.txt", "x")
    (path.parent / "again").symlink_to(path.parent)
    (path.parent / "link.txt").symlink_to(path)
    (path.parent / "lost.txt").symlink_to(tmp_path / "nowhere")
    (path.parent / "self.txt").symlink_to("self.txt")
    found = find_documents([path.parent])
    assert found.files == (path,)
    assert [Path(error.source).name for error in found.unreadable] == ["lost.txt", "self.txt"]


def test_a_name_that_is_not_unicode_can_be_shown_and_stored(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9\x1b.txt")
    (tmp_path / name).write_text("Open at ten.")
    (path,) = find_documents([tmp_path]).files
    document = read(path)
    assert document.source == str(tmp_path / "caf��.txt")
    document.title.encode()


# --- Plain text


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
    path = write("a.pdf", b"")
    os.truncate(path, documents.WHOLE_FILE_BYTES + 1)
    monkeypatch.setattr(documents, "_read_pdf", None)
    assert refusal(path) == "is larger than 100 MB; cut it into smaller files"


def test_a_missing_file_a_folder_and_an_unknown_kind_are_refused(write: Write, tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.txt") == "is not there"
    assert refusal(write("folder.txt/a.txt", "x").parent) == "is not a file"
    assert refusal(write("a.png", "x")).startswith("is of a kind that cannot be read")


# --- What a document is


def test_the_hash_is_of_title_and_text_only(write: Write) -> None:
    first = read(write("one/a.txt", LONG))
    assert read(write("two/a.txt", LONG + "\n"), passage_words=20).content_hash == first.content_hash
    assert read(write("two/b.txt", LONG)).content_hash != first.content_hash
    assert read(write("two/a.txt", LONG + " More.")).content_hash != first.content_hash


def test_a_stream_is_one_document_under_its_name() -> None:
    (document,) = read_stream(io.StringIO("Open at ten.\n"), "opening hours")
    assert isinstance(document, PreparedDocument)
    assert (document.source, pairs(document)) == ("opening hours", [("opening hours", "Open at ten.")])


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "holds no text"), (b"a\0", "is not text"), (b"\xff", "is not text")]
)
def test_a_stream_without_text_is_refused(data: bytes, reason: str) -> None:
    (error,) = read_stream(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"), "stdin")
    assert isinstance(error, UnreadableDocument)
    assert (error.source, error.reason) == ("stdin", reason)


# --- Markdown


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
            f"a | b\n1 | 2\n\n{LONG}",
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


def test_short_sections_of_one_parent_are_joined_with_their_headings(write: Write) -> None:
    path = write("a.md", f"# Zoo\n\n## Bears\n\nTwo bears.\n\n## Owls\n\nOne owl.\n\n## History\n\n{LONG}")
    assert pairs(read(path, passage_words=50)) == [  # of 75 words at most, which History would exceed
        ("Zoo", "Bears\n\nTwo bears.\n\nOwls\n\nOne owl."),
        ("Zoo › History", LONG),
    ]


def test_a_heading_without_text_goes_with_the_text_after_it(write: Write) -> None:
    path = write("a.md", f"# Zoo\n\n## Empty\n\n## Birds\n\n### Owls\n\n{LONG}\n\n## Closing\n")
    assert pairs(read(path)) == [("Zoo › Birds › Owls", f"Empty\n\n{LONG}\n\nClosing")]


def test_headings_alone_are_a_text(write: Write) -> None:
    assert pairs(read(write("a.md", "# One\n\n# Two\n"))) == [("a", "One\n\nTwo")]


# --- HTML


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
            "Eat fish,\ndrink tea.\n\n1. first\n2. second\n- third\n\nDay | Time\nMon | 10\n\na\n  b\n\n"
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


# --- PDF


def pdf(pages: list[str], *, password: str = "") -> bytes:
    """A PDF with these lines on its pages."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(600, 800)
        lines = "".join(f"({line}) Tj 0 -14 Td " for line in text.split("\n"))
        content = DecodedStreamObject()
        content.set_data(f"BT /F1 12 Tf 50 700 Td {lines} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(content)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


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
)
def test_a_pdf_that_cannot_be_read_says_why(
    write: Write, capfd: pytest.CaptureFixture[str], content: bytes, reason: str
) -> None:
    assert refusal(write("a.pdf", content)).split(" (")[0] == reason.split(" (")[0]
    assert capfd.readouterr() == ("", "")


def test_a_damaged_page_leaves_the_others(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from pypdf import PageObject

    whole = PageObject.extract_text

    def extract(page: PageObject) -> str:
        text = whole(page)
        if "torn" in text:
            raise ZeroDivisionError
        return text

    monkeypatch.setattr(PageObject, "extract_text", extract)
    document, lost = read_documents(write("a.pdf", pdf(["Good words.", "torn"])))
    assert isinstance(document, PreparedDocument)
    assert pairs(document) == [("a › page 1", "Good words.")]
    assert isinstance(lost, UnreadableDocument)
    assert lost.reason == "page 2 is damaged (ZeroDivisionError)"


# --- DOCX


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
        ("Museum › Hours", f"Open at ten.\n\n- on Monday\n- on Friday\n\nDay | Time\nMon | 10\n\n{LONG}"),
        ("Museum › Prices", LONG),
    ]
    assert read(write("b.docx", docx_bytes())).title == "b"


def test_a_zip_bomb_is_refused_by_its_directory(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "UNPACKED_BYTES", 1_000_000)
    bomb = with_document_xml(b"<" + b" " * 2_000_000)
    assert refusal(write("a.docx", bomb)) == "unpacks to more than 1 MB"


def test_a_zip_bomb_that_lies_about_its_size_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "UNPACKED_BYTES", 1_000_000)
    bomb = with_document_xml(b"<" + b" " * 2_000_000)
    lie = bomb.replace(struct.pack("<I", 2_000_001), struct.pack("<I", 1_000))
    assert lie != bomb
    assert refusal(write("a.docx", lie)) == "is damaged, or not what its name says (BadZipFile)"


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
)
def test_a_docx_that_cannot_be_read_says_why(write: Write, content: bytes, reason: str) -> None:
    assert refusal(write("a.docx", content)) == reason


# --- Records


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


GOOD = {"id": "a-1", "doc": "a", "title": "Oslo", "text": "A city\x00 in Norway."}


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_each_record_is_a_document(write: Write, name: str) -> None:
    data = lines(GOOD, {"id": 7, "text": LONG})
    path = write(name, gzip.compress(data) if name.endswith("gz") else b"\xef\xbb\xbf" + data + b"\n")
    first, second = read_documents(path)
    assert isinstance(first, PreparedDocument)
    assert isinstance(second, PreparedDocument)
    assert (first.source, first.external_id, pairs(first)) == (
        f"{path}#a-1", "a-1", [("Oslo", "A city in Norway.")]
    )  # fmt: skip
    assert (second.source, second.title, second.external_id) == (f"{path}#7", "7", "7")


def test_a_record_is_cut_only_if_it_is_long(write: Write) -> None:
    path = write("a.jsonl", lines({"id": 1, "text": LONG * 2}, {"id": 2, "text": LONG * 3}))
    counts = [len(d.passages) for d in read_documents(path) if isinstance(d, PreparedDocument)]
    assert counts == [1, 2]  # of 139 and 208 words
    fine = read_documents(path, passage_words=35, whole_up_to_words=50)
    assert [len(d.passages) for d in fine if isinstance(d, PreparedDocument)] == [4, 6]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "line 2 is not valid JSON"),
        (b"[" * 100_000, "line 2 is not valid JSON"),
        (b"\xff", "line 2 is not UTF-8"),
        (b"[1]", "line 2 is not an object with id, title and text"),
        (b'{"text": "x"}', "line 2 has no id"),
        (b'{"id": true, "text": "x"}', "line 2 has no id"),
        (b'{"id": " ", "text": "x"}', "line 2 has no id"),
        (b'{"id": 1}', "line 2 has no text"),
        (b'{"id": 1, "text": "x", "title": 3}', "line 2 has a title that is not text"),
        (b'{"id": 1, "text": " \\u0000\\ud800"}', "line 2 holds no text"),
        (b'{"id": 1, "text": "' + b"x" * 2000 + b'"}', "line 2 is longer than 0 MB"),
    ],
)
def test_a_bad_record_is_named_and_the_others_are_read(
    write: Write, monkeypatch: pytest.MonkeyPatch, line: bytes, reason: str
) -> None:
    if b"xxx" in line:
        monkeypatch.setattr(documents, "RECORD_BYTES", 500)
    path = write("a.jsonl", lines(GOOD) + line + b"\n" + lines(GOOD))
    first, error, last = read_documents(path)
    assert isinstance(first, PreparedDocument)
    assert first == last
    assert isinstance(error, UnreadableDocument)
    assert (error.source, error.reason) == (str(path), reason)


def test_records_are_read_one_by_one(write: Write) -> None:
    path = write("a.jsonl.gz", gzip.compress(lines(GOOD) + b" " * 50_000_000))
    document, error = read_documents(path)
    assert isinstance(document, PreparedDocument)
    assert isinstance(error, UnreadableDocument)
    assert error.reason == "line 2 is longer than 16 MB"


def test_a_torn_collection_gives_what_is_whole(write: Write) -> None:
    torn = gzip.compress(lines(GOOD)) + gzip.compress(lines(*[{**GOOD, "id": n} for n in range(9)]))[:-9]
    *_, error = read_documents(write("a.jsonl.gz", torn))
    assert isinstance(error, UnreadableDocument)
    assert error.reason == "is damaged: what follows cannot be unpacked"
    assert refusal(write("b.jsonl.gz", b"no archive")) == error.reason
