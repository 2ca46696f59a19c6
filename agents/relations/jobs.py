"""The wordings in which somebody says where they work and as what, and that they do no more.

    "I am working at the library" -> the user's workplace is the library
    "I was laid off"              -> it is over

A clause comes here without times, contractions and contrasts; see `agents/relations/comparison.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.relations.parts import (
    AM,
    IS,
    NAMED,
    NEW,
    VALUE,
    WHO,
    Relation,
    Wordings,
    cut,
    one_of,
    says_how_it_is,
    whose,
)
from agents.relations.places import place_kind
from agents.values import content

_JOB = r"(?:job|position|post|role|work)"
_WHEN = r"(?:(?:nights|days|shifts|part[- ]time|full[- ]time|remotely|freelance|mostly|mainly) )?"
_WORK = (
    rf"{WHO} {AM}(?:works?|working|employed) {_WHEN}(?P<how>at|for|in|as|by) {VALUE}",
    rf"{WHO} (?:{AM}|(?:took|found|started|accepted|landed|began)(?: on| up)? )"
    rf"(?:(?:an?|my|the) )?(?:new |different )*(?:{_JOB}|working) (?P<how>at|with|for|in|as) {VALUE}",
    rf"(?P<who>i|my [\w-]+|{NAMED}) {AM}(?:started|begun|began) (?P<how>at) "
    r"(?!.*\b(?:gym|uni|university|college|school|course|club|bottom|top|beginning|end|start|back|front|age|"
    r"door|edge)\b)(?P<value>(?:(?:the|my|our) |(?=(?-i:[A-ZÀ-Þ]))).+)$",
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
    rf"{WHO} {AM}(?:(?:left|quit|lost|resigned from|gave up|retired from|fired from) "
    rf"(?:my|our|the|his|her) (?:old )?{_JOB}s?(?: (?:at|with|in|as|for) (?P<value>.+))?"
    r"|(?:left|quit) (?:the|my|our) (?:company|firm|business|employer)"
    r"|(?:retired|resigned)(?: from (?P<place>.+))?)$"
)
_LEFT_FOR_ANOTHER = (  # which begins in a while, so that it is not yet where they work
    rf"{WHO} {AM}(?:left|quit|resigned from|gave up) (?:my|our|his|her) (?:old )?{_JOB} "
    r"(?:at|with|in|for) (?P<value>(?:(?! and ).)+),? and (?:(?:i|we|he|she) )?(?:will |am |shall )?"
    r"(?:start|starting|begin|beginning|join|joining)\b(?P<place>).*$"
)
_LAID_OFF = (  # what one is by trade, one stays
    rf"{WHO} {AM}(?:fired|laid off)(?: from (?:my|our|the|his|her) {_JOB})?"
    r"(?: (?:from|by|at) (?P<value>.+))?$",
    rf"{WHO} (?:am|is|are) (?P<value>)(?:unemployed|jobless|out of (?:work|a job)|between jobs)$",
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
    r"shepherd|soldier|surgeon|tailor|teacher|technician|translator|vet|waiter|waitress|welder|writer|physiotherapist|illustrator|"
    r"analyst|designer|developer|consultant|porter|barista|therapist|surveyor|solicitor|receptionist|"
    r"caretaker|plasterer|(?:social|care) worker|(?:film|dress|watch)maker|[a-z]+(?:ologist|ographer))"
    r"(?: (?:from (?-i:[A-ZÀ-Þ])[\w' -]+|by (?:trade|training|profession)))?)$"
)
_NO_WORKPLACE = re.compile(
    r"(?:nights?|weekends?|home|day|dawn|once|fun|free|life|money|a living|myself|shifts?|risk|stake|"
    r"the moment|least|most|first|last|present|peace|full|half|teams?|pairs?|silence|a (?:hurry|team)|"
    r"an? open)\b|.*\d",
    re.IGNORECASE,
)
_HOW_WELL = re.compile(
    r"(?:better|worse|best|worst|poor|lousy|lazy|keen|proud|fast|slow|quick|real|regular|passionate|avid|"
    r"happy|"
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


def _laid_off(match: re.Match[str]) -> Iterator[Relation]:
    of = whose(match["who"])
    if of is not None:
        yield Relation(of, "workplace", frozenset(content(cut(match["value"] or ""))), over="negated")


def _is_a_trade(match: re.Match[str]) -> Iterator[Relation]:
    if says_how_it_is(match["value"]) or _HOW_WELL.match(match["value"]):  # "a nervous driver"
        return
    is_new = re.search(r" (?:retrained|bec[ao]me) ", match[0], re.IGNORECASE) is not None
    value = re.split(r" (?:from|by) ", match["value"])[0]
    yield from one_of(match["who"], "occupation", value, is_new=is_new, needs_new=True)


def _trade(match: re.Match[str]) -> Iterator[Relation]:
    if not says_how_it_is(match["value"]):
        yield from one_of(match["who"], "occupation", cut(match["value"]))


OF_JOBS: Wordings = (
    ((JOB_CHANGED, *_WORK), _work),
    ((_LEFT_FOR_ANOTHER, _WORK_LEFT), _work_left),
    (_LAID_OFF, _laid_off),
    ((_TRADE,), _trade),
    ((_IS_A_TRADE,), _is_a_trade),
)
