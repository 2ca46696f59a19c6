"""A message as plain text, and the part of it that is the user's own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from agents.base.sentences import Sentence, sentences

_I = re.IGNORECASE


class PlainText(NamedTuple):
    """A message without tricks of its characters, and where each character came from."""

    text: str
    starts: list[int]  # of the original, by character of `text`
    ends: list[int]

    def original(self, message: str, start: int, end: int) -> str:
        """What stands in the message where `text` has [start:end]; not empty."""
        return message[self.starts[start] : self.ends[end - 1]]


_CLUSTER = re.compile(r"(?s).[\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff]*")
_STAYS = ("<super>", "<sub>", "<fraction>")  # 10² is not 102
_INVISIBLE = {"Cf": "", "Zl": "\n", "Zp": "\n\n"}
_STRAIGHT = str.maketrans("’‘ʼ“”„«»", '\'\'\'"""""')


def plain_text(message: str) -> PlainText:
    """NFKC, straight quotation marks, and neither invisible nor control characters but line breaks."""
    written: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _CLUSTER.finditer(message):
        for character in _plain(match[0]):
            written.append(character)
            starts.append(match.start())
            ends.append(match.end())
    return PlainText("".join(written), starts, ends)


def _plain(cluster: str) -> str:
    if cluster.isascii() and cluster.isprintable():
        return cluster
    if unicodedata.decomposition(cluster[0]).startswith(_STAYS):
        return cluster
    folded = unicodedata.normalize("NFKC", cluster).translate(_STRAIGHT)
    return "".join(
        c if c.isprintable() or c in "\n\t" else _INVISIBLE.get(unicodedata.category(c), " ") for c in folded
    )


_QUOTED = re.compile(  # by four blanks or a tab Markdown tells code
    r"(```|~~~)(?s:.*?)(?:\1|\Z)|^(?:[ \t]*[>|]| {4}|\t).*$|<!--(?s:.*?)(?:-->|\Z)", re.MULTILINE
)
_TAG = re.compile(
    r"</?[a-z][\w:-]{0,40}(?:\s[^<>]{0,300})?/?>|<\|[^|<>\n]{0,60}\|>|<</?\w{1,20}>>"
    r"|\[/?(?:inst|sys|system|assistant|user|memory|tool)\]",
    _I,
)
_VOID_TAG = re.compile(r"</|<[^<>]*/>|<(?:br|hr|img)\b|\[/", _I)
_DATA = re.compile(r"\{\s*[\"'\w{\[]|\[\s*[{\"]")


def own_part(text: str) -> str:
    """The text with code, quoted lines, tables, lines of markup and JSON as line breaks: no place moves."""
    text = _QUOTED.sub(lambda match: "\n" * len(match[0]), text)
    tags = list(_TAG.finditer(text))
    if tags:
        closed = _VOID_TAG.match(tags[-1][0])
        text = _blank(text, text.rfind("\n", 0, tags[0].start()) + 1, tags[-1].end() if closed else len(text))
    if data := _DATA.search(text):
        last = max(text.rfind("}"), text.rfind("]"))
        text = _blank(
            text, text.rfind("\n", 0, data.start()) + 1, last + 1 if last > data.start() else len(text)
        )
    return text


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + "\n" * (end - start) + text[end:]


_LETTER_OF = re.compile(r"[^\W\d_]+")


def mixes_scripts(quote: str) -> bool:
    """Whether letters are not what they seem: of several scripts within one word."""
    if quote.isascii():
        return False
    folded = unicodedata.normalize("NFKC", "".join(c for c in quote if unicodedata.category(c) != "Cf"))
    return any(
        len({script for c in word if (script := _script(c))}) > 1
        for word in _LETTER_OF.findall(folded)
        if len(word) > 2 and not word.isascii()  # not the κB of NF-κB
    )


def _script(character: str) -> str:
    name = unicodedata.name(character, "").partition(" ")[0]
    return name if name in {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"} else ""


LONGEST_MESSAGE = 4_000  # characters; a longer one is a pasted text, and material
_LONGEST_SENTENCE = 600  # characters
_TURNED_ROUND = ("\u202d", "\u202e")  # letters behind these do not say what they show


def own_sentences(message: str, cut: Callable[[str], list[Sentence]] = sentences) -> list[str]:
    """The sentences of a message that its user wrote, as they stand there; of a pasted text none.

    cut: a line into sentences, by the rules of its language.
    """
    if len(message) > LONGEST_MESSAGE or any(mark in message for mark in _TURNED_ROUND):
        return []
    plain = plain_text(message)
    said: list[str] = []
    start = 0
    for line in own_part(plain.text).split("\n"):  # who writes several lines says something in each
        found = [s for s in cut(line) if len(s.text) <= _LONGEST_SENTENCE]
        said += [plain.original(message, start + s.start, start + s.end) for s in found]
        start += len(line) + 1
    return [text for text in dict.fromkeys(said) if not mixes_scripts(text)]
