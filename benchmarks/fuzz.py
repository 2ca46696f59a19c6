"""Readers and the settings file, fed with what nobody would write: no crash, no hang, clear errors.

    python -m benchmarks.fuzz readers --minutes 10 --seed 1 [--corpus DIR] [--save DIR]
    python -m benchmarks.fuzz settings --minutes 10 --seed 1
    python -m benchmarks.fuzz readers --replay FILE

Cases are made from whole small files by changing bytes, tokens of the format, and what lies below its
packing (the XML of a .docx, the streams of a PDF, the lines of a .jsonl.gz). Every reader's case goes
through `ReadingProcess`, as in `vouch ingest`; every settings case is read in a process of its own.

Allowed are documents (or settings) and errors of Vouch's own: one line that names the file, without
control characters or a traceback. Everything else is a defect, and so are more than 10 s of processor
time for a case or the end of the process that read it. A defect's input is saved, for --replay.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from assistant.config import SECTIONS, Settings
from assistant.library.cutting import PASSAGE_WORDS, count_words
from assistant.library.documents import PreparedDocument
from assistant.library.plain_text import shown_path
from assistant.library.reading_process import ReadingProcess
from assistant.settings_file import load_settings
from stores.errors import UnreadableDocument, VouchError

MOST_SECONDS = 10.0  # of processor time, for one case
MOST_WALL_SECONDS = 120.0  # without which a case hangs, however busy the machine is
MOST_BYTES = 200_000  # of a case
MOST_MEGABYTES = 500
LONGEST_MESSAGE = 600  # characters of a line, the path left out


@dataclass
class Outcomes:
    """What became of the cases."""

    cases: int = 0
    counts: Counter[str] = field(default_factory=Counter)  # "pdf document", "pdf error"
    slowest_seconds: float = 0.0  # of processor time
    slowest: str = ""
    peak_megabytes: float = 0.0
    largest: str = ""
    defects: list[str] = field(default_factory=list)

    def note(self, case: str, kind: str, outcome: str, seconds: float, megabytes: float) -> None:
        """Counts a case."""
        self.cases += 1
        self.counts[f"{kind}: {outcome}"] += 1
        if seconds > self.slowest_seconds:
            self.slowest_seconds, self.slowest = seconds, case
        if megabytes > self.peak_megabytes:
            self.peak_megabytes, self.largest = megabytes, case


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", choices=["readers", "settings"])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="files to begin with, beside those made here")
    parser.add_argument("--save", type=Path, default=Path("fuzz-defects"), help="where defects' inputs go")
    parser.add_argument("--replay", type=Path, help="one saved input, instead of new ones")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vouch-fuzz-") as made:
        folder = Path(made)
        fuzzer = (
            _ReaderFuzzer(folder, arguments.corpus)
            if arguments.target == "readers"
            else _SettingsFuzzer(folder, arguments.corpus)
        )
        with contextlib.closing(fuzzer):
            if arguments.replay:
                name = arguments.replay.name
                outcome, problem, seconds, megabytes = fuzzer.run(name, arguments.replay.read_bytes())
                print(f"{name}: {outcome}, {seconds:.2f} s, {megabytes:.0f} MB; {problem or 'no defect'}")
                sys.exit(bool(problem))
            outcomes = _fuzz(fuzzer, arguments)
    print(f"{arguments.target}: seed {arguments.seed}, {outcomes.cases} cases")
    for name, count in sorted(outcomes.counts.items()):
        print(f"  {name} {count}")
    print(f"slowest case: {outcomes.slowest_seconds:.2f} s of processor time ({outcomes.slowest})")
    print(f"peak memory of the process that reads: {outcomes.peak_megabytes:.0f} MB ({outcomes.largest})")
    print(f"defects: {len(outcomes.defects)}")
    sys.exit(bool(outcomes.defects))


def _fuzz(fuzzer: _ReaderFuzzer | _SettingsFuzzer, arguments: argparse.Namespace) -> Outcomes:
    outcomes = Outcomes()
    ends = time.monotonic() + 60 * arguments.minutes
    while time.monotonic() < ends:
        case = f"{arguments.seed}-{outcomes.cases}"
        name, data = fuzzer.case(random.Random(case), case)
        outcome, problem, seconds, megabytes = fuzzer.run(name, data)
        outcomes.note(case, fuzzer.kind(name), outcome, seconds, megabytes)
        if problem:
            arguments.save.mkdir(parents=True, exist_ok=True)
            saved = arguments.save / f"{case}{fuzzer.kind(name)}"
            saved.write_bytes(data)
            outcomes.defects.append(str(saved))
            print(f"DEFECT {saved}: {problem}", flush=True)
    return outcomes


# What is allowed


def problem_of_message(message: str) -> str:
    """What is wrong with an error's line, or nothing."""
    if not message.isprintable():
        return f"control characters or line breaks in {message!r}"
    if len(message) > LONGEST_MESSAGE:
        return f"a message of {len(message)} characters"
    if re.search(r"Traceback|File \"|object at 0x|Error\('", message):
        return f"a programmer's message: {message}"
    return ""


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


