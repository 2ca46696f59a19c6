"""Whether a sentence binds a claim's words otherwise, though it holds them all.

    "Members may borrow three books for ten weeks"   beside "up to ten books for three weeks"
    "The Rhine is 1,230 miles long"                  beside "The Rhine is 1,230 km long"
    "The library is open on Sundays"                 beside "It is closed on Sundays"
    "Ann beat Ben"                                   beside "Ben beat Ann"
    "The pump is switched off at night"              beside "It is switched on at night"

By rules that find few of such cases, and hold true claims back now and then: for what must not be believed on
the strength of shared words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from agents.base.values import content, pieces

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_IS = frozenset(("is", "was", "are", "were"))
_MOST_WORDS = 60  # of a claim whose order is looked at
_ARTICLES = frozenset(("the", "a", "an"))
_OPPOSITES = (
    "open closed|open close|opens closes|first last|north south|northern southern|east west|"
    "eastern western|before after|more less|more fewer|most least|increase decrease|"
    "increased decreased|higher lower|highest lowest|largest smallest|bigger smaller|larger smaller|"
    "longer shorter|oldest youngest|older younger|win lose|won lost|start end|began ended|"
    "begins ends|allowed forbidden|legal illegal|true false|male female|man woman|husband wife|"
    "father mother|son daughter|left right|upper lower|early late|earlier later|minimum maximum|"
    "always never|with without|inside outside|above below|import export|ally enemy|hot cold|"
    "success failure|accepted rejected|possible impossible|safe dangerous|dry wet|arrives departs|"
    "buy sell"
)
_OPPOSITE: dict[str, set[str]] = {}
for _pair in _OPPOSITES.split("|"):
    _one, _other = _pair.split()
    _OPPOSITE.setdefault(_one, set()).add(_other)
    _OPPOSITE.setdefault(_other, set()).add(_one)


def is_bound_otherwise(claim: str, sentence: str) -> bool:
    """Whether a number counts something else, a word is exchanged for its opposite, or words change places.

    sentence: the one that holds most of the claim.
    """
    return (
        _counts_otherwise(claim, sentence)
        or _says_the_opposite(claim, sentence)
        or _reorders(claim, sentence)
    )


def _counts_otherwise(claim: str, sentence: str) -> bool:
    """The same is counted by another number, or the same number counts something else."""
    stated, there = _counted(claim), _counted(sentence)
    words = {item for _, _, items in pieces(sentence) for item in items}
    for number, word in stated - there:
        if any(w == word and n != number for n, w in there):
            return True
        if word not in words and any(n == number for n, _ in there):
            return True
    return False


def _counted(text: str) -> set[tuple[str, str]]:
    """Each number with the word directly behind it."""
    found: set[tuple[str, str]] = set()
    parts = pieces(text)
    for (_, end, items), (start, _, following) in pairwise(parts):
        is_joined = text[end:start] in (" ", "-", "")
        if items and items[-1].startswith("#") and following and is_joined and following[0][0] != "#":
            found.add((items[-1], following[0]))
    return found


def _says_the_opposite(claim: str, sentence: str) -> bool:
    """A word of the claim is missing, and its opposite stands in its place."""
    stated, there = (
        {text[start:end].casefold() for start, end, _ in pieces(text)} for text in (claim, sentence)
    )
    return any(
        word not in there and not _OPPOSITE[word].isdisjoint(there - stated)
        for word in stated & set(_OPPOSITE)
    )


def _reorders(claim: str, sentence: str) -> bool:
    """It has all of the claim's content, in another order or with another small word in a place.

    "A is B" is "B is A".
    """
    if not frozenset(content(claim)) <= frozenset(content(sentence)):
        return False
    stated, there = _words(claim), _words(sentence)
    if len(stated) > _MOST_WORDS:
        return False
    turned = [[*stated[at + 1 :], word, *stated[:at]] for at, word in enumerate(stated) if word in _IS]
    return all(_stands_otherwise(order, there) for order in (stated, *turned))


def _stands_otherwise(stated: Sequence[str], there: Sequence[str]) -> bool:
    for does, start, end, from_, to in SequenceMatcher(None, stated, there, autojunk=False).get_opcodes():
        if does in ("replace", "delete"):
            left, put = stated[start:end], there[from_:to]
            is_elsewhere = any(content(word) and word in there for word in left)
            if is_elsewhere or (_small(left) and _small(put)):
                return True
    return False


def _words(text: str) -> list[str]:
    """As `content` compares them, and the small ones that it leaves out, without articles."""
    words = (word for word in _WORD.findall(text.casefold()) if word not in _ARTICLES)
    return [next(iter(content(word)), word) for word in words]


def _small(words: Sequence[str]) -> bool:
    return any(not content(word) for word in words)
