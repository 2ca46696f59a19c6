"""Sentences by the rules of a language: its ordinals and abbreviations, as a library knows them.

A sentence ends where our own rules and the library's both see its end: where it is doubtful, it goes on.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from agents.base.sentences import Sentence, sentences
from agents.languages.signs import Languages, is_english

_KNOWN = frozenset("ar de es fr it ja nl pl ru zh".split())  # to the library


def sentences_in(text: str, languages: Languages | None) -> list[Sentence]:
    """As `sentences`, by the rules of the text's language; English and unknown ones by ours alone."""
    found = sentences(text)
    if len(found) < 2 or is_english(languages, text) or languages is None:
        return found
    language = languages.language(text)
    if language not in _KNOWN:
        return found
    ends = {span.end for span in _segmenter(language).segment(text)}
    joined: list[Sentence] = []
    start = found[0].start
    for one, following in zip(found, [*found[1:], None], strict=True):
        if following is None or "\n" in text[one.end : following.start] or following.start in ends:
            joined.append(Sentence(start, one.end, text[start : one.end]))
            start = following.start if following is not None else start
    return joined


@cache
def _segmenter(language: str) -> Any:
    from pysbd import Segmenter

    return Segmenter(language=language, clean=False, char_span=True)