def problem_of_settings_error(error: VouchError, name: str) -> str:
    """What is wrong with what is said of a settings file, or nothing: a line for each mistake."""
    lines = error.message.split("\n")
    if len(lines) > 50:
        return f"{len(lines)} lines"
    for line in lines:
        if name not in line:
            return f"the file is not named: {line}"
        if problem := problem_of_message(line):
            return problem
    return "" if not error.hint else problem_of_message(error.hint)


# Changing bytes

_WORDS = "open café 漢字 \u202e e\u0301 Ünïcode a.b Mr. 3.14 ... ok? \U0001f600 x".split(" ")
_ODD_BYTES = [
    b"\0",
    b"\xff",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"\xc3\x28",
    b"\xed\xa0\x80",
    b"\r",
    b"\x1b[31m",
    b"\x85",
]


def mutated(rng: random.Random, data: bytes, tokens: list[bytes], *, others: list[bytes]) -> bytes:
    """A file changed in one to six places, of `MOST_BYTES` bytes at most."""
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice([1, 2, 8, 64, 1024]))
        change = rng.randrange(9)
        if change == 0 and data:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif change == 1:
            data = data[:at] + data[end:]
        elif change == 2:
            data = data[:end] + data[at:end] * rng.choice([1, 2, 10, 100]) + data[end:]
        elif change == 3:
            data = data[:at] + rng.choice(tokens) + data[at:]
        elif change == 4:
            data = data[:at] + rng.choice(tokens) * rng.choice([10, 300, 5000]) + data[at:]
        elif change == 5:
            data = data[:at] + rng.choice(_ODD_BYTES) + data[at:]
        elif change == 6:
            data = data[:at]
        elif change == 7:
            other = rng.choice(others)
            data = data[:at] + other[rng.randrange(len(other) + 1) :]
        elif numbers := list(re.finditer(rb"\d+", data[:20_000])):
            number = rng.choice(numbers)
            other = rng.choice([b"0", b"-1", b"99999999999", b"1e308", b"2147483648", b"3"])
            data = data[: number.start()] + other + data[number.end() :]
        data = data[:MOST_BYTES]
    return data


def _tokens(text: str) -> list[bytes]:
    return [token.encode() for token in text.split(" ")] + [b" ", b"\n", b"\n\n"]


