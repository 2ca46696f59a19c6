"""The wordings in which somebody names what there is one of: a number, a boss, where a thing is.

    "My favourite colour is blue" -> the user's favourite colour is blue

A clause comes here without times, contractions and contrasts; see `agents/relations/comparison.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.relations.parts import (
    AM,
    END,
    NAMED,
    NEW,
    OWNER,
    PEOPLE,
    VALUE,
    WHO,
    Relation,
    Wordings,
    cut,
    one_of,
    says_how_it_is,
)
from agents.values import content

# What everybody has one of, and persons of whom there is one

SLOT = (
    r"(?:(?:[\w-]+ )?favou?rite(?: [\w-]+){1,5}?|(?:[\w-]+ ){0,3}?(?:name|number|address|e-?mail|phone|"
    r"colou?r|age|size|hometown|home town|time ?zone|language|code|password|pin|postcode|zip|capital|"
    r"currency|deadline|date|star sign|blood type|weight|height|salary|rent|nickname))"
)
PERSON = (
    r"(?:doctor|gp|dentist|boss|manager|supervisor|teacher|landlord|landlady|therapist|partner|girlfriend|"
    r"boyfriend|fianc[eé]e?|flatmate|roommate|best friend|head|president|director|owner|author|mayor|"
    r"captain|hairdresser)"
)
_OF_SLOT = rf"{OWNER} {NEW}(?P<slot>{SLOT}) is (?:called |named )?{VALUE}"
_OF_PERSON = (
    rf"{OWNER} {NEW}(?P<slot>{PERSON}) is (?:called |named )?"
    rf"(?P<value>(?!{PEOPLE})(?:(?:dr|mr|mrs|ms|prof)\.? )?{NAMED}){END}"
)
_IS_PERSON = (
    rf"(?P<value>(?:(?:dr|mr|mrs|ms|prof)\.? )?{NAMED}) is (?P<who>my|our) {NEW}(?P<slot>{PERSON}){END}"
)
ONE_CHANGED = (  # "I changed dentists, it's Dr Lind now"
    rf"(?:i|we) {AM}(?:changed|switched|swapped) (?:(?P<who>my|our) )?(?P<slot>{PERSON}|{SLOT})s? : "
    rf"(?:it|(?:my|our|the) new (?:one|(?P=slot))) is (?:called |named )?{VALUE}"
)
_SLOT_CHANGED = (
    rf"(?:i|we) {AM}(?:changed|updated|switched) (?P<who>my|our) (?P<slot>{SLOT}) (?:from .+? )?to "
    rf"{VALUE}",
    rf"(?P<who>my|our) (?P<slot>{SLOT}) (?:has )?(?:changed|moved|switched) (?:from .+? )?to {VALUE}",
    rf"(?:i|we) {AM}an? new (?P<slot>{SLOT}|(?:mobile )?number) ?[:,] (?:it is )?(?P<who>){VALUE}",
    rf"(?:i|we) {AM}an? new (?P<slot>{PERSON})(?:[:,]| called| named| :)? (?:(?:he|she|it) is |(?:his|"
    rf"her) name is )?"
    rf"(?:called )?(?P<who>)(?P<value>(?!{PEOPLE})(?:(?:dr|mr|mrs|ms|prof)\.? )?{NAMED}){END}",
)
_MAIL_OR_PHONE = re.compile(r"\b(e-?mail|phone)(?: address| number)$", re.IGNORECASE)
_BARE_NUMBER = re.compile(r"(?:mobile )?number$", re.IGNORECASE)  # whoever has a new one means the phone's


def slot_name(words: str) -> str:
    """The name of a relation that has the name of a thing: "favourite colour"."""
    return " ".join(content(_MAIL_OR_PHONE.sub(r"\1", words)))


def thing_name(words: str) -> str:
    """The name of the relation between a thing and where it is."""
    return f"place of {' '.join(content(words))}"


def _slot(match: re.Match[str]) -> Iterator[Relation]:
    if says_how_it_is(match["value"]) or re.search(r"\bone of\b", match["slot"], re.IGNORECASE):
        return
    slot = "phone" if _BARE_NUMBER.match(match["slot"]) and "new" in match[0].lower() else match["slot"]
    yield from one_of(match["who"], slot_name(slot), cut(match["value"]))


# Where a thing is, and what is done by habit: of these the later holds only where it is said to be new

THING = (
    r"(?:[\w-]+ ){0,2}?(?:keys?|bike|bicycle|car|phone|wallet|purse|passport|glasses|bag|umbrella|laptop|"
    r"remote|"
    r"charger|suitcase|backpack|scooter|ring|watch|ladder|drill|tent|boat|van|documents?|papers?|medicine|"
    r"pills?|desk|office|bed|sofa|printer|fridge|toolbox|spare key)s?"
)
_SPOT = r"(?:in|to|into|on|under|at|behind|beside|next to|with|near|by|below|above|inside|between)"
_IS_AT = rf"(?:the|my|our) (?P<thing>{THING}) (?:is|are) (?:parked |lying |kept )?{_SPOT} {VALUE}"
_IS_PUT = (
    rf"(?:i|we|they|he|she|somebody|someone|{NAMED}|my [\w-]+) {AM}(?:put|moved|hid|parked) "
    rf"(?:the|my|our) (?P<thing>{THING}) {_SPOT} {VALUE}"
)
_DOES = (
    rf"{WHO} {AM}(?P<does>drive|drives|driving|ride|rides|riding|use|uses|using|study|studies|studying|"
    rf"attend|attends|"
    rf"attending|read|reads|reading|bank|banks|support|supports|dating) (?:at |with )?{VALUE}"
)


def _is_at(match: re.Match[str]) -> Iterator[Relation]:
    is_put = match.re.pattern == _IS_PUT
    yield from one_of(
        "", thing_name(match["thing"]), cut(match["value"]), "spot", is_new=is_put, needs_new=True
    )


def _does(match: re.Match[str]) -> Iterator[Relation]:
    name = " ".join(content(match["does"]))
    yield from one_of(match["who"], name, cut(match["value"]), needs_new=True)


# When something is: a new time takes the place of the old one where it is said to be moved there

EVENT = (
    r"(?:[\w'-]+ ){0,2}?(?:meeting|appointment|flight|train|bus|ferry|party|exam|interview|deadline|"
    r"concert|wedding|"
    r"lesson|class|course|delivery|call|dinner|lunch|match|game|trip|visit|test|session|show|event|opening|"
    r"operation|surgery|conference|workshop|rehearsal|funeral|ceremony|holiday|pick-?up)"
)
_MOVED = r"(?:moved|postponed|rescheduled|delayed|pushed back|put off|brought forward|changed)"
_IS_WHEN = (
    rf"(?:the|my|our) (?P<thing>{EVENT}) (?:is|are|leaves|starts|begins|takes place) "
    rf"(?P<moved>{_MOVED} )?(?:to|on|at|in|until|till|by|from) {VALUE}"
)
_TO_WHEN = rf"(?:back |forward |up |again )?(?:from (?:\S+ ){{1,3}}?)?(?:to|until|till|for) {VALUE}"
_MOVES = rf"(?:the|my|our) (?P<thing>{EVENT}) {AM}(?P<moved>{_MOVED}) {_TO_WHEN}"
_IS_MOVED_BY = (
    rf"(?:i|we|he|she|they|{NAMED}|(?:my|our|the) [\w-]+) {AM}(?P<moved>{_MOVED}) (?:the|my|our) "
    rf"(?P<thing>{EVENT}) "
    rf"{_TO_WHEN}"
)


_ANYTHING = r"(?:(?:the|my|our) (?:[\w-]+ ){0,2}?[\w-]+|(?-i:[A-ZÀ-Þ])[\w-]+)"
_IS_DUE = (
    rf"(?P<thing>{_ANYTHING}) (?:is|are) (?:due|(?P<moved>{_MOVED})) (?:to|on|at|in|until|till|by) {VALUE}"
)
_NAMED_THING = re.compile(r"(?:the|my|our) [\w-]+ ((?-i:[A-ZÀ-Þ])[\w-]+)$", re.IGNORECASE)


def event_name(words: str) -> str:
    """The name of the relation between something and when it is: one with a name is known by it."""
    named = _NAMED_THING.match(words)
    return f"time of {' '.join(content(named[1] if named else words))}"


_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_A_MONTH = re.compile(rf"\b(?:{_MONTH})\b", re.IGNORECASE)
_A_TIME = re.compile(
    rf"\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|noon|midnight|{_MONTH}|one|two|three|four|five|six|"
    r"seven|eight|nine|ten|eleven|twelve)\b",
    re.IGNORECASE,
)


def _is_when(match: re.Match[str]) -> Iterator[Relation]:
    name, time = event_name(match["thing"]), cut(match["value"])
    if _A_TIME.search(time):
        is_dated = _A_MONTH.search(time) is not None  # without a date, it may be every week
        yield from one_of("", name, time, is_new=match["moved"] is not None, needs_new=not is_dated)


OF_THINGS: Wordings = (
    ((_IS_AT, _IS_PUT), _is_at),
    ((ONE_CHANGED, _OF_PERSON, _IS_PERSON, _OF_SLOT, *_SLOT_CHANGED), _slot),
    ((_IS_WHEN, _MOVES, _IS_MOVED_BY, _IS_DUE), _is_when),
    ((_DOES,), _does),
)
