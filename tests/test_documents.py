"""Files, folders, records and streams become documents, and one that cannot be read stops no other."""

from __future__ import annotations

import gzip
import io
import json
import os
from pathlib import Path

import pytest
from document_files import LONG, Write, pairs, read, refusal, write

from assistant.library import documents, ingest
from assistant.library.documents import PreparedDocument, find_documents, read_documents, read_stream
from stores.base.errors import UnreadableDocument

__all__ = ["write"]  # a fixture

# Finding


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
    assert "cannot be read; `vouch ingest --help` lists those that can" in picture_error.reason
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
    assert document.source == str(tmp_path / r"caf\xe9\x1b.txt")
    document.title.encode()


def test_a_name_that_would_break_or_turn_the_line_is_shown_without_what_does(tmp_path: Path) -> None:
    (tmp_path / "a\n\u2028\u202etxt.txt").write_text("Open at ten.")
    (path,) = find_documents([tmp_path]).files
    assert read(path).source == str(tmp_path / r"a\x0a\u2028\u202etxt.txt")


def test_a_file_that_became_a_pipe_is_refused_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    monkeypatch.setattr(Path, "is_file", lambda _: True)
    assert refusal(tmp_path / "pipe.txt") == "is not a file"


# What a document is


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


def test_a_missing_file_a_folder_and_an_unknown_kind_are_refused(write: Write, tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.txt") == "is not there"
    assert refusal(write("folder.txt/a.txt", "x").parent) == "is not a file"
    assert refusal(write("a.png", "x")).startswith("is of a kind that cannot be read")


# Records


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
        (b'{"text": "x"}', "line 2 has no id; a record needs id and text, and may have a title"),
        (b'{"id": true, "text": "x"}', "line 2 has no id; a record needs id and text, and may have a title"),
        (b'{"id": " ", "text": "x"}', "line 2 has no id; a record needs id and text, and may have a title"),
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


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_a_collection_without_records_is_refused(write: Write, content: str) -> None:
    assert refusal(write("a.jsonl", content)) == "holds no records"


def test_a_line_that_does_not_end_ends_the_reading(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "RECORD_BYTES", 500)
    monkeypatch.setattr(documents, "PASSED_OVER_BYTES", 5_000)
    path = write("a.jsonl.gz", gzip.compress(lines(GOOD) + b" " * 6_000 + b"\n" + lines(GOOD)))
    _, error = read_documents(path)
    assert isinstance(error, UnreadableDocument)
    assert error.reason == "line 2 does not end; nothing after it was read"


def test_empty_lines_without_end_end_the_reading(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "RECORD_BYTES", 500)
    _, error = read_documents(write("a.jsonl", lines(GOOD) + b"\n" * 501 + lines(GOOD)))
    assert isinstance(error, UnreadableDocument)
    assert error.reason == "is mostly empty; nothing after line 502 was read"


def test_a_collection_of_more_bad_lines_than_good_ones_is_something_else(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MOST_BAD_RECORDS", 3)
    good = lines(*[{**GOOD, "id": n} for n in range(4)])
    assert len(list(read_documents(write("a.jsonl", good + b"bad\n" * 4)))) == 8
    *errors, last = read_documents(write("b.jsonl", lines(GOOD) + b"bad\n" * 9 + good))
    assert len(errors) == 4  # the good one and three bad ones
    assert isinstance(last, UnreadableDocument)
    assert last.reason == "has more bad lines than good ones; nothing after line 4 was read"


def test_the_lines_of_a_large_collection_are_counted_at_its_beginning(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_COUNTED_BLOCKS", 1)
    path = write("a.jsonl", (b"x" * 1023 + b"\n") * 4096)  # 4 MiB, of which one is read
    assert ingest.count_documents([path]) == 4096


def test_a_torn_collection_gives_what_is_whole(write: Write) -> None:
    torn = gzip.compress(lines(GOOD)) + gzip.compress(lines(*[{**GOOD, "id": n} for n in range(9)]))[:-9]
    *_, error = read_documents(write("a.jsonl.gz", torn))
    assert isinstance(error, UnreadableDocument)
    assert error.reason == "is damaged: what follows cannot be unpacked"
    assert refusal(write("b.jsonl.gz", b"no archive")) == error.reason
