"""The wordings in which somebody says who has a thing of theirs, and that it came back.

    "I lent my drill to Steve"     Steve has the drill
    "Steve gave my drill back"     nobody else has it any more

A clause comes here without times, contractions and contrasts; see `agents/relations/comparison.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.relations.parts import AM, NAMED, Relation, Wordings
from agents.values import content

HOLDER_OF = "holder of "
TELLING_OF_A_LOAN = frozenset(content("lent lend loaned borrowed has have got keeps keeping give gave back"))
_WHOM = rf"(?P<value>{NAMED}|(?:my|our) [\w-]+(?: {NAMED})?)"
_THING = (
    r"(?P<thing>(?!(?:number|address|back|attention|respect|word|trust|permission|support|nose|eyes?|hair|"
    r"name|smile|heart|love|consent|vote|surname|e-?mail|thanks|genes|chin|temper|blessing|sympathy|"
    r"ear|hand|money|opinion|birthday|age|job)s?\b)(?-i:[a-z])[\w-]*(?: (?-i:[a-z])[\w-]*){0,2}?)"
)
_MINE = r"(?:my|our|the) "
_LENT = (
    rf"(?:i|we) {AM}(?:lent|loaned|lend) {_MINE}{_THING} to {_WHOM}$",
    rf"(?:i|we) {AM}(?:lent|loaned|lend) {_WHOM} {_MINE}{_THING}$",
    rf"{_WHOM} {AM}(?:has|borrowed|keeps|keeping) (?:my|our) {_THING}$",
)
_CAME_BACK = (
    rf"{_WHOM} {AM}(?:gave|given|brought|handed|sent) (?:(?:me|us) )?{_MINE}{_THING} back$",
    rf"{_WHOM} {AM}(?:gave|given|brought|handed|sent) (?:(?:me|us) )?back {_MINE}{_THING}$",
    rf"{_WHOM} {AM}returned {_MINE}{_THING}$",
    rf"(?:i|we) {AM}(?:got|took|have|had|getting) {_MINE}{_THING} back(?: from {_WHOM})?$",
)
ASKS_OF_A_LOAN = (
    rf"(?:who (?:has|borrowed|has got|is keeping)|whom? did (?:i|we) lend|to whom did (?:i|we) lend|"
    rf"do (?:i|we) have|did (?:i|we) get) {_MINE}{_THING}(?: to| back)?"
)


def holder_name(thing: str) -> str:
    """The relation by which somebody tells who has a thing."""
    return HOLDER_OF + " ".join(content(thing))


def _lent(match: re.Match[str]) -> Iterator[Relation]:
    if value := frozenset(content(match["value"])):
        yield Relation((), holder_name(match["thing"]), value)


def _came_back(match: re.Match[str]) -> Iterator[Relation]:
    value = frozenset(content(match["value"] or ""))
    yield Relation((), holder_name(match["thing"]), value, over="negated")


OF_LOANS: Wordings = ((_LENT, _lent), (_CAME_BACK, _came_back))
