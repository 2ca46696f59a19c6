"""The wordings in which somebody tells on which days they do something, and what they never eat.

    "I swim on Tuesdays"   -> the day on which the user swims is Tuesday
    "I am vegetarian"      -> the user's diet is vegetarian; "I eat fish again" ends it

A clause comes here without times, contractions and contrasts; see `agents/relations/comparison.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.relations.parts import AM, NAMED, WHO, Relation, Wordings, one_of, whose
from agents.values import content

_I = re.IGNORECASE

# On which days: several may be, unless the later one is said to be so now

_DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend)"
_ON_DAYS = re.compile(rf"\b(?:(?:every|each) {_DAY}|(?:on|to) {_DAY}s)\b", _I)
_A_DAY = re.compile(_DAY, _I)
_BESIDE = re.compile(r" ?\b(?:also|too|as well)\b", _I)
_DAYS = rf"(?P<days>{_DAY}s?(?:(?:,| and|, and) (?:on )?{_DAY}s?)*)"
_WHEN = rf"(?:every|each|on) {_DAYS}$"
_WORDS = r"[\w'-]+(?: [\w'-]+)"
_DOES = re.compile(
    rf"(?P<who>i|we|(?:my|our) [\w-]+(?: (?-i:[A-Z])[\w-]+)?|{NAMED}) {AM}"
    rf"(?P<does>(?!no\b|not\b|never\b|is\b|are\b)[a-z]+(?: [\w'-]+){{0,4}}?) {_WHEN}",
    _I,
)
_IS_ON = re.compile(
    rf"(?:(?:my|our|the) |(?=(?-i:[A-ZÀ-Þ])))(?P<does>{_WORDS}{{0,3}}?) "
    rf"(?:is|are|meets?|takes place|happens) {_WHEN}",
    _I,
)
_TO_DAYS = rf"(?:moved|changed|switched) (?:(?:my|our|the) )?(?P<does>{_WORDS}{{0,3}}?)"
_IS_MOVED = re.compile(
    rf"(?:(?:i|we|they|{NAMED}) {AM}{_TO_DAYS}|"
    rf"(?:my|our|the) (?P<thing>{_WORDS}{{0,3}}?) {AM}(?:moved|changed|switched)) "
    rf"(?:from {_DAY}s? )?to (?:every |each )?{_DAYS}$",
    _I,
)
_EMPTY_VERBS = frozenset(content("go have do take play attend meet"))
DAY_OF = "day of "  # how the names of these relations begin
AS_WELL = "as well"  # the kind of a value that holds beside others, or of several


def days_name(does: str) -> str:
    """The name of the relation between what somebody does and its days: "swim" and "go swimming" are one."""
    stems = content(does)
    return DAY_OF + " ".join([stem for stem in stems if stem not in _EMPTY_VERBS] or stems)


def tells_days(text: str) -> bool:
    """Whether a text names days of the week on which something is done."""
    return _ON_DAYS.search(text) is not None


def on_days(plain: str) -> list[Relation] | None:
    """What a plain sentence gives that tells of days of the week; None where it tells of none."""
    if not _ON_DAYS.search(plain):
        return None
    said = _BESIDE.sub("", plain)
    found = _IS_MOVED.match(said) or _IS_ON.match(said) or _DOES.match(said)
    if found is None:
        return []
    groups = found.groupdict()
    days = frozenset(content(" ".join(day.rstrip("s") for day in _A_DAY.findall(found["days"].lower()))))
    of = whose(groups.get("who"))
    kind = AS_WELL if said != plain or len(days) > 1 else ""
    name = days_name(groups["does"] or groups["thing"])
    return [] if of is None else [Relation(of, name, days, kind, needs_new=True)]


# What is never eaten

DIET = r"(?:vegetarian|vegan|veggie|pesc[ae]tarian|teetotal(?:l?er)?)"
_MEAT = "meat|chicken|beef|pork|ham|bacon|sausages?|steaks?|burgers?|lamb|turkey|duck|poultry"
_FISH = "fish|salmon|tuna|seafood|sushi|shrimps?|prawns?"
_OF_ANIMALS = "eggs?|cheese|milk|dairy|butter|honey|yogh?urt"
_BREAKS = (  # what is eaten, and the diets that it ends
    (_MEAT, ("vegetarian", "vegan", "veggie", "pescatarian", "pescetarian")),
    (_FISH, ("vegetarian", "vegan", "veggie")),
    (_OF_ANIMALS, ("vegan",)),
    ("everything|anything", ("vegetarian", "vegan", "veggie", "pescatarian", "pescetarian")),
    ("alcohol|wine|beer", ("teetotal", "teetotaler", "teetotaller")),
)
_HAS_DIET = (
    rf"{WHO} (?:am|is|are|have been|has been|went|have gone|has gone|turned|became|have become|has become) "
    rf"(?:an? )?(?:strict )?(?P<value>{DIET})$"
)
_EATS = (
    rf"{WHO} {AM}(?P<anew>(?:have |has )?(?:started (?:to )?|(?:gone |went |am |is )?back to ))?(?:eat|"
    rf"eats|eating|drink|drinks|"
    rf"drinking) "
    rf"(?P<value>(?:a bit of |some )?(?:{'|'.join(foods for foods, _ in _BREAKS)})"
    rf"(?:(?:,| and| or) (?:{'|'.join(foods for foods, _ in _BREAKS)}))*)$"
)


def _has_diet(match: re.Match[str]) -> Iterator[Relation]:
    yield from one_of(match["who"], "diet", match["value"])


def _eats(match: re.Match[str]) -> Iterator[Relation]:
    """Ends a diet only where it is said to be so now, or again: else both were told, and one is a slip."""
    of, is_new = whose(match["who"]), match["anew"] is not None
    for foods, diets in _BREAKS if of is not None else ():
        if re.search(rf"\b(?:{foods})\b", match["value"], _I):
            for diet in diets:
                yield Relation(
                    of or (), "diet", frozenset(content(diet)), over="negated", is_new=is_new, needs_new=True
                )


OF_DIETS: Wordings = (((_HAS_DIET,), _has_diet), ((_EATS,), _eats))