_TEXT_TOKENS = _tokens('a. ... ?! \u3002 \u4e00 e\u0301 \u0301 A.B. Mr. - 1. # > | \u2028 [1] " word')
_MARKDOWN_TOKENS = _tokens(
    "# ## ### - * ** _ ` ``` ~~~ > >> [ ] ![ ]( ) <!-- --> <div> </div> | |- |-|- --- === & &amp; &#x0; "
    "[a]: <a \\ 1. 2) \t :-: http:// <b <br> !["
)
_HTML_TOKENS = _tokens(
    "<div> </div> <p> <b> <a <!-- --> <![CDATA[ ]]> <script> </script> <table> <tr> <td> <ul> <ol> <li> "
    "<pre> <h1> </h1> <title> <main> <br> <img &amp; &#xD800; &#0; &#x110000; &nbsp &lt <svg> <template> "
    "hidden <meta\tcharset='utf-16'> <?xml <!DOCTYPE </ < > = ' \" <textarea> <plaintext>"
)
_XML_TOKENS = _tokens(
    "<w:p> </w:p> <w:r> <w:t> </w:t> <w:tbl> <w:tr> <w:tc> </w:tc> <w:gridSpan\tw:val='9'/> <w:vMerge/> "
    "<w:pPr> <w:pStyle\tw:val='Heading1'/> <w:numPr/> <w:sdt> <!-- <![CDATA[ &amp; &x; "
    "<w:hyperlink> <w:br/> <w:tab/> "
    "xmlns:w='x' Target='file:///etc/passwd' TargetMode='External' r:id='rId99' <w:sectPr/> <w:drawing/>"
)
_PDF_TOKENS = _tokens(
    "obj endobj stream endstream xref trailer startxref %%EOF << >> [ ] /Kids /Parent /Type /Pages /Page "
    "/Count /Contents /Resources /Font /F1 /Filter /FlateDecode /LZWDecode /ASCII85Decode /RunLengthDecode "
    "/Length /Encrypt /ObjStm /XRef /Prev 1\t0\tR 2\t0\tR 3\t0\tR 4\t0\tR 5\t0\tR 6\t0\tR "
    "BT ET Tj TJ Tf Td Tm q Q cm Do "
    "/DecodeParms /Predictor /Columns /ToUnicode /Encoding /Differences ( ) < > BI ID EI null true"
)
_JSON_TOKENS = _tokens('{ } [ ] , : "id" "text" "title" null true 1e999 NaN -0 "\\ud800" "\\u0000" \\ " 9e9')


# Readers


