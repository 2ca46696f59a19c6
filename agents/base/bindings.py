"""Whether a sentence binds a claim's words otherwise, though it holds them all.

    "Members may borrow three books for ten weeks"   beside "up to ten books for three weeks"
    "The Rhine is 1,230 miles long"                  beside "The Rhine is 1,230 km long"
    "The library is open on Sundays"                 beside "It is closed on Sundays"
    "Ann beat Ben"                                   beside "Ben beat Ann"

By rules that find few of such cases, and hold true claims back now and then: for what must not be believed on
the strength of shared words.
"""

from __future__ import annotations

from itertools import pairwise

from agents.base.values import names, pieces

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
    """Whether a number counts something else, a word is exchanged for its opposite, or names change places.

    sentence: the one that holds most of the claim.
    """
    return (
        _counts_otherwise(claim, sentence) or _says_the_opposite(claim, sentence) or _swaps(claim, sentence)
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


def _swaps(claim: str, sentence: str) -> bool:
    """Two names stand in the other order, and neither text is in the passive or says what something is."""
    if not _is_active(claim) or not _is_active(sentence):
        return False
    order = [value.items[-1] for value in names(claim)]
    places = {value.items[-1]: value.start for value in reversed(names(sentence))}
    if len(set(order)) < len(order):
        return False
    found = [places[item] for item in order if item in places]
    return len(found) > 1 and found[0] > found[1]


def _is_active(text: str) -> bool:
    words = set(text.casefold().split())
    return words.isdisjoint(("by", "is", "was", "are", "were"))
