"""Paths as text that can be printed, stored, and led back to their files."""

from __future__ import annotations

import re
from pathlib import Path

from stores.base.one_line import EMOJI, without_controls

_BYTE = re.compile("[\udc80-\udcff]")  # of a name that is not UTF-8, as Python has it
_NOTHING_TO_SEE = re.compile(  # printable to Unicode: fillers, and signs that choose how another one looks
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0e\uffa0\U000e0100-\U000e01ef]"
    f"|(?<!{EMOJI})\ufe0f"
)
_SHOWN = re.compile(r"\\(?:\\|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")


def shown_path(path: str | Path) -> str:
    r"""A path on which no two files are shown alike: `path_of` leads back to it.

    What a terminal would obey, what nobody can see and what is no UTF-8 stands as the shell's $'...' has it,
    such as \x1b or \u200b; a backslash is doubled.
    """
    return without_controls(_NOTHING_TO_SEE.sub(_escaped, str(path).replace("\\", r"\\")), instead=_escape)


def path_of(shown: str) -> Path:
    """The path that is shown so."""
    return Path(_SHOWN.sub(_unescaped, shown))


def _escaped(found: re.Match[str]) -> str:
    return _escape(found.group())


def _escape(character: str) -> str:
    code = ord(character)
    if _BYTE.match(character):
        return rf"\x{code - 0xDC00:02x}"
    return rf"\x{code:02x}" if code < 0x80 else rf"\u{code:04x}" if code < 0x10000 else rf"\U{code:08x}"


def _unescaped(found: re.Match[str]) -> str:
    byte, *code = found.groups()
    if byte:
        return chr(int(byte, 16) if byte < "80" else 0xDC00 + int(byte, 16))
    point = int(code[0] or code[1] or "5c", 16)
    return chr(point) if point < 0x110000 else found.group()