class _ReaderFuzzer:
    """Files of every kind, read as `vouch ingest` reads them."""

    def __init__(self, folder: Path, corpus: Path | None) -> None:
        self._folder = folder
        self._reading = ReadingProcess(processor_seconds=MOST_SECONDS)
        self._seeds: dict[str, list[bytes]] = {
            ".txt": _texts(),
            ".md": _markdown(),
            ".html": _pages(),
            ".pdf": _pdfs(),
            ".docx": _docxs(),
            ".jsonl": _collections(),
            ".jsonl.gz": [gzip.compress(collection, mtime=0) for collection in _collections()],
            ".stdin": _texts(),
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
        before = _processor_seconds(self._reading.process_id)
        _forget_peak(self._reading.process_id)
        source = shown_path(path)
        try:
            with _deadline():
                results = list(self._reading.read(path))
            problem = problem_of_reading(results, source)
        except _Hangs:
            self._reading.close()
            return "hang", f"not done after {MOST_WALL_SECONDS:.0f} s", MOST_WALL_SECONDS, 0.0
        except Exception as error:  # noqa: BLE001 - whatever comes out is the finding
            return "crash", f"{type(error).__name__}: {error}", 0.0, 0.0
        finally:
            path.unlink()
        seconds = _processor_seconds(self._reading.process_id) - before
        outcome = _outcome(results) if not problem else "defect"
        return outcome, problem, max(0.0, seconds), _peak_megabytes(self._reading.process_id)

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
from benchmarks.fuzz import MOST_SECONDS, _outcome, problem_of_reading
with ReadingProcess(processor_seconds=MOST_SECONDS) as reading:
    results = list(reading.read_standard_input("standard input"))
print(json.dumps([_outcome(results), problem_of_reading(results, "standard input")]))
"""


def _outcome(results: list[PreparedDocument | UnreadableDocument]) -> str:
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
        data = mutated(rng, seed, _PDF_TOKENS, others=others)
        return data if surface else _packed_again(rng, data)
    if kind == ".jsonl.gz" and not surface:
        lines = mutated(rng, gzip.decompress(seed), _JSON_TOKENS, others=_collections())
        return gzip.compress(lines, mtime=0) + rng.choice([b"", b"", b"\0" * 9, seed, b"more"])
    tokens = {
        ".md": _MARKDOWN_TOKENS,
        ".html": _HTML_TOKENS,
        ".docx": _XML_TOKENS,
        ".jsonl": _JSON_TOKENS,
        ".jsonl.gz": _JSON_TOKENS,
    }.get(kind, _TEXT_TOKENS)
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
            parts[at] = name, mutated(rng, data, _XML_TOKENS, others=[data for _, data in parts])
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
    packed = zlib.compress(mutated(rng, stream[3], _PDF_TOKENS, others=[stream[3]]))
    if rng.random() < 0.2:
        packed = mutated(rng, packed, _PDF_TOKENS, others=[packed])
    told = b"<<%b/Length %d /Filter /FlateDecode%b>>" % (
        stream[1],
        rng.choice([len(packed), 0, 10**9]),
        stream[2],
    )
    return data[: stream.start()] + told + b" stream\n" + packed + b"\nendstream" + data[stream.end() :]


# Files to begin with

_LONG = " ".join(f"Sentence number {n} has exactly seven words." for n in range(1, 40))


def _texts() -> list[bytes]:
    poem = "Das Café öffnet um zehn – täglich.\n\nItem one:\n- a\n- b\n\n" + _LONG
    return [poem.encode(), poem.encode("utf-16"), poem.encode("cp1252"), "漢字。今日は。".encode() * 40, b"x"]


def _markdown() -> list[bytes]:
    return [
        f"---\ntitle: t\n---\n# The Guide\n\n{_LONG}\n\n## Install\n\n> quoted\n>> twice\n\n1. one\n"
        f"2. two\n   * in\n\n"
        f"| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nif x\n```\n\n[l](http://x 'y') ![i](m.png) <div>raw "
        f"<b>x</b></div>\n\n[r]: http://x\n\n### Deep\n\n{_LONG}\n".encode(),
        b"# a\n# b\n## c\n",
    ]


def _pages() -> list[bytes]:
    page = (
        f"<!doctype html><html><head><title>Oslo &ndash; Guide</title><meta charset='utf-8'>"
        f"<style>p {{}}</style></head><body><nav>Home</nav><main><h1>Oslo</h1><p>{_LONG}</p>"
        f"<h2>Food<br></h2><p>Eat <a href=x>fish</a>,"
        f"<br><em>te</em>a.<!-- no --></p><script>no()</script><ol><li>first"
        f"<li><p>second</ol>"
        f"<ul><li>third</ul><table><tr><th>Day<th>Time<tr><td>Mon<td>10</table><pre>a\n  b</pre>"
        f"{_LONG}<img alt='m'></main></body>"
    )
    return [page.encode(), page.encode("utf-16"), b"<p>x"]


def _collections() -> list[bytes]:
    records = [{"id": f"a-{n}", "title": "Oslo", "text": f"{_LONG} {n}"} for n in range(5)]
    return ["".join(f"{json.dumps(record)}\n" for record in records).encode(), b'{"id": 1, "text": "x"}\n']


def _pdfs() -> list[bytes]:
    """Written by hand, with plain streams, so that a change lands where it means something."""
    lines = "".join(f"({sentence}.) Tj 0 -14 Td " for sentence in _LONG.split(".")[:9])
    content = f"q 1 0 0 1 0 0 cm BT /F1 12 Tf 50 700 Td {lines} [(a) -200 (b)] TJ ET /X1 Do Q"
    cmap = (
        "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange "
        "2 beginbfchar <41> <0041> <42> <00420043> endbfchar 1 beginbfrange <61> <7A> <0061> endbfrange "
        "endcmap"
    )
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R 8 0 R] /Count 2 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> /XObject << /X1 7 0 R >> >> >>",
        f"<< /Length {len(content)} >> stream\n{content}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R /FirstChar 32 /LastChar 34 "
        "/Widths [200 300 400] /Encoding << /Type /Encoding /Differences [65 /A /B /Adieresis] >> >>",
        f"<< /Length {len(cmap)} >> stream\n{cmap}\nendstream",
        "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 5 0 R >> >> "
        "/Length 33 >> stream\nBT /F1 9 Tf 10 10 Td (form) Tj ET\nendstream",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents [4 0 R 4 0 R] /Rotate 90 "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
    ]
    body, offsets = b"%PDF-1.7\n", []
    for number, written in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{written}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    written = body + end.encode() + f"startxref\n{len(body)}\n%%EOF\n".encode()

    import logging

    from pypdf import PdfReader, PdfWriter

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(written)))
    for page in writer.pages:
        page.compress_content_streams()
    again, locked = io.BytesIO(), io.BytesIO()
    writer.write(again)
    writer.encrypt("", algorithm="RC4-128")  # opens without a password, as many files do
    writer.write(locked)
    return [written, again.getvalue(), locked.getvalue()]


def _docxs() -> list[bytes]:
    from docx import Document

    document = Document()
    document.add_heading("Museum", 0)
    for heading in ("Hours", "Prices"):
        document.add_heading(heading, 1)
        document.add_paragraph(_LONG)
        document.add_paragraph("on Monday", style="List Bullet")
    table = document.add_table(3, 3)
    table.cell(0, 0).merge(table.cell(1, 1)).text = "merged"
    table.cell(2, 2).add_table(1, 1).cell(0, 0).text = "inner"
    buffer = io.BytesIO()
    document.save(buffer)
    return [buffer.getvalue()]


# Watching a process


class _Hangs(BaseException):
    """Passes whoever catches every error."""


@contextlib.contextmanager
def _deadline() -> Iterator[None]:
    def end(_number: int, _frame: object) -> None:
        raise _Hangs

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, MOST_WALL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _processor_seconds(process_id: int | None) -> float:
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_megabytes(process_id: int | None) -> float:
    try:
        status = Path(f"/proc/{process_id}/status").read_text()
    except OSError:
        return 0.0
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(peak[1]) / 1024 if peak else 0.0


def _forget_peak(process_id: int | None) -> None:
    with contextlib.suppress(OSError):
        Path(f"/proc/{process_id}/clear_refs").write_text("5")


# The settings file

_GOOD_SETTINGS = "\n".join(
    [
        "# mine",
        "[model]",
        'backend = "openai"',
        'base_url = "http://localhost:8000/v1"',
        'name = "tiny"',
        "timeout_seconds = 12.5",
        "",
        "[retrieval]",
        "pool = 70",
        "dense_weight = 0.25",
        "[terminal]",
        "plain = true",
        "[terminal.keys]",
        'why = "f2, ctrl+w"',
        '"app.quit" = "f10"',
        "[log]",
        "days = 3",
        "",
    ]
).encode()
_TOML_TOKENS = _tokens(
    "[ ] [[ ]] { } = , . # \" ' \"\"\" ''' a.b.c [model] [terminal.keys] pool name true inf -nan 1e400 "
    "0x 0o 1_0 1979-05-27T07:32:00Z 99:99 \\u0000 \\ud800 \\U00110000 \\ \u202e \u2028 model.name "
    "9223372036854775808 -0.0"
)


class _SettingsFuzzer:
    """Settings files, each read in a process of its own."""

    def __init__(self, folder: Path, corpus: Path | None) -> None:
        self._folder = folder
        self._seeds = [_GOOD_SETTINGS, b"\xef\xbb\xbf" + _GOOD_SETTINGS.replace(b"\n", b"\r\n"), b"a = 1"]
        for path in sorted(corpus.rglob("*.toml")) if corpus else []:
            self._seeds.append(path.read_bytes()[:MOST_BYTES])

    def close(self) -> None:
        """Nothing to let go of."""

    @staticmethod
    def kind(name: str) -> str:
        """How the case was made."""
        return f".{name.partition('.')[2]}"

    def case(self, rng: random.Random, case: str) -> tuple[str, bytes]:
        """How the case is made, after a dot, and the file's bytes."""
        making = rng.choice(["mutated", "typed", "typed", "tokens", "large", "place"])
        if making == "typed":
            return f"{case}.typed", _typed_settings(rng).encode("utf-8", "replace")
        if making == "tokens":
            return f"{case}.tokens", b"".join(rng.choices(_TOML_TOKENS, k=rng.choice([3, 30, 300, 9000])))
        if making == "large":
            return f"{case}.large", _large_settings(rng)
        if making == "place":
            return f"{case}.place", rng.choice(_PLACES).encode()
        return f"{case}.mutated", mutated(rng, rng.choice(self._seeds), _TOML_TOKENS, others=self._seeds)

    def run(self, name: str, data: bytes) -> tuple[str, str, float, float]:
        """The outcome, what is wrong with it, processor seconds, and the peak in megabytes."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        path = folder / "settings.toml"
        if self.kind(name) == ".place":
            path = _place(folder, data.decode())
        else:
            path.write_bytes(data)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _read_settings_and_exit(path, writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            told = pipe.read()
        _, status, usage = os.wait4(child, 0)
        shutil.rmtree(folder)
        seconds, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        code = os.waitstatus_to_exitcode(status)
        if code in (-signal.SIGALRM, -signal.SIGPROF):
            return "hang", f"not done after {MOST_SECONDS:.0f} s", seconds, megabytes
        if code or not told:
            return "crash", f"ended with {code}: {told.decode(errors='replace')[-300:]}", seconds, megabytes
        outcome, problem = json.loads(told)
        if megabytes > MOST_MEGABYTES:
            problem = f"{megabytes:.0f} MB"
        return "defect" if problem else outcome, problem, seconds, megabytes


def _read_settings_and_exit(path: Path, writing: int) -> None:
    """In the child: what was made of the settings, told over the pipe."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, MOST_WALL_SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
    try:
        environ = {"VOUCH_USER": "ada", "VOUCH_PLAIN": "\x00maybe"}
        settings = load_settings(path, environ=environ, explicit=True)
        outcome = ["settings", _problem_of_settings(settings)]
    except VouchError as error:
        named = "".join(c if c.isprintable() else "\ufffd" for c in path.name)
        outcome = ["error", problem_of_settings_error(error, named)]
    except BaseException as error:  # noqa: BLE001 - whatever comes out is the finding
        outcome = ["crash", f"{type(error).__name__}: {str(error)[:300]}"]
    os.write(writing, json.dumps(outcome).encode())
    os._exit(0)


def _problem_of_settings(settings: Settings) -> str:
    """What is wrong with settings that were accepted, or nothing."""
    for key, value, origin in settings.in_force():
        section, _, name = key.partition(".")
        if not key.startswith("terminal.keys."):
            default = getattr(SECTIONS[section](), name)
            if type(value) is not type(default) and key != "terminal.keys":
                return f"{key} is a {type(value).__name__}"
        if isinstance(value, float) and not abs(value) < 1e9:
            return f"{key} is {value}"
        if not origin.isprintable():
            return f"the origin of {key} is {origin!r}"
    return ""


def _typed_settings(rng: random.Random) -> str:
    """TOML that is mostly right, with values of every type under known and unknown keys."""
    lines = []
    for name in rng.sample([*SECTIONS, "modle", "", "x y"], k=rng.randrange(1, 6)):
        lines.append(f"[{name}]" if re.fullmatch(r"\w+", name) else f'["{name}"]')
        keys = [*vars(SECTIONS[name]())] if name in SECTIONS else ["pool"]
        for key in rng.sample([*keys, "xyzzy", '"\\u001b"', "a.b"], k=rng.randrange(len(keys) + 1)):
            lines.append(f"{key} = {_value(rng)}")
    return "\n".join(lines)


def _value(rng: random.Random, depth: int = 0) -> str:
    kind = rng.randrange(10 if depth < 4 else 8)
    if kind == 8:
        return "[" + ", ".join(_value(rng, depth + 1) for _ in range(rng.randrange(4))) + "]"
    if kind == 9:
        inner = ", ".join(f"k{n} = {_value(rng, depth + 1)}" for n in range(rng.randrange(4)))
        return f"{{{inner}}}"
    text = "".join(
        rng.choice(["a", "\\u0000", "\\u001B", "\u202e", "\U0001f600", "@", "://", " "]) for _ in range(9)
    )
    whole = str(rng.choice([0, -1, 1, 2**31, 2**63, -(2**63), 2**64, 10**400, 10**4000]))
    special = rng.choice(["inf", "-inf", "nan", "1e308", "1e400", "-0.0", "5e-324"])
    scalar = ["true", "false", whole, special, "1979-05-27", "07:32:00"]
    words = rng.choice(["openai", "extractive", "http://[::1", "https://a@b/", "/x", "~/x", "multi", "debug"])
    return [*scalar, f'"{text}"', f'"{words}"'][kind]


def _large_settings(rng: random.Random) -> bytes:
    """What a parser takes long over: much of one thing."""
    much = rng.choice([300, 3_000, 30_000, 60_000])
    shapes: list[Callable[[], str]] = [
        lambda: ".".join(["a"] * much) + " = 1",
        lambda: "[" + ".".join(["a"] * much) + "]",
        lambda: ".".join(['""'] * much) + " = 1",
        lambda: "a = " + "[" * much,
        lambda: "a = " + "[" * much + "]" * much,
        lambda: "a = " + "{a = " * much + "1" + "}" * much,
        lambda: "".join(f"k{n} = 1\n" for n in range(much)),
        lambda: "[model]\n" + "".join(f"bakend{n} = 1\n" for n in range(much)),
        lambda: "".join(f"[s{n}]\n" for n in range(much)),
        lambda: "[[a]]\n" * much,
        lambda: '"""\n' * much,
        lambda: '"' * much,
        lambda: "'''" * much,
        lambda: "a = " + "9" * much,
        lambda: "a = 0x" + "f" * much,
        lambda: "a = 1." + "0" * much,
        lambda: f'[model]\nbase_url = "{"://" * much}"',
        lambda: f'[model]\nbase_url = "{"http://a@" * (much // 3)}"',
        lambda: f'[store]\nurl = "{"?password=" * (much // 4)}"',
        lambda: f'[model]\nbackend = "{"é" * much}"',
        lambda: f"{'k' * much} = 1",
        lambda: "[terminal.keys]\n" + "".join(f"k{n} = 1\n" for n in range(much)),
        lambda: "#" * much * 3,
        lambda: "\n" * much * 3,
        lambda: "a = [" + "1," * much + "]",
        lambda: "x = 1\n" * 2 + "y" * much,
    ]
    return rng.choice(shapes)().encode()[: rng.choice([99_000, 300_000])]


_PLACES = (
    "missing folder fifo socket link loop dangling unreadable null zero random huge name under_file long"
).split()


def _place(folder: Path, place: str) -> Path:
    """A settings file that is no ordinary one."""
    path = folder / "settings.toml"
    if place == "folder":
        path.mkdir()
    elif place == "fifo":
        os.mkfifo(path)
    elif place == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    elif place == "link":
        (folder / "other").write_bytes(_GOOD_SETTINGS)
        path.symlink_to("other")
    elif place == "loop":
        path.symlink_to(path)
    elif place == "dangling":
        path.symlink_to("nowhere")
    elif place == "unreadable":  # to anyone but root
        path.write_bytes(_GOOD_SETTINGS)
        path.chmod(0)
    elif place in ("null", "zero", "random"):
        path.symlink_to(f"/dev/{'urandom' if place == 'random' else place}")
    elif place == "huge":
        path.touch()
        os.truncate(path, 100_000_000)
    elif place == "name":
        path = folder / os.fsdecode(b"set\x1b[31m\n\xff\xe2\x80\xae.toml")
        path.write_bytes(b"[modle]\n")
    elif place == "under_file":
        path.touch()
        path = path / "settings.toml"
    elif place == "long":
        path = folder / ("x" * 300)
    return path


if __name__ == "__main__":
    main()
