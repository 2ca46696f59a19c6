"""A sentence that gives the right words alone, for what should have stood in what was told last.

"I meant 4231."    "Sorry, on Tuesday."    "oops, 0151 2345687"
"""

from __future__ import annotations

import re
from typing import NamedTuple

_I = re.IGNORECASE
_LONGEST_READ = 120  # characters: a longer one says more
_MOST_WORDS = 6  # of what is put right

_ADMITS = (
    r"(?:(?:(?:that|this|it) (?:was|is) )?(?:a |my )?(?:typo|mistake|slip)|(?:that|this|it) (?:was|is) wrong|"
    r"i was wrong|my bad|i (?:made a mistake|misspoke|mistyped|got (?:that|it) wrong)|"
    r"i (?:mis)?typed that wrong)"
)
_OPENS = rf"(?:oops|whoops|ups|no|nope|argh|correction|{_ADMITS})"
_EXCUSES = r"(?:sorry|pardon)"  # also said to somebody: "Sorry, Anna"
_HESITATES = r"(?:oh|ah|wait|er+m?|um+|well|actually)"
_MEANS = (
    r"(?:i (?:actually |really |of course )?mean(?:t)?(?: to (?:say|write|type))?(?: that)?|make (?:that|it)|"
    r"(?:it|that|this) should (?:be|have been|say|read)|(?:it|that)(?:'s| is| was))"
)
_CORRECTION = re.compile(
    rf"\W*(?:{_HESITATES}\W+)*(?P<opens>(?:(?:(?P<sure>{_OPENS})|{_EXCUSES})\W+(?:{_HESITATES}\W+)*)*)"
    rf"(?:(?P<means>{_MEANS})\W+)?(?P<right>[^?]+?)(?:,? (?:and )?not (?P<wrong>[^,?]+?))?"
    r"(?:,? (?:sorry|of course|oops|my (?:mistake|bad)))*[.! ]*$",
    _I,
)
_SAYS_MORE = re.compile(
    r"\b(?:i|i'm|i've|we|you|he|she|it|they|is|are|was|were|am|has|have|had|do|does|did|will|can|would|should|"
    r"that|this|there|thanks?|idea|problem|way|matter)\b|n't\b|[;:] ",
    _I,
)


_DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?"
_OF_A_VALUE = re.compile(  # "wait, 89", "actually it's Thursday"; and not "actually 14 people came"
    rf"\W*(?:(?:oh|ah|no|well|er+m?|um+)\W+)*(?:actually\b[\s,.–—-]+|wait\s*[,.–—-]+\s*)"
    rf"(?:{_HESITATES}\W+)*(?:(?:it|that)(?:'s| is)\W+)?(?:(?:on|at)\s+)?"
    rf"(?:\d[\d ./:,-]*(?:\s?[ap]m)?|{_DAY})[.! ]*$",
    _I,
)


class RightWords(NamedTuple):
    """What a sentence gives as the right words."""

    right: str
    wrong: str  # what it names as wrong; mostly empty
    is_sure: bool  # it cannot be but a correction: "Sorry, Anna" may speak to Anna


def right_words(sentence: str) -> RightWords | None:
    """The right words that a sentence gives; None for most. One that says more stands on its own."""
    said = " ".join(sentence.replace("’", "'").split())
    match = _CORRECTION.match(said) if len(said) <= _LONGEST_READ else None
    is_value = match is not None and _OF_A_VALUE.match(said) is not None
    if match is None or not (match["opens"] or _means_it(match["means"]) or is_value):
        return None
    right = match["right"].strip(" ,.-")
    is_short = 0 < len(right.split()) <= _MOST_WORDS
    if not is_short or _SAYS_MORE.search(right):
        return None
    is_sure = match["sure"] is not None or _means_it(match["means"]) or is_value
    return RightWords(right, match["wrong"] or "", is_sure)


def _means_it(means: str | None) -> bool:
    """Whether these words open a correction alone: "it is" also opens an answer."""
    return means is not None and re.match(r"i |make|(?:it|that|this) should", means, _I) is not None
