"""The wordings in which somebody tells an amount that goes up and down, and when of a day they do something.

    "My rent went up to 1020 pounds" -> the user's rent is 1020 pounds
    "I get up at seven"              -> the time at which the user gets up is seven

A clause comes here without times, contractions and contrasts; see `agents/relations/comparison.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.relations.parts import AM, NAMED, NEW, VALUE, WHO, Relation, Wordings, cut, one_of
from agents.values import content, numbers

AMOUNT_KIND = (
    r"(?:rent|salary|wages?|pay|mortgage|pension|allowance|pocket money|budget|bills?|fees?|subscription|"
    r"premium|price|fare|deposit|bonus|hourly rate|interest rate|weight)"
)
AMOUNT = rf"(?:(?!(?:is|are|was|were|to|of|for)\b)[\w'-]+ ){{0,2}}?{AMOUNT_KIND}"
_OWNER = rf"(?P<who>my|our|the|{NAMED}'s)"
_GONE = (
    r"(?:gone|went|rose|risen|climbed|jumped|increased|decreased|raised|lowered|reduced|cut|dropped|fell|"
    r"fallen|sank|came down|come down|put up|brought down|changed|adjusted)"
)
_GOES = r"(?:goes|going|rises|rising|increases|increasing|decreases|drops|dropping|falls|changes|changing)"
_FROM_OR_BY = r"(?: up| down)?(?: again)?(?: (?:from|by) .+?)*"
_IS_AMOUNT = rf"{_OWNER} {NEW}(?P<slot>{AMOUNT}) (?:is|are|comes to|costs)(?: at| up to| down to)? {VALUE}"
_CHANGED = rf"{_OWNER} {NEW}(?P<slot>{AMOUNT}) {AM}(?:(?P<gone>{_GONE})|{_GOES}){_FROM_OR_BY} to {VALUE}"
_WAS_CHANGED = (
    rf"(?:i|we|they|he|she|it|{NAMED}|(?:my|our|the) [\w-]+(?: [\w.-]+){{0,3}}?) {AM}"
    rf"(?P<gone>raised|increased|lowered|reduced|cut|put|dropped|brought|changed) "
    rf"(?P<who>my|our|the) (?P<slot>{AMOUNT}){_FROM_OR_BY} to {VALUE}"
)
_PAYS = (
    rf"(?P<who>i|we) {AM}(?:pay|paying) (?P<value>.+?) (?:(?:in|of|as|for) (?:(?:my|our|the) )?"
    rf"(?P<slot>{AMOUNT})|(?P<kind>rent))(?: (?:a|per) (?:week|month|year))?$"
)
_EARNS = rf"(?P<who>i|we) {AM}(?:earn|earning) {VALUE}"
_WEIGHS = rf"(?P<who>i|we) {AM}weigh {VALUE}"


def amount_name(words: str) -> str:
    """The name of a relation that has the name of an amount: "rent"."""
    return " ".join(content(words))


def _amount(match: re.Match[str]) -> Iterator[Relation]:
    groups, value = match.groupdict(), cut(match["value"])
    name = groups.get("slot") or groups.get("kind") or ("weight" if match.re.pattern == _WEIGHS else "salary")
    if numbers(value):
        is_told_to_change = match.re.pattern in (_CHANGED, _WAS_CHANGED)
        is_new = groups.get("gone") is not None
        needs_new = is_told_to_change and not is_new  # "goes up in May to": until then both hold
        yield from one_of(match["who"], amount_name(name), value, is_new=is_new, needs_new=needs_new)


DAILY = (
    r"(?:gets? up|getting up|wakes? up|waking up|go(?:es)? to (?:bed|sleep)|going to (?:bed|sleep)|"
    r"(?:start|finish|leave|stop)s? (?:for )?(?:work|working|school)|leaves? (?:the house|home|the office)|"
    r"(?:have|has|eat|eats) (?:breakfast|lunch|dinner|supper|tea))"
)
_DOES_DAILY = rf"{WHO} {AM}(?P<does>{DAILY})(?: (?:at|around|about|by|from))+ {VALUE}"
_A_TIME = re.compile(
    r"(?:half |quarter |a quarter |\w+ )?(?:past |to )?(?:\d{1,2}(?:[:.]\d{2})?|one|two|three|four|five|six|"
    r"seven|eight|nine|ten|eleven|twelve|noon|midnight)(?: ?(?:[ap]\.?m\.?|o'clock|thirty|fifteen))?",
    re.IGNORECASE,
)


def daily_name(words: str) -> str:
    """The name of the relation between what somebody does every day and its time."""
    return f"time of {' '.join(content(words))}"


def _does_daily(match: re.Match[str]) -> Iterator[Relation]:
    if _A_TIME.fullmatch(time := cut(match["value"])):
        yield from one_of(match["who"], daily_name(match["does"]), time, needs_new=True)


OF_AMOUNTS: Wordings = (
    ((_CHANGED, _WAS_CHANGED, _IS_AMOUNT, _PAYS, _EARNS, _WEIGHS), _amount),
    ((_DOES_DAILY,), _does_daily),
)
