"""The wordings in which somebody has one thing no more, and another instead.

    "We renamed the dog, he is Max"     a dog, or what it was called, is gone; Max has come
    "I swapped my Skoda for a Fiat"     a Skoda is gone, a Fiat has come; of what kind they are, is not told
    "My bike was stolen"                a bike is gone

What was told to be had before is over by it: "I drive a Skoda", "My car is a Skoda". A sentence comes here as
a whole, without times and contractions; see `agents/relations/comparison.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agents.relations.parts import AM, ANIMAL, MANY_OF_THEM, NAMED, Relation, cut, whose
from agents.relations.possessions import HAS, KIND, NO_KIND, called_name, own_name
from agents.values import content

_I = re.IGNORECASE


class Exchange(NamedTuple):
    """What somebody has no more, and what they have instead."""

    of: tuple[str, ...]  # whose it is: stems; none for the user
    gone: frozenset[str]  # stems
    come: frozenset[str]  # stems; none where nothing is named
    kind: str  # stems; empty where it is not told: "my Skoda"
    at: frozenset[str] = frozenset()  # stems of where it was, or of where it was exchanged


_WHO = rf"(?P<who>i|we|(?:my|our) [\w-]+(?: (?-i:[A-ZÀ-Þ])[\w-]+)?|{NAMED})"
_OLD = (
    r"(?:(?:my|our|the|that|his|her|their) (?:old |former |trusty |good )*|(?=(?-i:[A-ZÀ-Þ])))"
    r"(?P<old>[\w'-]+(?: [\w'-]+){0,3}?)"
)
_NEW = (
    r"(?:(?:an?|the|my|our|some|another) )?(?:new |used |second-hand |different |better )*"
    r"(?:(?:one|(?P<again>(?-i:[a-z])[\w-]+)) (?:called|named) )?(?P<new>[\w'-][\w' .-]*?)"
)
_STOP = r"(?=$|[,;:!(]| (?:because|since|when|after|so|which|who|that|as|and|but|in|at|from|to)\b)"
_IS_NOW = r"(?:(?:he|she|it|they) (?:is|are|am) |(?:his|her|its|their) (?:new )?name is )(?:called |named )?"
_BEGIN = (
    r"(?:bought|got|haves?|has|owns?|took|drives?|rides?|uses?|ordered|joined|picked up|leased|rent(?:s|"
    r"ed)?|chose|"
    r"adopted|signed up (?:at|with|for)|subscribed to|went (?:to|with|for)|go(?:es)? to|moved to|switched to|"
    r"started (?:at|with)|works? (?:at|for)|train at|sees?|(?:am|is|are) (?:with|at)|wears?)"
)
_END = (
    r"(?:sold|gave away|gave up|got rid of|traded in|scrapped|donated|lost|crashed|wrecked|totalled|returned|"
    r"cancelled|canceled|quit|left|ditched|dropped|threw (?:away|out)|stopped using|smashed|broke)"
)
_MAY_GO_ON = (
    r"(?!(?:left|dropped|broke|lost|crashed|returned)\b.*\b(?:took|went (?:to|with|for))\b)"  # the bus
)
_BROKE = (
    r"(?:died|passed away|ran away|broke(?: down)?|is dead|is gone|is broken|gave out|"
    r"(?:was|is|has been|got) (?:stolen|sold|scrapped|wrecked|totalled|run over|put down))"
)
_EXCHANGES = [
    re.compile(wording, _I)
    for wording in (
        rf"{_WHO} {AM}(?:swapped|traded|exchanged|traded in|swapped out|switched|changed|upgraded) {_OLD}"
        rf"(?: in)? (?:for|against|to) {_NEW}{_STOP}",
        rf"{_WHO} {AM}(?:replaced|substituted) {_OLD} (?:with|by) {_NEW}{_STOP}",
        rf"{_OLD} {AM}(?:was |were )?(?:replaced|exchanged|swapped) (?:by|with|for) {_NEW}{_STOP}",
        rf"{_WHO} {AM}{_MAY_GO_ON}{_END} {_OLD},? (?:and|but|then|so|:|for|to) (?:then )?"
        rf"(?:(?:i|we|he|she|they) )?{AM}(?:{_BEGIN}|(?:join|start at|work (?:at|for)) ) ?"
        rf"(?:(?:me|us|myself|ourselves) )?{_NEW}{_STOP}",
        rf"{_WHO} {AM}{_BEGIN} {_NEW} (?:to replace|instead of|in place of|in exchange for) {_OLD}{_STOP}",
        rf"{_WHO} {AM}renamed {_OLD},? ?(?:(?:and|:|,) )?{_IS_NOW}(?P<new>{NAMED})",
        rf"{_WHO} {AM}renamed {_OLD} (?:(?:from {NAMED} )?(?:to|as|into) )?(?P<new>{NAMED})$",
        rf"(?P<who>my|our) (?P<old>[\w-]+)(?: {NAMED})? {_BROKE},? (?:(?:and|but|so) )?(?:i|we) {AM}{_BEGIN} "
        rf"(?:(?:an?|the) )?(?:new|another|different) (?:one|(?P=old))"
        rf"(?:,? (?:called|named|:)?,? ?(?P<new>{NAMED}))?",
        rf"{_WHO} {AM}(?:changed|switched|swapped) (?:(?:my|our|her|his) "
        rf")?(?P<old>(?-i:[a-z])[\w-]+?)(?:e?s)?,? "
        rf"?(?:and |to |: |; |- )?(?:it is |(?:i|we|he|she) {AM}{_BEGIN} |(?:my|our|the|his|her) new "
        rf"(?:one|[\w-]+) is )(?:called |named )?{_NEW}{_STOP}",
        rf"{_WHO} {AM}(?:changed|switched|upgraded|swapped|moved)(?: (?P<kind>(?-i:[a-z])[\w-]+?)s?)? from "
        rf"(?:(?:an?|the|my|our|his|her) )?(?P<old>[\w'-]+(?: [\w'-]+){{0,2}}?) to {_NEW}{_STOP}",
    )
]
_HAS_A_NEW_ONE = re.compile(
    rf"{_WHO} {AM}(?:got|have|has|bought) an? new (?P<old>(?-i:[a-z])[\w-]*(?: (?-i:[a-z])[\w-]*)?)"
    rf"(?:[:,]| called| named| :| ,)+ (?:(?:it|he|she) is )?(?:an? )?(?P<new>{NAMED})$",
    _I,
)
_ENDS = [
    re.compile(wording, _I)
    for wording in (
        rf"{_WHO} {AM}(?:sold|gave away|got rid of|traded in|scrapped|donated|crashed|wrecked|totalled|"
        rf"smashed) {_OLD}(?: (?:to|for|at|in|on|by) .+)?$",
        # what is lost at a place may be found there, and who is lost may be a colleague that left
        rf"{_WHO} {AM}lost (?!(?-i:[A-ZÀ-Þ])){_OLD}(?: to .+)?$",
        rf"{_WHO} {AM}gave {_OLD} (?:away|to (?!the\b).+)$",
        r"(?P<who>my|our) (?P<old>[\w'-]+(?: [\w'-]+){0,2}?) (?:was|is|has been|have been|got) "
        r"(?:stolen|sold|scrapped|wrecked|totalled|given away)$",
        rf"{_WHO} {AM}returned {_OLD}(?: to the (?:dealer|seller|shop|store|garage|breeder))?$",
        rf"(?P<who>my|our|the) (?P<old>{ANIMAL}(?: {NAMED})?) (?:has |have )?"
        r"(?:died|passed away|is dead|was put down)$",
    )
]
_TELLS_OF_IT = re.compile(  # quick to look for: a word of each wording
    rf"\b(?:swapped|traded|exchanged|switched|changed|upgraded|replaced|substituted|renamed|gave|{_END}|"
    rf"{_BROKE}|"
    r"given away|an? new|moved|to replace|instead of|in place of)\b",
    _I,
)
_FOR_A_WHILE = re.compile(
    r"\bfor (?:an?|the|one|two|three|this) (?:hour|day|week|weekend|month|summer|winter|holidays?|time "
    r"being)s?\b"
    r"|\b(?:temporarily|almost|nearly|until|found|(?:came|got (?:it|him|her|them)) back)\b",
    _I,
)
_AT = re.compile(r"\b(?:in|at|on|near) (?P<at>[^,;:]+)", _I)
_ITSELF = frozenset(("it", "them", "that", "one", "him", "her"))


def may_tell_exchange(text: str) -> bool:
    """Whether a text has a word of those that tell an exchange: of most texts none can."""
    return _TELLS_OF_IT.search(text) is not None


def exchanged(plain: str) -> Exchange | None:
    """What a plain sentence says to be had no more, and what instead; None for most."""
    if _FOR_A_WHILE.search(plain):
        return None
    for wording in (*_EXCHANGES, _HAS_A_NEW_ONE, *_ENDS):
        found = wording.match(plain)
        if found is None:
            continue
        groups = found.groupdict()
        who = groups.get("who") or ""
        of, gone, come = (
            whose("" if who.lower() == "the" else who),
            groups["old"],
            (groups.get("new") or "").strip(),
        )
        if wording is _HAS_A_NEW_ONE and MANY_OF_THEM.search(gone):
            continue  # a new cat may be there beside the old one
        if of is None or NO_KIND.search(gone) or come.casefold() in _ITSELF:
            continue
        kind = groups.get("kind") or groups.get("again") or (gone if gone.islower() else "")
        ends = max(found.end(group) for group in ("old", "new") if group in groups)
        there = _AT.search(plain, ends)
        at = frozenset(content(there["at"])) if there else frozenset()
        return Exchange(of, frozenset(content(gone)), frozenset(content(come)), " ".join(content(kind)), at)
    return None


def of_exchange(plain: str) -> list[Relation]:
    """What a plain sentence gives by an exchange whose kind it tells."""
    found = exchanged(plain)
    if found is None or not found.kind:
        return []
    return [
        Relation(found.of, name, found.come, over="" if found.come else "negated", is_new=True)
        for name in (own_name(found.kind), called_name(found.kind))
    ]


# What is over by it

_HAVING = re.compile(
    rf"{_WHO} {AM}(?:{HAS}|(?:works?|working) (?:at|for)|(?:lives?|living) in) "
    r"(?:(?:an?|some) |the (?=(?-i:[A-Z])))?"
    r"(?!(?:my|our|his|her|their|the|that|this|it|to|no|not|been)\b)(?P<value>.+)$",
    _I,
)
_MINE_IS = re.compile(rf"(?P<who>my|our) {KIND} (?:is|are) (?:called |named )?(?:an? )?(?P<value>.+)$", _I)
_BEHIND_IT = re.compile(
    r"\s+(?:with|in|at|on|for|of|from|to|since|that|which|who|called|named|every|each|by|near)\b", _I
)
_CALLED = re.compile(r" (?:called|named) ", _I)
_NAME = re.compile(r"(?<![\w'])[A-ZÀ-Þ][\w'-]*")
_SEVERAL = re.compile(r"(?:two|three|four|five|six|seven|eight|nine|ten|\d\d?|both|many|several|some) ", _I)
_MOST_BESIDE = 2  # content words that a statement says of what is exchanged


def ends_what_is_had(old: str, new: Exchange) -> bool:
    """Whether a plain sentence says that somebody has what an exchange says to be gone, and little else."""
    found = _HAVING.match(old) or _MINE_IS.match(old)
    if found is None:
        return _had_by_exchange(old, new)
    value = cut(found["value"])
    if whose(found["who"]) != new.of or re.search(r"\b(?:and|or)\b|,", value) or _SEVERAL.match(value):
        return False
    there = _AT.search(value)
    if there and new.at and new.at.isdisjoint(content(there["at"])):
        return False
    kind = content(found.groupdict().get("kind") or "")
    things = _CALLED.sub(" ", value)
    head = content(_BEHIND_IT.split(value)[0])[-1:]
    heads = {*head, *kind[-1:], *content(" ".join(_NAME.findall(things)))}
    had = {*kind, *content(things)}
    return new.gone <= had and not heads.isdisjoint(new.gone) and len(had - new.gone) <= _MOST_BESIDE


def _had_by_exchange(old: str, new: Exchange) -> bool:
    """Whether what is gone is what an earlier exchange brought: "... for a Fiat", "I sold the Fiat"."""
    before = exchanged(old)
    if before is None or not before.come or before.of != new.of:
        return False
    return new.gone <= before.come | set(before.kind.split())
