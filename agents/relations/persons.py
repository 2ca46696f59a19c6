"""The wordings in which somebody says where they live and work, how old they are, whom they married.

    "I am working at the library" -> the user's workplace is the library

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
    says_how_it_is,
    whose,
)
from agents.relations.places import place_kind
from agents.values import content, numbers

# Homes

_HOME = (
    rf"{WHO} {AM}(?:lives?|living|resides?|residing|based|settled(?: down)?) (?:in|at|on) {VALUE}",
    rf"{WHO} {AM}(?:moved|relocated|emigrated)(?: back| over| house| home| away)?(?: from .+?)? (?:to|"
    rf"into) "
    rf"{VALUE}",
    rf"(?P<who>my|our) {NEW}(?:home|house|flat|apartment|place) {IS}(?:in|at|on) {VALUE}",
    rf"(?P<who>i|we) {AM}moved(?: house| home| flats?| again)? ?[:,–-] ?(?P<value>\d+\w? .+|.+ \d+\w?)$",
)
HOME_CHANGED = (
    rf"{WHO} {AM}moved(?: house| home| flats?| out| in)? : (?:(?:i|we) (?:am|are|live) (?:in|at|on)|"
    rf"(?:my|our|the) (?:new )?(?:home )?address (?:now )?is(?: in| at)?) {VALUE}"
)
_HOME_LEFT = rf"{WHO} {AM}moved (?:away from|out of|out from) {VALUE}"


_NO_HOME = re.compile(  # what one works with, or in: "we moved to Slack", "I moved to Team Blue"
    r"(?:Android|AWS|Azure|Chrome|Debian|Discord|Docker|Emacs|Excel|Firefox|GitHub|GitLab|Gmail|iOS|iPhone|Java|"
    r"JavaScript|Kotlin|Kubernetes|Linux|Mac|macOS|MySQL|Netflix|Notion|Obsidian|Outlook|Postgres|PostgreSQL|"
    r"Python|Rust|Safari|Signal|Slack|Spotify|SQLite|Teams|Telegram|TypeScript|Ubuntu|Vim|VS Code|WhatsApp|"
    r"Windows|Zoom)(?: [\d.]+)?$|(?:Team|Chapter|Plan|Unit|Phase|Level|Version|Python|Windows) ",
)


def _home(match: re.Match[str]) -> Iterator[Relation]:
    place = cut(match["value"])
    if _NO_HOME.match(place):
        return
    if inner := re.match(r"(.+?) in (?=[A-Z])", place):  # "Rome in Italy", "a flat in Rome"
        place = inner[1]
    kind = place_kind(place)
    yield from one_of(match["who"], "home", place, kind)
    if kind == "street" and numbers(place):
        yield from one_of(match["who"], "address", place, needs_new=True)


def _home_left(match: re.Match[str]) -> Iterator[Relation]:
    yield from one_of(match["who"], "home", cut(match["value"]), over="negated")


# Work

_JOB = r"(?:job|position|post|role|work)"
_WORK = (
    rf"{WHO} {AM}(?:works?|working|employed) (?P<how>at|for|in|as|by) {VALUE}",
    rf"{WHO} (?:{AM}|(?:took|found|started|accepted|landed|began)(?: on| up)? )"
    rf"(?:(?:an?|my|the) )?(?:new |different )*(?:{_JOB}|working) (?P<how>at|with|for|in|as) {VALUE}",
    rf"(?P<who>my|our) {NEW}(?:{_JOB}|workplace) {IS}(?P<how>at|with|in) {VALUE}",
    rf"(?P<who>my) {NEW}employer {IS}(?P<how>){VALUE}",
    rf"{WHO} (?:am|is) an? (?P<trade>[\w -]+?) (?P<how>at|for|with) {VALUE}",
    rf"{WHO} {AM}(?:left|quit) .+? to (?:work|start) (?P<how>at|for|as) {VALUE}",
)
JOB_CHANGED = (
    rf"{WHO} {AM}(?:(?:changed|switched|moved|swapped) (?:my )?(?:jobs?|work|employers?|workplaces?|"
    rf"companies)"
    rf"|an? new job)(?: from .+?)?(?: (?P<how>to) | : (?:i am|we are) (?P<there>at|with|in) ){VALUE}"
)
_WORK_LEFT = (
    rf"{WHO} {AM}(?:(?:left|quit|lost|resigned from|gave up|retired from|fired from|laid off from) "
    rf"(?:my|the|his|her) (?:old )?{_JOB}(?: (?:at|with|in|as|for) (?P<value>.+))?"
    r"|(?:retired|resigned|fired|laid off)(?: from (?P<place>.+))?)$"
)
_TRADE = (
    rf"(?P<who>my) {NEW}(?:job|profession|occupation|trade) {IS}(?:being )?"
    rf"(?!(?:to|at|in|with|on|not)\b){VALUE}"
)
_IS_A_TRADE = (
    rf"{WHO} (?:retrained (?:as|and (?:is|works as)) |{AM}(?:become |became )?|became )an? "
    r"(?P<value>(?:[\w-]+ )?(?:accountant|actor|actress|architect|artist|baker|barber|builder|butcher|"
    r"carpenter|"
    r"chef|cleaner|clerk|cook|dentist|doctor|driver|economist|editor|electrician|engineer|farmer|"
    r"firefighter|fisherman|gardener|hairdresser|historian|janitor|joiner|journalist|judge|lawyer|lecturer|"
    r"librarian|mechanic|midwife|musician|nurse|optician|painter|paramedic|pharmacist|photographer|physicist|"
    r"pilot|plumber|policeman|postman|professor|programmer|psychologist|roofer|sailor|scientist|secretary|"
    r"shepherd|soldier|surgeon|tailor|teacher|technician|translator|vet|waiter|waitress|welder|writer))$"
)
_NO_WORKPLACE = re.compile(
    r"(?:nights?|weekends?|home|day|dawn|once|fun|free|life|money|a living|myself|shifts?|risk|stake|"
    r"the moment|least|most|first|last|present|peace|full|half|teams?|pairs?|silence|a (?:hurry|team)|"
    r"an? open)\b|.*\d",
    re.IGNORECASE,
)
_HOW_WELL = re.compile(
    r"(?:better|worse|best|worst|poor|lousy|lazy|keen|proud|fast|slow|quick|real|regular|passionate|avid|happy|"
    r"decent|mean|dangerous|hobby|home|amateur|sunday|clumsy|bold|brave|fussy|picky|messy|tidy)\b",
    re.IGNORECASE,
)
_NO_TRADE = re.compile(
    r"\b(?:member|regular|guest|customer|patient|student|fan|visitor|volunteer|sucker|bit|lot|little|"
    r"match)\b",
    re.IGNORECASE,
)
_OPENS_A_PLACE = re.compile(r"(?:the|an?|my|our) |(?-i:[A-Z])", re.IGNORECASE)


def _work(match: re.Match[str]) -> Iterator[Relation]:
    groups = match.groupdict()
    how, who = (groups.get("how") or "").lower(), match["who"]
    value, _, trade = match["value"].partition(" as ")
    if _NO_TRADE.search(groups.get("trade") or ""):
        return
    trade = trade or groups.get("trade") or ""
    value = cut(value) if how != "as" else re.split(r" (?:at|in|for) ", cut(value))[0]
    if trade:
        yield from one_of(who, "occupation", cut(trade))
    if how == "as" or (how == "to" and not _OPENS_A_PLACE.match(value)):
        yield from one_of(who, "occupation", value)
        place = cut(match["value"].partition(" at ")[2])
        if how == "as" and _OPENS_A_PLACE.match(place) and not _NO_WORKPLACE.match(place):
            yield from _workplace(who, "at", place)
    elif value and not _NO_WORKPLACE.match(value):
        yield from _workplace(who, how, value)


def _workplace(who: str, how: str, value: str) -> Iterator[Relation]:
    is_named = value[0].isupper() and not value.isupper()
    if how == "in" and is_named:
        yield from one_of(who, "town of work", value, place_kind(value))
    elif how == "in" and not re.match(r"(?:the|an?|my|our|his|her)\b", value, re.IGNORECASE):
        yield from one_of(who, "field of work", value)
    elif re.match(r"an?\b", value, re.IGNORECASE):
        yield from one_of(
            who, "workplace", value, "setting" if how == "in" else "sort", needs_new=how == "in"
        )
    else:
        yield from one_of(who, "workplace", value, "place")


def _work_left(match: re.Match[str]) -> Iterator[Relation]:
    of, place = whose(match["who"]), cut(match["value"] or match["place"] or "")
    if of is not None:
        for name in ("workplace", "occupation"):
            yield Relation(of, name, frozenset(content(place)), over="negated")


def _is_a_trade(match: re.Match[str]) -> Iterator[Relation]:
    if says_how_it_is(match["value"]) or _HOW_WELL.match(match["value"]):  # "a nervous driver"
        return
    is_new = re.search(r" (?:retrained|bec[ao]me) ", match[0], re.IGNORECASE) is not None
    yield from one_of(match["who"], "occupation", match["value"], is_new=is_new, needs_new=True)


def _trade(match: re.Match[str]) -> Iterator[Relation]:
    if not says_how_it_is(match["value"]):
        yield from one_of(match["who"], "occupation", cut(match["value"]))


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
_PARTED = (
    rf"(?:i|we|{NAMED} and i|i and {NAMED}|my (?:wife|husband) and i) {AM}"
    rf"(?:divorced|separated|split up|broken up|broke up)(?: (?:from|with) (?P<value>{NAMED}))?$"
)
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


def _parted(match: re.Match[str]) -> Iterator[Relation]:
    for name in ("spouse", "partner", "girlfriend", "boyfriend"):
        yield Relation((), name, frozenset(content(match["value"] or "")), over="negated")


def _born(match: re.Match[str]) -> Iterator[Relation]:
    if numbers(match["value"]):
        yield from one_of(match["who"], "birthday", cut(match["value"]))


OF_PERSONS: Wordings = (
    ((HOME_CHANGED, *_HOME), _home),
    ((_HOME_LEFT,), _home_left),
    ((JOB_CHANGED, *_WORK), _work),
    ((_WORK_LEFT,), _work_left),
    ((_TRADE,), _trade),
    ((_IS_A_TRADE,), _is_a_trade),
    ((_AGE, _OWN_AGE), _age),
    (_MARRIED, _reads("spouse")),
    ((_MARITAL,), _marital),
    ((_PARTED,), _parted),
    (_BORN, _born),
    ((_CALLED,), _reads("called")),
)
