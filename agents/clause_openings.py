"""How a clause opens that has a subject and a finite verb of its own, or shares those of the clause before.

"my sister lives"   "Anna Berg runs"   "our cats are"   "he is"   "I like"
"and work at", after "I live in Oslo"
"""

from __future__ import annotations

import re

_I = re.IGNORECASE
NAME = r"(?!(?:I|We|He|She|It|They|You|My|Our|The|This|That|There)\b)(?-i:[A-ZÀ-Þ])[\w.-]*"
NAMES = rf"{NAME}(?: {NAME}){{0,3}}(?:'s(?: [\w-]+){{1,2}}?)?"
_WORD = r"(?!(?:and|or|but|nor)\b)[\w'-]+"
THING = rf"(?:my|our|the) (?:{_WORD} ){{0,4}}?{_WORD}(?<!'s)"  # "my wife's is 5" needs what is before
_SOFTLY = (
    r"(?:(?:also|always|only|usually|often|never|still|really|just|sometimes|mostly|currently|now) ){0,3}"
)
_SINGULAR = (
    r"(?:is|was|has|isn't|wasn't|hasn't|doesn't|does not|lives|works|likes|loves|hates|"
    r"prefers|plays|speaks|drives|eats|drinks|studies|teaches|costs|weighs|opens|closes|starts|begins|ends|"
    r"leaves|arrives|expires|runs|belongs|owns|sells|holds|stands|lies|flows|comes|goes|gets|takes|gives|"
    r"uses|wears|keeps|collects|sings|cooks|paints|reads|swims|rides|sleeps|meets|stays|sits)"
)
_PLURAL = (
    r"(?:are|were|have|aren't|weren't|don't|do not|live|work|like|love|speak|play|own|come|go|eat|drink|"
    r"study)"
)
_OF_ANY_NUMBER = (  # pasts that are no participles: "a car bought in 2012" has no finite verb
    r"(?:can|can't|cannot|will|had|went|came|began|grew|wrote|drove|spoke|ate|took|gave|became|fell|rose|"
    r"chose|broke|died|arrived)"
)
_MANY = r"(?:(?<=[a-rt-z]s)|(?<=people)|(?<=children))"
_SPEAKER = r"(?:i|we)(?:'m|'ve|'re|'ll)?(?: (?!(?:and|or|but|too|both)\b)[\w'-]+)"
_POINTER = rf"(?:he|she|it|they)(?:'s|'re|'ve| {_SOFTLY}(?:{_SINGULAR}|{_PLURAL}|{_OF_ANY_NUMBER}))\b"
_SHORT_IS = r"(?:my|our) [\w-]+(?: [\w-]+)?'s (?:an?|called|named|from|in|at|on|\d+)\b"
_ONE = rf"(?:{THING}|{NAMES}) {_SOFTLY}{_SINGULAR}\b"
_SOME = rf"(?:{THING}|{NAMES}) {_SOFTLY}{_OF_ANY_NUMBER}\b"
_SEVERAL = rf"(?:my|our|the) (?:{_WORD} ){{0,4}}?{_WORD}{_MANY} {_SOFTLY}{_PLURAL}\b"
OPENS = re.compile(rf"(?:{_SPEAKER}|{_POINTER}|{_SHORT_IS}|{_ONE}|{_SOME}|{_SEVERAL})", _I)
OPENS_OF_ONE = re.compile(rf"{_SHORT_IS}|{_ONE}", _I)  # nobody beside its subject is meant with it
_PAST = r"(?:\w{3,}ed|bought|got|sold|won|lost|built|made|held|met|paid|found|left|ran)"
OPENS_FIRST = re.compile(  # in the first clause a past is no participle, and persons are listed
    rf"{OPENS.pattern}|(?:{THING}|{NAMES}) {_SOFTLY}{_PAST}\b"
    rf"|(?:{THING}|{NAMES}) and (?:i|{THING}|{NAMES}) {_SOFTLY}(?:{_PLURAL}|{_PAST})\b",
    _I,
)
_HEADED = re.compile(
    r"(?:(?P<i>i|we)(?: (?:live|work|study|teach|play|speak|drive|own|have|am|come)|'m)"
    rf"|(?P<one>(?:my|our) {_WORD}(?: {NAME})?|{NAMES}) "
    r"(?:lives|works|studies|teaches|plays|speaks|drives|owns|has|is|comes))\b",
    _I,
)
_PLACED = r"(?:at|in|for|as|with|near|on|from) "
_SHARES = {
    "i": re.compile(
        rf"(?:live|work) {_PLACED}|(?:study|teach|speak|play) (?!to\b|{_PLACED})\w|drive an? |come from |"
        r"have (?:an?|two|three|four|five|\d+) |am (?:an?|\d+|from) "
    ),
    "one": re.compile(
        rf"(?:lives|works) {_PLACED}|(?:studies|teaches|speaks) \w|drives an? |comes from |"
        r"has (?:an?|two|three|four|five|\d+) |is (?:an?|\d+|from) "
    ),
}


def shared_subject(clause: str, text: str, at: int) -> str:
    """The subject of a clause, where the words of a text at a place surely share it; mostly nothing."""
    head = _HEADED.match(clause)
    if head is None:
        return ""
    kind = "i" if head["i"] else "one"
    return head[kind] if _SHARES[kind].match(text, at) else ""
