"""A slip that is put right in the same sentence by saying a clause anew.

    "My sister is Ann and my brother is Ben, no, my sister is Anna."
        ->  "My sister is Anna and my brother is Ben."

The clause that is said anew takes the place of the one that opens like it; a pronoun ("no, she is called
Anna") that of the only one. In doubt the sentence stays as it is. Single words that are put right,
`agents/slips.py` puts in.
"""

from __future__ import annotations

import re

from agents.relations.clauses import clauses
from agents.relations.comparison import relation_change

_I = re.IGNORECASE
_LONGEST_READ = 300  # characters
_SURE = (
    r"(?:no|nope|oops|whoops|argh|correction|wait|scratch that|i mean(?:t)?(?: to (?:say|write))?|or rather|"
    r"my (?:bad|mistake)|(?:that|this|it)(?:'s| is| was) (?:wrong|not (?:true|right))|i was wrong)"
)
_UNSURE = r"(?:sorry|pardon|actually|rather|well|er+m?|um+)"  # "well, my sister is a nurse" says more
_PUT_RIGHT = re.compile(
    rf"(?P<old>[^?]{{5,}}?)(?:\s*[,;(–—…]+\s*|\s+-+\s+|\s*\.{{2,}}\s*)(?:and |or |but |oh |ah )?"
    rf"(?P<marks>(?:(?:{_SURE}|{_UNSURE})\b[\s,:–—-]*)+)"
    r"(?P<anew>(?:i|we|he|she|it|they|my|our|the|(?-i:[A-ZÀ-Þ])[\w'-]+)(?:'m|'re|'s|'ve)?\b[^?()]{3,}?)\)?"
    r"(?P<stop>[.! ]*)$",
    _I,
)
_IS_SURE = re.compile(rf".*\b{_SURE}\b", _I)
_VERB = (
    r"(?:am|is|are|was|were|has|have|had|'m|'s|'re|'ve|lives?|works?|likes?|loves?|plays?|moved|bought|got|meets?|"
    r"starts?|begins?|ends?|opens?|closes?|leaves?|costs?|weighs?|owns?|drives?|eats?|drinks?|speaks?|called)"
)
_OPENING = re.compile(rf"(?P<who>(?:[\w-]+ ){{0,3}}?[\w-]+?)(?P<verb>(?: |(?=')){_VERB})\b", _I)
_SAYS_BESIDE = re.compile(  # it denies something, or speaks of what it would take away
    r"n't\b|\b(?:not|no|never|none|either|also|too|it|him|them|those|that)\b", _I
)
_PRONOUN = re.compile(r"(?:he|she|it|they)$", _I)


def with_clause_put_right(sentence: str) -> str:
    """The sentence as its user means it, where they say one of its clauses anew; else as it is."""
    plain = sentence.replace("’", "'")
    said = _PUT_RIGHT.match(plain) if len(plain) <= _LONGEST_READ else None
    if said is None:
        return sentence
    old, anew = said["old"], said["anew"]
    (_, end), *_ = clauses(anew)
    clause, rest = anew[:end], anew[end:]
    is_sure = _IS_SURE.match(said["marks"]) is not None
    found = [
        (start, stop, put) for start, stop in clauses(old) if (put := _put(old[start:stop], clause, is_sure))
    ]
    if len(found) != 1 or (_is_of_a_pronoun(clause) and len(clauses(old)) > 1):
        return sentence
    ((start, stop, put),) = found
    put = put if start else put[0].upper() + put[1:]
    return f"{old[:start]}{put}{old[stop:]}{rest}{said['stop']}"


def _put(old: str, anew: str, is_sure: bool) -> str | None:
    """The clause said anew, with whom it is of; None where it is not the old one said anew."""
    before, after = _OPENING.match(old), _OPENING.match(anew)
    if before is None or after is None or before["verb"].strip().lower() != after["verb"].strip().lower():
        return None
    if _SAYS_BESIDE.search(anew, after.end()):
        return None
    if _PRONOUN.match(after["who"]) or _is_named_with(before["who"], after["who"]):
        anew = before["who"] + anew[after.end("who") :]
    elif before["who"].lower() != after["who"].lower():
        return None
    return anew if is_sure or relation_change(old, anew) == "value" else None


def _is_named_with(who: str, said: str) -> bool:
    """Whether the one is the other, named as well: "My dog Rex", "my dog"."""
    named = who[len(said) :]
    return who.lower().startswith(said.lower()) and re.fullmatch(r" [A-ZÀ-Þ][\w'-]*", named) is not None


def _is_of_a_pronoun(clause: str) -> bool:
    opening = _OPENING.match(clause)
    return opening is not None and _PRONOUN.match(opening["who"]) is not None
