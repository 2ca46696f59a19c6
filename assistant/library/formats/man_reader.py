"""The reader of manual pages (man and mdoc): sections, paragraphs, and each option above what it does.

requests and text, line by line -> words without their formatting -> an outline
"""

from __future__ import annotations

import gzip
import io
import re

from assistant.library.formats.outlines import TOO_MUCH, Outline, Reading
from assistant.library.formats.plain_text import plain
from assistant.library.formats.text_reader import decoded, read_text
from stores.base.errors import UnreadableDocument

_UNPACKED_BYTES = 20_000_000
_CHARACTERS = {
    "-": "-", "e": "\\", "rs": "\\", "aq": "'", "dq": '"', "bu": "•", "em": "—", "en": "–", "hy": "-",
    "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "ti": "~", "ha": "^", "ga": "`", "co": "©", "rg": "®",
    "tm": "™", "lt": "<", "gt": ">", "la": "⟨", "ra": "⟩", " ": " ", "~": " ", "0": " ", "t": " ",
    "'": "'", "`": "`", ".": ".", "<-": "←", "->": "→", "<=": "≤", ">=": "≥", "mu": "×", "+-": "±",
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(?:\".*|[fFmMnkY](?:\((?P<f>..)|\[[^]]*\]|.)|s[+-]?(?:\[[^]]*\]|\d{1,2})|\*(?:\(..|\[[^]]*\]|.)"
    r"|[vhwDL]'[^']*'|\((?P<two>..)|\[(?P<named>[^]]*)\]|(?P<one>.))"
)
_FONTS = frozenset("B I R SM SB BI BR IB IR RB RI".split())
_ALTERNATING = frozenset("BI BR IB IR RB RI".split())
_PARAGRAPHS = frozenset("PP LP P HP Pp RS RE Sp sp br".split())
_TITLES = {"TH": 1, "Dt": 1}
_HEADINGS = {"SH": 1, "Sh": 1, "SS": 2, "Ss": 2}
_CODE = {"nf": True, "EX": True, "Vb": True, "fi": False, "EE": False, "Ve": False}
_ENCLOSED = {
    "Op": "[]", "Dq": "“”", "Sq": "‘’", "Ql": "‘’", "Pq": "()", "Bq": "[]", "Brq": "{}", "Aq": "<>",
    "Qq": '""',
}  # fmt: skip
_INLINE = frozenset("Ar Cm Pa Ev Va Sy Em Li Ic Fa Fn Ft Vt Dv Er An Nd No Tn Lk Mt Sx St Ns Ap Nm".split())
_PUNCTUATION = frozenset(".,:;)]?!")


def read_man(data: bytes, source: str) -> Reading:
    """A manual page, gzip'd or not; what is none is read as plain text."""
    if source.lower().endswith(".gz"):
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            data = packed.read(_UNPACKED_BYTES + 1)
        if len(data) > _UNPACKED_BYTES:
            raise UnreadableDocument(source, TOO_MUCH)
    text = plain(decoded(data, source))
    if not re.search(r"^[.'](?:TH|Dt|SH|Sh)\b", text, re.MULTILINE):
        return read_text(data, source)
    page = _Page()
    for line in text.split("\n"):
        page.take(line)
    page.end()
    return Reading(page.outline.sections(), page.title)


class _Page:
    """What was read of a page so far."""

    def __init__(self) -> None:
        self.outline, self.title = Outline(), ""
        self._name = ""
        self._has_begun = False
        self._term: list[str] = []
        self._words: list[str] = []
        self._code: list[str] | None = None
        self._is_term = False  # the next line of text is one
        self._skips = ""  # until this request

    def take(self, line: str) -> None:
        """One line of the file."""
        if self._skips:
            self._skips = "" if line.startswith(self._skips) else self._skips
        elif line[:1] in (".", "'") and not line.startswith("..."):
            self._request(line[1:].strip())
        elif not line.strip() and self._code is None:
            self._paragraph()
        else:
            self._text(_shown(line))

    def end(self) -> None:
        """All that waits becomes a paragraph."""
        self._paragraph()

    def _request(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        given = _arguments(rest)
        if name in _HEADINGS:
            self._paragraph()
            self._has_begun = True
            self.outline.add_heading(_HEADINGS[name], _sentence_case(" ".join(given)))
        elif name in _TITLES and len(given) > 1:
            self.title = f"{given[0].lower() if given[0].isupper() else given[0]}({given[1]})"
        elif name in ("TP", "TQ", "IP", "It"):
            if self._words or not self._term:
                self._paragraph()
            self._is_term = name in ("TP", "TQ")
            told = given[:1] if name == "IP" else [_mdoc(given, self._name)] if name == "It" else []
            self._term += [one for one in told if one.strip(" •*-o")]
        elif name in _CODE:
            self._block(_CODE[name])
        elif name in _PARAGRAPHS:
            self._break(name)
        elif name in ("de", "ig"):
            self._skips = ".."
        elif name in _FONTS:
            self._text(("" if name in _ALTERNATING else " ").join(given))
        elif name in ("UR", "MT"):
            self._text(" ".join(given))
        elif name == "Nm":
            self._name = given[0] if given else self._name
            self._text(_mdoc(["Nm", *given], self._name))
        elif name in _INLINE or name in _ENCLOSED or name in ("Fl", "Xr", "Oo", "Oc"):
            self._text(_mdoc([name, *given], self._name))

    def _text(self, text: str) -> None:
        if self._code is not None:
            self._code.append(text)
        elif not self._has_begun:
            return  # what stands above the first heading prepares the formatting
        elif self._is_term:
            self._term.append(text.strip())
            self._is_term = False
        elif text.strip():
            self._words.append(" ".join(text.split()))

    def _break(self, name: str) -> None:
        if self._code is not None:
            self._code.append("")
        elif name != "br" and not (self._term and not self._words):
            self._paragraph()

    def _block(self, begins: bool) -> None:
        if begins:
            self._paragraph()
            self._code = []
        elif self._code is not None:
            code, self._code = self._code, None
            self.outline.add_code("\n".join(code))

    def _paragraph(self) -> None:
        self._block(False)
        term, told = ", ".join(self._term), " ".join(self._words)
        self.outline.add("\n".join(filter(None, (term, told))))
        self._term, self._words, self._is_term = [], [], False


def _shown(text: str) -> str:
    """Without formatting, its escapes as the characters that they stand for."""

    def of(found: re.Match[str]) -> str:
        name = found["two"] or found["named"] or found["one"] or ""
        return _CHARACTERS.get(name, "")

    return _ESCAPE.sub(of, text).removesuffix("\\")  # which goes on in the next line


def _arguments(text: str) -> list[str]:
    """Of a request; a quoted one may hold spaces."""
    found = list[str]()
    for match in re.finditer(r'"((?:[^"]|"")*)"?|((?:\\ |\S)+)', text):
        word = match[1].replace('""', '"') if match[1] is not None else match[2]
        if word.startswith('\\"'):
            break
        found.append(_shown(word))
    return found


def _mdoc(words: list[str], name: str) -> str:
    """A line of mdoc's inline requests as text."""
    told, ends = list[str](), list[str]()
    at, is_flag = 0, False
    while at < len(words):
        word = words[at]
        at += 1
        if word in _ENCLOSED:
            told.append(_ENCLOSED[word][0] + "\0")
            ends.append(_ENCLOSED[word][1])
        elif word == "Oo":
            told.append("[\0")
        elif word == "Oc" and told:
            told[-1] += "]"
        elif word == "Fl":
            is_flag = True
            if at == len(words) or words[at] in _INLINE:
                told.append("-")
                is_flag = False
        elif word == "Nm":
            told.append(name if at == len(words) or words[at] in _INLINE | _ENCLOSED.keys() | {"Fl"} else "")
        elif word == "Xr" and at + 1 < len(words):
            told.append(f"{words[at]}({words[at + 1]})")
            at += 2
        elif word in _INLINE:
            is_flag = False
        elif word in _PUNCTUATION and told:
            told[-1] += word
        else:
            told.append(f"-{word}" if is_flag else word)
            is_flag = is_flag and word == "|"
    text = " ".join(filter(None, told)) + "".join(reversed(ends))
    return text.replace("\0 ", "").replace("\0", "")


def _sentence_case(heading: str) -> str:
    """EXIT STATUS is shouted by custom, and read as "Exit status"."""
    return heading.capitalize() if heading.isupper() else heading
