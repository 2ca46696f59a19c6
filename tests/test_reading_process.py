"""What a file does to its parser ends with the process that read it; the next file is read by another."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from document_files import LONG, Write, write

from assistant.library.documents import PreparedDocument, Readable, read_file
from assistant.library.knowledge_file import read_knowledge
from assistant.library.reading_process import ReadingProcess
from stores.base.errors import UnreadableDocument

__all__ = ["write"]  # a fixture


def reason(results: list[Readable]) -> str:
    (error,) = results
    assert isinstance(error, UnreadableDocument), error
    return error.reason


def test_it_reads_what_is_read_here(write: Write, tmp_path: Path) -> None:
    collection = write("a.jsonl", f"{json.dumps({'id': 1, 'title': 'Oslo', 'text': LONG * 5})}\nbad\n")
    with ReadingProcess() as reading:
        for path in (collection, write("b.txt", LONG), tmp_path / "none.txt"):
            here = list(read_file(path))
            assert [str(result) for result in reading.read(path)] == [str(result) for result in here]


def test_a_relative_path_is_that_of_this_process(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write("here.txt", LONG).parent)
    with ReadingProcess() as reading:
        document, _ = reading.read("here.txt")
    assert isinstance(document, PreparedDocument)


def test_a_folder_of_the_persons_own_is_not_searched_for_modules(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("a.md", LONG)
    write("markdown_it.py", "raise SystemExit")
    monkeypatch.chdir(path.parent)
    with ReadingProcess() as reading:
        document, _ = reading.read(path)
    assert isinstance(document, PreparedDocument)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of one process")
def test_a_file_that_takes_too_much_memory_is_refused_and_the_next_one_read(write: Write) -> None:
    with ReadingProcess(memory_bytes=120_000_000) as reading:
        error = reason(list(reading.read(write("a.html", "<b>" * 400_000))))
        document, _ = reading.read(write("b.html", LONG))
    assert error == "takes more memory to read than it may; cut it into smaller files"
    assert isinstance(document, PreparedDocument)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of one process")
def test_a_docx_that_takes_too_much_memory_is_not_called_damaged(write: Write, tmp_path: Path) -> None:
    import docx

    document = docx.Document()
    document.save(str(tmp_path / "a.docx"))
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.docx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    body = b"<w:body>" + b"<w:p/>" * 1_500_000
    parts["word/document.xml"] = parts["word/document.xml"].replace(b"<w:body>", body)
    with zipfile.ZipFile(tmp_path / "b.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with ReadingProcess(memory_bytes=150_000_000) as reading:
        error = reason(list(reading.read(tmp_path / "b.docx")))
    assert error == "takes more memory to read than it may; cut it into smaller files"


def test_a_file_that_takes_too_long_is_refused_and_the_next_one_read(write: Write) -> None:
    slow = write("a.txt", "A b. " * 200_000)  # some seconds, of which it has two hundredths
    with ReadingProcess(processor_seconds=0.01) as reading:
        error = reason(list(reading.read(slow)))
    assert error == "takes longer than 0 s to read; cut it into smaller files"
    with ReadingProcess(processor_seconds=0.01) as reading:
        assert reason(list(reading.read(slow))) == error
        assert reason(list(reading.read(slow.with_name("none.txt")))) == "is not there"


def test_a_file_that_ends_its_reader_is_refused_and_the_next_one_read(write: Write) -> None:
    records = "".join(
        f"{json.dumps({'id': n, 'text': LONG})}\n" for n in range(5000)
    )  # more than a pipe holds
    with ReadingProcess() as reading:
        results = reading.read(write("a.jsonl", records))
        assert isinstance(next(results), PreparedDocument)
        assert reading.process_id is not None
        os.kill(reading.process_id, signal.SIGSEGV)
        *read, error = results
        document, _ = reading.read(write("b.txt", LONG))
    assert len(read) < 4999
    assert isinstance(error, UnreadableDocument)
    assert error.reason == "cannot be read: it ended the process that read it (signal 11)"
    assert isinstance(document, PreparedDocument)


def test_a_collection_that_is_left_in_the_middle_does_not_answer_for_the_next_file(write: Write) -> None:
    with ReadingProcess() as reading:
        results = reading.read(write("a.jsonl", '{"id": 1, "text": "x"}\n' * 9))
        next(results)
        results.close()
        document, _ = reading.read(write("b.txt", LONG))
    assert isinstance(document, PreparedDocument)
    assert document.title == "b"


def test_the_process_ends_with_its_owner(write: Write) -> None:
    with ReadingProcess() as reading:
        list(reading.read(write("a.txt", LONG)))
        process_id = reading.process_id
        assert process_id is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process_id, 0)


def test_a_table_is_read_whole_or_its_problems_are(write: Write) -> None:
    good, bad = write("a.csv", "name,food\nKiku,japanese\nPho,\n"), write("b.csv", "name,food\nKiku\n")
    with ReadingProcess() as reading:
        read = reading.read_table(good)
        assert read == read_knowledge(good)
        assert reading.read_table(bad) == read_knowledge(bad)
        with pytest.raises(UnreadableDocument, match="No such file"):
            reading.read_table(good.with_name("none.csv"))


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "endless.csv").symlink_to("/dev/zero")
    with ReadingProcess() as reading:
        for name in ("pipe.csv", "endless.csv"):
            with pytest.raises(UnreadableDocument, match="is not a file"):
                reading.read_table(tmp_path / name)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of one process")
def test_a_line_that_takes_too_much_memory_ends_the_process_alone(write: Write) -> None:
    line = '{"name": [' + "{}," * 4_000_000 + "{}]}"
    with (
        ReadingProcess(memory_bytes=200_000_000) as reading,
        pytest.raises(UnreadableDocument, match="takes more memory"),
    ):
        reading.read_table(write("a.jsonl", line))
