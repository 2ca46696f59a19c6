"""Bytes changed at random, with words and signs of the format among them."""

from __future__ import annotations

import random
import re

MOST_BYTES = 200_000  # of a case

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


def tokens_of(text: str) -> list[bytes]:
    return [token.encode() for token in text.split(" ")] + [b" ", b"\n", b"\n\n"]


TEXT_TOKENS = tokens_of('a. ... ?! \u3002 \u4e00 e\u0301 \u0301 A.B. Mr. - 1. # > | \u2028 [1] " word')

MARKDOWN_TOKENS = tokens_of(
    "# ## ### - * ** _ ` ``` ~~~ > >> [ ] ![ ]( ) <!-- --> <div> </div> | |- |-|- --- === & &amp; &#x0; "
    "[a]: <a \\ 1. 2) \t :-: http:// <b <br> !["
)

HTML_TOKENS = tokens_of(
    "<div> </div> <p> <b> <a <!-- --> <![CDATA[ ]]> <script> </script> <table> <tr> <td> <ul> <ol> <li> "
    "<pre> <h1> </h1> <title> <main> <br> <img &amp; &#xD800; &#0; &#x110000; &nbsp &lt <svg> <template> "
    "hidden <meta\tcharset='utf-16'> <?xml <!DOCTYPE </ < > = ' \" <textarea> <plaintext>"
)

XML_TOKENS = tokens_of(
    "<w:p> </w:p> <w:r> <w:t> </w:t> <w:tbl> <w:tr> <w:tc> </w:tc> <w:gridSpan\tw:val='9'/> <w:vMerge/> "
    "<w:pPr> <w:pStyle\tw:val='Heading1'/> <w:numPr/> <w:sdt> <!-- <![CDATA[ &amp; &x; "
    "<w:hyperlink> <w:br/> <w:tab/> "
    "xmlns:w='x' Target='file:///etc/passwd' TargetMode='External' r:id='rId99' <w:sectPr/> <w:drawing/>"
)

PDF_TOKENS = tokens_of(
    "obj endobj stream endstream xref trailer startxref %%EOF << >> [ ] /Kids /Parent /Type /Pages /Page "
    "/Count /Contents /Resources /Font /F1 /Filter /FlateDecode /LZWDecode /ASCII85Decode /RunLengthDecode "
    "/Length /Encrypt /ObjStm /XRef /Prev 1\t0\tR 2\t0\tR 3\t0\tR 4\t0\tR 5\t0\tR 6\t0\tR "
    "BT ET Tj TJ Tf Td Tm q Q cm Do "
    "/DecodeParms /Predictor /Columns /ToUnicode /Encoding /Differences ( ) < > BI ID EI null true"
)

JSON_TOKENS = tokens_of('{ } [ ] , : "id" "text" "title" null true 1e999 NaN -0 "\\ud800" "\\u0000" \\ " 9e9')
