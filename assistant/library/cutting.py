"""Text becomes passages of about one length: short sections are joined, long ones are cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agents.base.sentences import sentences
from assistant.library.formats.plain_text import Section

PASSAGE_WORDS = 100
_SHORT_SECTION_WORDS = 25

# Scripts that put no spaces between words count by the character, and a run without spaces that is
# longer than any word counts as several.
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_COUNTED_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]{{1,100}}")


def count_words(text: str) -> int:
    """How many words a text has, as the length of passages is measured."""
    return sum(1 for _ in _COUNTED_WORD.finditer(text))


def cut(text: str, *, passage_words: int = PASSAGE_WORDS, whole_up_to_words: int | None = None) -> list[str]:
    """A text as passages of about `passage_words` words each, cut where sentences end.

    The passages are alike in length, rather than all full but the last, and a cut moves by up to a
    third of a passage to fall between paragraphs. A text of up to `whole_up_to_words` (by default one
    and a half passages) stays whole; a sentence of more than two passages is cut between words. All
    characters but space survive, in order. A text that is cut has passages of a quarter to 2.5 times
    `passage_words` words, and of much nearer to it where its sentences are not long.
    """
    whole_words = passage_words * 3 // 2 if whole_up_to_words is None else whole_up_to_words
    left = count_words(text)
    if left <= whole_words:
        return [text.strip()] if left else []
    passages: list[str] = []
    pieces = _pieces(text, passage_words)
    first = 0
    wanted = max(1, round(left / passage_words))
    while first < len(pieces):
        if not 0.6 * passage_words <= left / wanted <= 1.5 * passage_words:
            wanted = max(1, round(left / passage_words))
        last, words = _passage_end(pieces, first, left=left, wanted=wanted, fewest=passage_words / 4)
        passages.append(text[pieces[first].start : pieces[last].end])
        left -= words
        wanted = max(1, wanted - 1)
        first = last + 1
    return passages


@dataclass(frozen=True, slots=True)  # a text of 20 MB has a million of them
class _Piece:
    """A sentence, or a part of one that is too long, as `cut` weighs it."""

    start: int
    end: int
    words: int
    ends_paragraph: bool


def _passage_end(
    pieces: Sequence[_Piece], first: int, *, left: int, wanted: int, fewest: float
) -> tuple[int, int]:
    """The last piece of the passage that begins with `first`, and the passage's words.

    Chooses the end nearest to an even share of what is left, so that neither this passage nor the rest
    has fewer than `fewest` words.
    """
    share = left / wanted
    words = 0
    best = (float("inf"), len(pieces) - 1, left)
    for index in range(first, len(pieces)):
        words += pieces[index].words
        if words > 1.4 * share and best[0] < float("inf"):
            break
        if words < fewest or 0 < left - words < fewest:
            continue
        distance = abs(words - share) - (share / 3 if pieces[index].ends_paragraph else 0)
        best = min(best, (distance, index, words))
    return best[1], best[2]


def _pieces(text: str, passage_words: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    found = sentences(text)
    for index, sentence in enumerate(found):
        following = found[index + 1].start if index + 1 < len(found) else len(text)
        ends_paragraph = "\n" in text[sentence.end : following]
        words = count_words(sentence.text)
        if words <= 2 * passage_words:
            pieces.append(_Piece(sentence.start, sentence.end, words, ends_paragraph))
            continue
        parts = round(words / passage_words)
        spans = [match.span() for match in _COUNTED_WORD.finditer(text, sentence.start, sentence.end)]
        for part in range(parts):
            own = spans[part * words // parts : (part + 1) * words // parts]
            is_last = part == parts - 1
            pieces.append(_Piece(own[0][0], own[-1][1], len(own), ends_paragraph and is_last))
    return pieces


def join_sections(sections: Iterable[Section], *, most_words: int) -> list[Section]:
    """The sections, without those too short to be a passage of their own.

    A heading without text stands before the next text, unless it is above it anyway. A short section is
    joined with the one after it if that has the same parent and both together have at most `most_words`;
    they then stand under the parent, their headings in the text. Entries of a manual stay apart.
    """
    joined: list[Section] = []
    bare: list[tuple[str, ...]] = []  # headings without text since the last text
    for section in sections:
        if not section.text:
            bare += [section.path] if section.path else []
            continue
        headings = [path[-1] for path in bare if section.path[: len(path)] != path]
        bare.clear()
        section = replace(section, text="\n\n".join([*headings, section.text]))
        before = joined[-1] if joined else None
        if before and section.path and _are_joined(before, section, most_words):
            parent = section.path[:-1]
            earlier = before.text if before.path == parent else f"{before.path[-1]}\n\n{before.text}"
            joined[-1] = Section(parent, f"{earlier}\n\n{section.path[-1]}\n\n{section.text}")
        else:
            joined.append(section)
    if bare:
        closing = "\n\n".join(path[-1] for path in bare)
        last = joined.pop() if joined else Section((), "")
        joined.append(Section(last.path, f"{last.text}\n\n{closing}".strip()))
    return joined


def _are_joined(before: Section, section: Section, most_words: int) -> bool:
    parent = section.path[:-1]
    if before.is_entry or section.is_entry:
        return False
    if parent != before.path and (not before.path or parent != before.path[:-1]):
        return False
    words = count_words(before.text)
    return words < _SHORT_SECTION_WORDS and words + count_words(section.text) <= most_words
