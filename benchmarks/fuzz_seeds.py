"""Small whole files of every format that is read, to be changed."""

from __future__ import annotations

import io
import json

_LONG = " ".join(f"Sentence number {n} has exactly seven words." for n in range(1, 40))


def texts() -> list[bytes]:
    poem = "Das Café öffnet um zehn – täglich.\n\nItem one:\n- a\n- b\n\n" + _LONG
    return [poem.encode(), poem.encode("utf-16"), poem.encode("cp1252"), "漢字。今日は。".encode() * 40, b"x"]


def markdown() -> list[bytes]:
    return [
        f"---\ntitle: t\n---\n# The Guide\n\n{_LONG}\n\n## Install\n\n> quoted\n>> twice\n\n1. one\n"
        f"2. two\n   * in\n\n"
        f"| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nif x\n```\n\n[l](http://x 'y') ![i](m.png) <div>raw "
        f"<b>x</b></div>\n\n[r]: http://x\n\n### Deep\n\n{_LONG}\n".encode(),
        b"# a\n# b\n## c\n",
    ]


def html_pages() -> list[bytes]:
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


def collections() -> list[bytes]:
    records = [{"id": f"a-{n}", "title": "Oslo", "text": f"{_LONG} {n}"} for n in range(5)]
    return ["".join(f"{json.dumps(record)}\n" for record in records).encode(), b'{"id": 1, "text": "x"}\n']


def pdfs() -> list[bytes]:
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
    for number, each in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n".encode()
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


def docxs() -> list[bytes]:
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
