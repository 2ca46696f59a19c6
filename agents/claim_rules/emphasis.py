"""Marks that emphasise words of a sentence, and links, as they are typed in a chat: marks are no words.

    "I have **two** bikes."  "I have [bold]two[/bold] bikes."  ->  "I have two bikes."
    "My site is [here](https://x.example)."                    ->  "My site is here (https://x.example)."

Only around a few words in a line in which users speak of themselves; all other markup is left for
`own_part`, which passes over it as somebody else's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from agents.claim_rules.own_part import PlainText
from agents.claim_rules.speaker import is_of_the_user

_I = re.IGNORECASE
_MOST_WORDS = 6  # that are emphasised in a sentence: more is a text of its own
_DEEPEST = 3  # marks within marks
_STYLE = (
    r"(?:b|bold|i|italics?|u|underline|em|strong|code|tt|kbd|mark|small|big|dim|black|red|green|yellow|blue|magenta|cyan|"
    r"white|orange|purple|gr[ae]y)"
)
_FEW = r"(?P<words>[^<>\[\]`*.!?\n]{1,80}?)"
_EMPHASISED = [
    re.compile(wording, _I)
    for wording in (
        rf"(?P<open><(?P<style>{_STYLE})>){_FEW}(?P<close></(?P=style)>)",
        rf"(?P<open>\[(?P<style>{_STYLE})\]){_FEW}(?P<close>\[/(?:(?P=style))?\])",
        rf"(?<!\*)(?P<open>\*\*(?=\S)){_FEW}(?P<close>(?<=\S)\*\*)(?!\*)",
        rf"(?<![\w*])(?P<open>\*(?=\S)){_FEW}(?P<close>(?<=\S)\*)(?![\w*])",
        rf"(?<!\w)(?P<open>_(?=[^\s_])){_FEW}(?P<close>(?<=[^\s_])_)(?!\w)",
        rf"(?<!`)(?P<open>`){_FEW}(?P<close>`)(?!`)",
    )
]
_LINK = re.compile(
    r"(?<!!)(?P<open>\[)(?P<words>[^\[\]()\n]{1,80})(?P<close>\])\((?:https?://)?[\w./~-]{1,200}\)", _I
)


def without_emphasis(plain: PlainText) -> PlainText:
    """The text without the marks around words that are emphasised; a word keeps the place of its marks."""
    for _ in range(_DEEPEST):
        before, plain = plain, _without_innermost(plain)
        if plain is before:
            break
    return plain


def _without_innermost(plain: PlainText) -> PlainText:
    opening: set[int] = set()
    closing: set[int] = set()
    spaces: set[int] = set()
    for line in re.finditer(r"[^\n]+", plain.text):
        if not is_of_the_user(line[0]):
            continue
        for found in _marked(plain.text, *line.span()):
            opening.update(range(*found.span("open")))
            (spaces if found.re is _LINK else closing).update(range(*found.span("close")))
    return _kept(plain, opening, closing, spaces) if opening else plain


def _marked(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    found = chain.from_iterable(wording.finditer(text, start, end) for wording in (*_EMPHASISED, _LINK))
    return (one for one in found if len(one["words"].split()) <= _MOST_WORDS)


def _kept(plain: PlainText, opening: set[int], closing: set[int], spaces: set[int]) -> PlainText:
    written: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    begins: int | None = None  # where the marks before the next character begin
    for place, character in enumerate(plain.text):
        if place in opening:
            begins = plain.starts[place] if begins is None else begins
        elif place in closing:
            ends[-1] = plain.ends[place]
        else:
            written.append(" " if place in spaces else character)
            starts.append(plain.starts[place] if begins is None else begins)
            ends.append(plain.ends[place])
            begins = None
    return PlainText("".join(written), starts, ends)
