"""The wordings in which somebody says where they live, how old they are, whom they married.

    "I moved to Bonn" -> the user's home is Bonn

A clause comes here without times, contractions and contrasts; see `agents/relations/comparison.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.relations.parts import (
    AM,
    END,
    IS,
    NAMED,
    NEW,
    PEOPLE,
    VALUE,
    WHO,
    Read,
    Relation,
    Wordings,
    cut,
    one_of,
    whose,
)
from agents.relations.places import is_at_work, is_worked_with, place_kind
from agents.values import content, numbers

# Homes

_HOME = (
    rf"{WHO} {AM}(?:lives?|living|resides?|residing|based|settled(?: down)?) (?:in|at|on) {VALUE}",
    rf"{WHO} {AM}(?:moved|relocated|emigrated)(?: back| over| house| home| away)?(?: from (?P<left>.+?))? "
    rf"(?:to|into) {VALUE}",
    rf"(?P<who>my|our) {NEW}(?:home|house|flat|apartment|place) {IS}(?:in|at|on) {VALUE}",
    rf"(?P<who>i|we) {AM}moved(?: house| home| flats?| again)? ?[:,–-] ?(?P<value>\d+\w? .+|.+ \d+\w?)$",
)
HOME_CHANGED = (
    rf"{WHO} {AM}moved(?: house| home| flats?| out| in)? : (?:(?:i|we) (?:am|are|live) (?:in|at|on)|"
    rf"(?:my|our|the) (?:new )?(?:home )?address (?:now )?is(?: in| at)?) {VALUE}"
)
_HOME_LEFT = rf"{WHO} {AM}moved (?:away from|out of|out from) {VALUE}"


WAY_OF_LIFE, DWELLING = "way of life", "dwelling"  # in what somebody lives that is no place
_NO_PLACE = re.compile(  # in small letters: "I live in hope", "in Hope"
    r"(?:(?:complete|constant|daily|deep|great|perfect|perpetual|pure|real|relative|sheer|such|total|"
    r"utter) )?"
    r"(?:abundance|agony|anger|anxiety|awe|bliss|captivity|chaos|comfort|danger|darkness|debt|denial|doubt|"
    r"dread|"
    r"dreams?|exile|fear|freedom|grief|guilt|hardship|harmony|hiding|hope|ignorance|interesting times|"
    r"isolation|"
    r"luxury|misery|moderation|pain|peace|plenty|poverty|safety|secre(?:cy|t)|shame|silence|sin|solitude|"
    r"squalor|"
    r"style|terror|uncertainty|wonder)\b"
    r"|the (?:moment|now|here and now|past|present|future|dark|shadows?|clouds|spotlight|fast lane|real "
    r"world|"
    r"edge|go|run|dole|breadline|hope|\d{2,4}s|\w+ (?:age|century|era|past|lane))\b"
    r"|my (?:own )?(?:little )?(?:head|world|dreams?|bubble|shadow|past|savings|pension|salary|wages)\b"
    r"|an? (?:\w+ )?(?:dream|bubble|fantasy|world|state|hurry|mess|nightmare|fairy ?tale|lie|budget|pension|"
    r"shoestring|diet)\b"
    r"|(?:coffee|tea|pasta|rice|bread|water|eggs|noodles|toast|pizza|love|air|benefits|welfare|credit|"
    r"borrowed|risk|"
    r"war|ease|less|little|nothing)\b"
)
_WITHIN = re.compile(r"(?P<inner>.+?) in (?P<outer>[A-ZÀ-Þ].*)")


_MOVED = re.compile(r"\b(?:moved|relocated|based)\b", re.IGNORECASE)


def _home(match: re.Match[str]) -> Iterator[Relation]:
    place, left = cut(match["value"]), match.groupdict().get("left") or ""
    if is_worked_with(place) or is_worked_with(left):
        return
    if is_at_work(place) and _MOVED.search(match[0]):
        return
    if _NO_PLACE.match(place):
        yield from one_of(match["who"], WAY_OF_LIFE, place, needs_new=True)
        return
    if within := _WITHIN.match(place):  # "Rome in Italy", "a flat in Rome"
        place = within["outer"] if place_kind(within["inner"]) == "dwelling" else within["inner"]
    kind = place_kind(place)
    if kind == "dwelling":
        yield from one_of(match["who"], DWELLING, place, kind)
        return
    is_left = kind == "town" == place_kind(left)
    for home in one_of(match["who"], "home", place, kind):
        yield home._replace(instead_of=frozenset(content(left) if is_left else ()))
    if kind == "street" and numbers(place):
        yield from one_of(match["who"], "address", place, needs_new=True)


def _home_left(match: re.Match[str]) -> Iterator[Relation]:
    yield from one_of(match["who"], "home", cut(match["value"]), over="negated")


# Age, marriage, birth, what one is called

_AGE = (
    rf"{WHO} (?:(?:am|is|are) |(?:have |has )?(?:turned|became) )"
    r"(?P<value>[\w-]+)(?: years? old| years? of age)?$"
)
_OWN_AGE = rf"(?P<who>my|our) age {IS}{VALUE}"
_MARRIED = (
    rf"{WHO} {AM}married (?:to )?(?P<value>{NAMED}){END}",
    rf"(?P<who>my) (?:new )?(?:wife|husband|spouse)(?:'s name)? {IS}(?:called |named )?"
    rf"(?P<value>(?!{PEOPLE}){NAMED}){END}",
)
_MARITAL = rf"{WHO} {AM}(?P<value>single|married|divorced|widowed|engaged|separated)$"
_SEEING = (
    rf"{WHO} {AM}(?:seeing (?:an?|this) (?:\w+ )?(?:guy|man|boy|girl|woman|bloke|lad|someone)"
    rf"(?: called| named|,)?|going out with) (?P<value>{NAMED}){END}"
)
_HAVE_PARTED = rf"{AM}(?:divorced|separated|split up|broken up|broke up|an? divorce)"
_PARTNER = r"my (?P<role>wife|husband|girlfriend|boyfriend|partner)"
_BOTH = rf"(?:{_PARTNER}\b ?)?(?:(?P<one>{NAMED}) )?"
BOTH_PARTED = rf"{_BOTH}(?:and|:) i {_HAVE_PARTED}$"
_PARTED = (
    rf"(?:i|we|i and (?P<other>{NAMED})) "
    rf"{_HAVE_PARTED}(?: (?:from|with) (?P<value>{NAMED}))?$"
)
_WAS_LEFT = rf"{_BOTH}{AM}(?:left|dumped|divorced) me$"
_BORN = (rf"{WHO} born on {VALUE}", rf"(?P<who>my) birthday {IS}(?:on |in )?{VALUE}")
_CALLED = rf"(?P<who>)(?:you (?:can|may|should) )?(?:please )?call me (?:by )?{VALUE}"


def _age(match: re.Match[str]) -> Iterator[Relation]:
    counted = numbers(match["value"])
    if len(counted) == 1 and len(counted[0].items) == 1 and re.fullmatch(r"#\d{1,3}", counted[0].items[0]):
        yield from one_of(match["who"], "age", match["value"])


def _reads(name: str, kind: str = "") -> Read:
    def read(match: re.Match[str]) -> Iterator[Relation]:
        yield from one_of(match["who"], name, cut(match["value"]), kind)

    return read


def _marital(match: re.Match[str]) -> Iterator[Relation]:
    yield from one_of(match["who"], "marriage", match["value"])
    of = whose(match["who"])
    if of is not None and match["value"].lower() in ("divorced", "widowed", "single"):
        yield Relation(of, "spouse", frozenset(), over="negated")


_ALL_ROLES = (
    "spouse",
    "partner",
    "girlfriend",
    "boyfriend",
    *content("dating fiance fiancé fiancee fiancée"),
)
_OF_ROLES = {
    "wife": ("spouse",),
    "husband": ("spouse",),
    "girlfriend": ("girlfriend", "partner", *content("dating")),
    "boyfriend": ("boyfriend", "partner", *content("dating")),
}  # who is left, and no other: of a partner all of them are


def _parted(match: re.Match[str]) -> Iterator[Relation]:
    groups = match.groupdict()
    whom = frozenset(content(groups.get("one") or groups.get("other") or groups.get("value") or ""))
    role = (groups.get("role") or "").lower()
    for name in _OF_ROLES.get(role, _ALL_ROLES):
        yield Relation((), name, whom, over="negated")


def _seeing(match: re.Match[str]) -> Iterator[Relation]:
    yield from one_of(match["who"], "partner", match["value"], needs_new=True)


def _born(match: re.Match[str]) -> Iterator[Relation]:
    if numbers(match["value"]):
        yield from one_of(match["who"], "birthday", cut(match["value"]))


OF_PERSONS: Wordings = (
    ((HOME_CHANGED, *_HOME), _home),
    ((_HOME_LEFT,), _home_left),
    ((_AGE, _OWN_AGE), _age),
    (_MARRIED, _reads("spouse")),
    ((_MARITAL,), _marital),
    ((BOTH_PARTED, _PARTED, _WAS_LEFT), _parted),
    ((_SEEING,), _seeing),
    (_BORN, _born),
    ((_CALLED,), _reads("called")),
)
