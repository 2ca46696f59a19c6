"""Text from outside, fit for one line of a terminal."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

_JOINERS = re.compile("[\u200c\u200d]")  # ZWNJ and ZWJ: they tell letters and emoji how to join
_SCRIPTS = r"[\u0600-\u109f\u1780-\u18af\ua840-\uabff\ufb50-\ufdff\ufe70-\ufefc]"  # Arabic, Indic and such
EMOJI = r"[\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff]"
_OF_JOINING_SCRIPT = re.compile(_SCRIPTS)
_ENDS_IN_EMOJI = re.compile(rf"{EMOJI}\ufe0f?\Z")
_BEGINS_WITH_EMOJI = re.compile(EMOJI)
_OPEN_END = re.compile(rf"(?:{_SCRIPTS}|{EMOJI}|[\ufe0f\u200c\u200d]){{1,40}}\Z")


def one_line(text: str) -> str:
    """The text without breaks, and without what a terminal would obey."""
    return " ".join(without_controls(" ".join(text.split())).split())


def without_controls(line: str, *, instead: Callable[[str], str] = lambda character: "") -> str:
    """A line without what a terminal would obey or nobody can see. instead: what stands for each of these.

    ZWNJ and ZWJ stay where they join: between letters of scripts whose letters do, and ZWJ between emoji.
    """
    if line.isprintable():
        return line
    kept = "".join(c if c.isprintable() or _JOINERS.match(c) else instead(c) for c in line)
    return _JOINERS.sub(lambda joiner: joiner.group() if _joins(joiner) else instead(joiner.group()), kept)


def json_line(told: Mapping[str, Any], **how: Any) -> str:
    """JSON on one line; what a terminal would obey stands as \\u001b does. how: for `json.dumps`."""
    line = json.dumps(told, ensure_ascii=False, **how)
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def open_end(piece: str) -> str:
    """The end of a piece of text that what comes next may be joined to, at most 40 characters."""
    found = _OPEN_END.search(piece[-40:])
    return found.group() if found else ""


def _joins(joiner: re.Match[str]) -> bool:
    before, after = (
        joiner.string[max(0, joiner.start() - 2) : joiner.start()],
        joiner.string[joiner.end() : joiner.end() + 1],
    )
    if _is_joining(before[-1:]) and _is_joining(after):
        return True
    is_in_emoji = _ENDS_IN_EMOJI.search(before) and _BEGINS_WITH_EMOJI.match(after)
    return joiner.group() == "\u200d" and bool(is_in_emoji)


def _is_joining(character: str) -> bool:
    """Whether it is a letter, or a mark on one, of a script whose letters join."""
    return bool(_OF_JOINING_SCRIPT.match(character)) and unicodedata.category(character)[0] in "LM"


def middle_cut(text: str, width: int) -> str:
    """One line of at most `width` characters; of a longer one the middle is left out, as of file names."""
    line = one_line(text)
    kept = max(0, width - 1)
    return line if len(line) <= width else f"{line[: kept - kept // 2]}…{line[len(line) - kept // 2 :]}"


def short(text: str, width: int = 72) -> str:
    """One line of at most `width` characters; a longer one ends in …."""
    line = one_line(text)
    return line if len(line) <= width else line[: width - 1] + "…"
