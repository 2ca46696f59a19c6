"""Readers, fed with changed files through the process that reads for `vouch ingest`."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import random
import re
import resource
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from assistant.library.cutting import PASSAGE_WORDS, count_words
from assistant.library.documents import PreparedDocument, ReadFile
from assistant.library.reading_process import ReadingProcess
from benchmarks.fuzz_bytes import (
    HTML_TOKENS,
    JSON_TOKENS,
    MARKDOWN_TOKENS,
    MOST_BYTES,
    PDF_TOKENS,
    TEXT_TOKENS,
    XML_TOKENS,
    mutated,
)
from benchmarks.fuzz_limits import (
    MOST_SECONDS,
    MOST_WALL_SECONDS,
    Hangs,
    deadline,
    forget_peak,
    peak_megabytes,
    problem_of_message,
    processor_seconds,
)
from benchmarks.fuzz_seeds import collections, docxs, html_pages, markdown, pdfs, texts
from stores.base.errors import UnreadableDocument
from stores.base.file_names import shown_path


def problem_of_reading(results: list[PreparedDocument | UnreadableDocument], source: str) -> str:
    """What is wrong with what was made of a file, or nothing."""
    if not results:
        return "neither a document nor an error"
    for result in results:
        if result.source.partition("#")[0] != source:
            return f"{result.source!r} instead of {source!r}"
        if isinstance(result, UnreadableDocument):
            if _FAILED.search(result.reason):
                return result.message
            if "damaged" in result.reason and not source.endswith((".pdf", ".docx", ".gz")):
                return f"text cannot be damaged: {result.reason}"
            if problem := problem_of_message(result.reason):
                return problem
        elif problem := _problem_of_document(result):
            return problem
    return ""


_FAILED = re.compile("ended the process|takes longer than")


def _problem_of_document(document: PreparedDocument) -> str:
    if not document.passages:
        return "a document without passages"
    for passage in document.passages:
        if not passage.text.strip() or passage.text != passage.text.strip():
            return f"an empty passage, or one with space around it: {passage.text[:80]!r}"
        if count_words(passage.text) > 2.5 * PASSAGE_WORDS:
            return f"a passage of {count_words(passage.text)} words"
        if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", passage.text + passage.title):
            return f"control characters in a passage: {passage.text[:80]!r}"
        if "\n" in passage.title:
            return f"a title of several lines: {passage.title!r}"
    return ""


class ReaderFuzzer:
    """Files of every kind, read as `vouch ingest` reads them."""

    def __init__(self, folder: Path, corpus: Path | None) -> None:
        self._folder = folder
        self._reading = ReadingProcess(processor_seconds=MOST_SECONDS)
        self._seeds: dict[str, list[bytes]] = {
            ".txt": texts(),
            ".md": markdown(),
            ".html": html_pages(),
            ".pdf": pdfs(),
            ".docx": docxs(),
            ".jsonl": collections(),
            ".jsonl.gz": [gzip.compress(collection, mtime=0) for collection in collections()],
            ".stdin": texts(),
        }
        for path in sorted(corpus.rglob("*")) if corpus else []:
            if path.is_file() and self.kind(path.name) in self._seeds:
                self._seeds[self.kind(path.name)].append(path.read_bytes()[:MOST_BYTES])

    def close(self) -> None:
        """Ends the process that reads."""
        self._reading.close()

    @staticmethod
    def kind(name: str) -> str:
        """The suffix that says how a file is read."""
        return next((kind for kind in (".jsonl.gz",) if name.endswith(kind)), Path(name).suffix)

    def case(self, rng: random.Random, case: str) -> tuple[str, bytes]:
        """A file's name and bytes."""
        kind = rng.choices(list(self._seeds), [1 if kind != ".stdin" else 0.05 for kind in self._seeds])[0]
        seed = rng.choice(self._seeds[kind])
        name = rng.choice(
            [f"{case}{kind}", f"a{case}\x1b[1m\n{kind}", os.fsdecode(b"caf\xe9\xe2\x80\xae") + kind]
        )
        return name, _changed(rng, kind, seed, self._seeds[kind])

    def run(self, name: str, data: bytes) -> tuple[str, str, float, float]:
        """The outcome, what is wrong with it, processor seconds, and the peak in megabytes."""
        if self.kind(name) == ".stdin":
            return self._run_standard_input(data)
        path = self._folder / name
        path.write_bytes(data)
        before = processor_seconds(self._reading.process_id)
        forget_peak(self._reading.process_id)
        source = shown_path(path)
        try:
            with deadline():
                read = self._reading.read(path)
                results = [result for result in read if not isinstance(result, ReadFile)]
            problem = problem_of_reading(results, source)
        except Hangs:
            self._reading.close()
            return "hang", f"not done after {MOST_WALL_SECONDS:.0f} s", MOST_WALL_SECONDS, 0.0
        except Exception as error:  # noqa: BLE001 - whatever comes out is the finding
            return "crash", f"{type(error).__name__}: {error}", 0.0, 0.0
        finally:
            path.unlink()
        seconds = processor_seconds(self._reading.process_id) - before
        outcome = outcome_of(results) if not problem else "defect"
        return outcome, problem, max(0.0, seconds), peak_megabytes(self._reading.process_id)

    def _run_standard_input(self, data: bytes) -> tuple[str, str, float, float]:
        """A text on standard input, which only a process that was started with it has."""
        command = [sys.executable, "-c", _READ_STANDARD_INPUT]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            ran = subprocess.run(
                command, input=data, capture_output=True, timeout=MOST_WALL_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return "hang", f"not done after {MOST_WALL_SECONDS:.0f} s", MOST_WALL_SECONDS, 0.0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if ran.returncode:
            return "crash", ran.stderr.decode(errors="replace").strip().rpartition("\n")[2], seconds, 0.0
        outcome, problem = json.loads(ran.stdout)
        return outcome, problem, seconds, 0.0


_READ_STANDARD_INPUT = """
import json
from assistant.library.reading_process import ReadingProcess
from benchmarks.fuzz_limits import MOST_SECONDS
from benchmarks.fuzz_readers import outcome_of, problem_of_reading
with ReadingProcess(processor_seconds=MOST_SECONDS) as reading:
    results = list(reading.read_standard_input("standard input"))
print(json.dumps([outcome_of(results), problem_of_reading(results, "standard input")]))
"""


def outcome_of(results: list[PreparedDocument | UnreadableDocument]) -> str:
    errors = [result for result in results if isinstance(result, UnreadableDocument)]
    if any("memory" in error.reason for error in errors):
        return "error, out of memory"
    return "documents and errors" if 0 < len(errors) < len(results) else "error" if errors else "documents"


def _changed(rng: random.Random, kind: str, seed: bytes, others: list[bytes]) -> bytes:
    """A seed changed, on its surface or below its packing."""
    surface = rng.random() < 0.3
    if kind == ".docx" and not surface:
        return _changed_archive(rng, seed)
    if kind == ".pdf":
        data = mutated(rng, seed, PDF_TOKENS, others=others)
        return data if surface else _packed_again(rng, data)
    if kind == ".jsonl.gz" and not surface:
        lines = mutated(rng, gzip.decompress(seed), JSON_TOKENS, others=collections())
        return gzip.compress(lines, mtime=0) + rng.choice([b"", b"", b"\0" * 9, seed, b"more"])
    tokens = {
        ".md": MARKDOWN_TOKENS,
        ".html": HTML_TOKENS,
        ".docx": XML_TOKENS,
        ".jsonl": JSON_TOKENS,
        ".jsonl.gz": JSON_TOKENS,
    }.get(kind, TEXT_TOKENS)
    if kind in (".txt", ".md", ".html", ".stdin") and rng.random() < 0.3:
        seed = b"".join(rng.choice(tokens) for _ in range(rng.choice([3, 30, 300, 3000])))
    return mutated(rng, seed, tokens, others=others)


def _changed_archive(rng: random.Random, seed: bytes) -> bytes:
    """A .docx with one or two of its parts changed, left out, or put there twice."""
    with zipfile.ZipFile(io.BytesIO(seed)) as archive:
        parts = [(name, archive.read(name)) for name in archive.namelist()]
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.randrange(len(parts))
        if rng.random() < 0.6:
            at = next((n for n, (name, _) in enumerate(parts) if name == "word/document.xml"), at)
        name, data = parts[at]
        change = rng.randrange(10)
        if change < 7:
            parts[at] = name, mutated(rng, data, XML_TOKENS, others=[data for _, data in parts])
        elif change == 7 and len(parts) > 1:
            del parts[at]
        elif change == 8:
            parts.append((name, data))
        else:
            parts[at] = rng.choice(["../" * 9 + name, f"/{name}", name.upper(), f"{name}\0"]), data
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])) as archive:
        for name, data in parts:
            with _silent():
                archive.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile's, of names put there twice
        yield


def _packed_again(rng: random.Random, data: bytes) -> bytes:
    """A PDF with one of its plain streams deflated, and its length told or not."""
    streams = list(
        re.finditer(rb"<<([^<>]*)/Length \d+([^<>]*)>>\s*stream\n(.*?)\nendstream", data, re.DOTALL)
    )
    if not streams:
        return data
    stream = rng.choice(streams)
    packed = zlib.compress(mutated(rng, stream[3], PDF_TOKENS, others=[stream[3]]))
    if rng.random() < 0.2:
        packed = mutated(rng, packed, PDF_TOKENS, others=[packed])
    told = b"<<%b/Length %d /Filter /FlateDecode%b>>" % (
        stream[1],
        rng.choice([len(packed), 0, 10**9]),
        stream[2],
    )
    return data[: stream.start()] + told + b" stream\n" + packed + b"\nendstream" + data[stream.end() :]
