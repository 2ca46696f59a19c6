"""Files made to fill memory or never to end, through the real `vouch ingest`: what it says, takes and keeps.

    python -m benchmarks.hostile_files [--only NAME] [--gigabytes 2]

Each file is ingested by the installed command into a data directory of its own. The peak is the largest
resident set seen of each of its processes, the one that stores (which holds the encoder) and the one that
reads, and of both together, looked at every 20 ms.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

VOUCH = str(Path(sys.executable).with_name("vouch"))
_SENTENCE = b"The quick brown fox jumps over the lazy dog and eats. "


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="of the large text")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vouch-hostile-") as made:
        folder = Path(made)
        for name, suffix, write in _files(arguments.gigabytes):
            if arguments.only in name:
                path = folder / f"hostile{suffix}"
                write(path)
                print(f"{name} ({_size(path)}): {_ingest(path, folder / 'data', name)}", flush=True)
                path.unlink()


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size:,} bytes"


def _ingest(path: Path, data: Path, name: str) -> str:
    """What the command said, and what it took."""
    command = [VOUCH, "ingest", "--data", str(data), "--user", "ann", "--quiet"]
    command += ["-", "--name", "text"] if "standard input" in name else [str(path)]
    if "dry run" in name:
        command.append("--dry-run")
    began = time.monotonic()
    with path.open("rb") as given:
        vouch = subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        peaks = [0.0, 0.0, 0.0]  # of the one that stores, the one that reads, and both together
        while vouch.poll() is None:
            storing, reading = _megabytes(vouch.pid), sum(map(_megabytes, _children(vouch.pid)))
            for at, megabytes in enumerate((storing, reading, storing + reading)):
                peaks[at] = max(peaks[at], megabytes)
            time.sleep(0.02)
    assert vouch.stdout is not None
    lines = vouch.stdout.read().decode().splitlines()
    shown = lines[0][-150:] if lines else "nothing said"
    more = f" and {len(lines) - 1} more lines" if len(lines) > 1 else ""
    return (
        f"{time.monotonic() - began:.1f} s, {peaks[0]:.0f} + {peaks[1]:.0f} MB, together {peaks[2]:.0f} MB, "
        f"exit code {vouch.returncode}\n    {shown}{more}"
    )


def _children(process_id: int) -> list[int]:
    """Those that run a program of their own by now, and not still the memory of their parent."""
    try:
        told = Path(f"/proc/{process_id}/task/{process_id}/children").read_text().split()
        return [
            int(child) for child in told if b"reading_process" in Path(f"/proc/{child}/cmdline").read_bytes()
        ]
    except OSError:
        return []


def _megabytes(process_id: int) -> float:
    try:
        return int(Path(f"/proc/{process_id}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6
    except (OSError, IndexError):
        return 0.0


# The files

_Write = Callable[[Path], object]


def _files(gigabytes: float) -> Iterator[tuple[str, str, _Write]]:
    big = round(gigabytes * 1e9)
    yield f"text of {gigabytes:g} GB", ".txt", lambda path: _repeat(path, _SENTENCE, big)
    yield f"text of {gigabytes:g} GB on standard input", ".txt", lambda path: _repeat(path, _SENTENCE, big)
    yield "text of 20 MB, dry run", ".txt", lambda path: _repeat(path, _SENTENCE, 19_900_000)
    yield (
        "text of 18 MB of two-letter lines, dry run",
        ".txt",
        lambda path: _repeat(path, b"a\n\n", 18_000_000),
    )
    yield ".docx that unpacks to 4 GB", ".docx", lambda path: _docx(path, b"<w:p/>" * 1_000_000, times=700)
    yield (
        ".docx of 39 MB of empty paragraphs",
        ".docx",
        lambda path: _docx(path, b"<w:p/>" * 1_000_000, times=6),
    )
    yield ".docx of 20,000 parts of 9 MB each, told once", ".docx", _overlapping_docx
    yield ".docx of 300,000 empty parts", ".docx", lambda path: _docx(path, b"", parts=300_000)
    yield ".docx with a billion laughs", ".docx", _laughing_docx
    yield ".docx whose parts lie outside", ".docx", _outside_docx
    yield ".jsonl.gz of one line of 3 GB", ".jsonl.gz", lambda path: _gzip(path, b" " * 1_000_000, 3_000)
    yield (
        ".jsonl.gz of 3 GB of empty lines",
        ".jsonl.gz",
        lambda path: _gzip(path, b"\n" * 1_000_000, 3_000),
    )
    yield ".jsonl.gz of 200 million bad lines", ".jsonl.gz", lambda path: _gzip(path, b"x\n" * 1_000_000, 200)
    yield (
        ".pdf with a stream of 2 GB",
        ".pdf",
        lambda path: _pdf(path, stream=_deflated(b" " * 1_000_000, 2_000)),
    )
    yield (
        ".pdf with 5 million operations",
        ".pdf",
        lambda path: _pdf(path, stream=_deflated(b"(a) Tj " * 1_000, 5_000)),
    )
    yield ".pdf of a million pages", ".pdf", lambda path: _pdf(path, kids=b"3 0 R " * 1_000_000)
    yield ".pdf of a million pages of their own", ".pdf", _many_pages
    yield ".pdf whose pages hold themselves", ".pdf", lambda path: _pdf(path, kids=b"2 0 R 3 0 R")
    yield ".pdf whose pages are nested 100,000 deep", ".pdf", _deep_pdf
    yield ".html of a million open tags", ".html", lambda path: _repeat(path, b"<div>", 5_000_000)
    yield ".html of 499,000 open tags", ".html", lambda path: _repeat(path, b"<div>", 5 * 499_000)
    yield (
        ".html of 5 million attributes",
        ".html",
        lambda path: path.write_bytes(b"<a " + b"x=1 " * 4_900_000 + b">a"),
    )
    yield ".md of 1 MB of brackets", ".md", lambda path: _repeat(path, b"[", 1_000_000)
    yield (
        ".md of 5 MB of table cells",
        ".md",
        lambda path: path.write_bytes(b"|a" * 999 + b"\n" + b"|-" * 999 + b"\n" + b"x\n" * 2_500_000),
    )


def _repeat(path: Path, unit: bytes, size: int) -> None:
    block = unit * max(1, 1_000_000 // len(unit))
    with path.open("wb") as file:
        for _ in range(-(-size // len(block))):
            file.write(block)
        file.truncate(size)


def _gzip(path: Path, block: bytes, times: int) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(times):
            file.write(block)


def _deflated(block: bytes, times: int) -> bytes:
    packer = zlib.compressobj(1)
    return b"".join([*(packer.compress(block) for _ in range(times)), packer.flush()])


_START = (
    b'<?xml version="1.0"?>%b<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    b"<w:body>"
)
_END = b"</w:body></w:document>"


def _docx(
    path: Path, body: bytes, *, times: int = 1, parts: int = 0, declared: bytes = b"", relationship: str = ""
) -> None:
    """A .docx with this text, so many times over."""
    from docx import Document

    plain = io.BytesIO()
    Document().save(plain)
    with zipfile.ZipFile(plain) as given, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in given.namelist():
            if name == "word/document.xml":
                with archive.open(name, "w", force_zip64=True) as member:
                    member.write(_START % declared)
                    for _ in range(times):
                        member.write(body)
                    member.write(_END)
                continue
            data = given.read(name)
            if name == "word/_rels/document.xml.rels" and relationship:
                data = data.replace(b"</Relationships>", relationship.encode() + b"</Relationships>")
            archive.writestr(name, data)
        for number in range(parts):
            archive.writestr(zipfile.ZipInfo(f"word/{number}.xml"), b"")


def _overlapping_docx(path: Path) -> None:
    """One packed part to which 20,000 entries of the directory point."""
    packed = zlib.compress(b" " * 9_000_000)[2:-4]
    fields = (20, 0, 8, 0, 0, zlib.crc32(b" " * 9_000_000), len(packed), 9_000_000, 9, 0)
    directory = bytearray()
    for number in range(20_000):
        name = b"word/%04x" % number
        directory += struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, *fields, 0, 0, 0, 0, 0) + name
    entry = struct.pack("<4s5H3L2H", b"PK\3\4", *fields) + b"word/0000" + packed
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 20_000, 20_000, len(directory), len(entry), 0)
    path.write_bytes(entry + directory + end)


def _laughing_docx(path: Path) -> None:
    laughs = b"".join(b'<!ENTITY l%d "%b">' % (n + 1, b"&l%d;" % n * 10) for n in range(12))
    declared = b'<!DOCTYPE d [<!ENTITY l0 "lol">' + laughs + b"]>"
    _docx(path, b"<w:p><w:r><w:t>Words &l12;</w:t></w:r></w:p>", declared=declared)


def _outside_docx(path: Path) -> None:
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relationships = "".join(
        f'<Relationship Id="rId9{n}" Type="{kind}/{what}" TargetMode="{mode}" Target="{target}"/>'
        for n, (what, mode, target) in enumerate(
            [
                ("image", "External", "file:///dev/zero"),
                ("attachedTemplate", "External", "http://127.0.0.1:9/a.dotm"),
                ("image", "Internal", "../../../../../../etc/passwd"),
            ]
        )
    )
    declared = b'<!DOCTYPE d [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    text = b"<w:p><w:r><w:t>Words &f;</w:t></w:r></w:p>"
    _docx(path, text, declared=declared, relationship=relationships)


def _pdf(path: Path, *, kids: bytes = b"3 0 R", stream: bytes = b"", more: list[bytes] | None = None) -> None:
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, kids.count(b"R")),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R "
        b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >> stream\n%b\nendstream"
        % (len(stream), stream or zlib.compress(b"BT /F1 12 Tf (Words) Tj ET")),
        *(more or []),
    ]
    body, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, written in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%b\nendobj\n" % (number, written)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    body += (
        b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (
            size,
            table,
            size,
            len(body),
        )
    )
    path.write_bytes(body)


def _many_pages(path: Path) -> None:
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << >> >>"
    kids = b" ".join(b"%d 0 R" % number for number in range(5, 1_000_005))
    _pdf(path, kids=kids, more=[page] * 1_000_000)


def _deep_pdf(path: Path) -> None:
    levels = [b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (number + 1) for number in range(5, 100_005)]
    _pdf(path, kids=b"5 0 R", more=[*levels, b"<< /Type /Page /MediaBox [0 0 9 9] /Contents 4 0 R >>"])


if __name__ == "__main__":
    main()
