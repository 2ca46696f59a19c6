"""The wordings in which somebody says that a job is left, or that one of theirs died.

    "I left Acme for Beta"     of who said to work at Acme, that is over
    "Sofie passed away"        of who said that Sofie is their sister, that is over
    "My bird Tweety died"      of who said that Tweety is their pet, that is over
    "Tweety flew away"         so it is of an animal

Nobody is known by a name alone to be a firm or a sister: only what was told before says so. What may be for
a day ("I left Acme early") ends nothing. A sentence comes here without times and contractions, but for
`work_left`, which looks at the times; see `agents/relations/comparison.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from agents.relations.parts import AM, ANIMAL, NAMED, Relation, whose
from agents.relations.places import place_kind
from agents.relations.possessions import called_name, own_name
from agents.values import content

_I = re.IGNORECASE
_LONGEST_READ = 300  # characters

# A job that is left


class WorkLeft(NamedTuple):
    """Whom somebody works for no more, by name."""

    of: tuple[str, ...]  # who: stems; none for the user
    gone: frozenset[str]  # stems
    come: frozenset[str]  # stems of who they work for instead; none where nobody is named


_WHO = rf"(?P<who>i|we|(?:my|our) [\w-]+(?: (?-i:[A-ZÀ-Þ])[\w-]+)?|{NAMED})"
_FOR_GOOD = (
    r"(?: for good| after (?:[\w-]+ ){0,3}(?:months?|years?|decades?)\b.*| because .+| due to .+|[,;:] .+)"
)
_LEFT = re.compile(
    rf"{_WHO} {AM}(?:left|quit) (?P<old>{NAMED})"
    rf"(?: (?:for|to join|to start at|to work (?:at|for)) (?P<new>{NAMED}))?{_FOR_GOOD}?$",
    _I,
)
_FOR_TODAY = re.compile(
    r"\b(?:early|late|later|today|tonight|this (?:morning|afternoon|evening|noon)|at (?:\d|noon|midnight|one|"
    r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|quarter)|hours? ago|minutes? ago|"
    r"for (?:lunch|dinner|the day|today)|to (?:go home|catch|pick|fetch|buy|get)|"
    r"(?:because|due) .*\b(?:ill|sick|tired|\w*ache|pain|fever|flu|migraine|cold|appointment|meeting|"
    r"doctor|dentist|vet|rain\w*|snow\w*|storm|weather|traffic|train|bus|strike|alarm|fire|power|"
    r"forgot\w*))\b",
    _I,
)
_OF_A_TOWN = frozenset(  # "I work at Ghent University", "I left Ghent"
    content(
        "university college school hospital clinic library museum zoo airport station council court office "
        "city town municipality"
    )
)


def may_be_for_today(text: str) -> bool:
    """Whether who left may be back tomorrow: "I left the company early"."""
    return _FOR_TODAY.search(text) is not None


def work_left(text: str, plain: str | None = None) -> WorkLeft | None:
    """Whom a sentence says to be left, if that is an employer; None for most.

    plain: the sentence without times and contractions.
    """
    if len(text) > _LONGEST_READ or may_be_for_today(text):
        return None
    found = _LEFT.match(text if plain is None else plain)
    of = whose(found["who"]) if found else None
    if found is None or of is None or place_kind(found["new"] or "") in ("continent", "country", "state"):
        return None
    return WorkLeft(of, frozenset(content(found["old"])), frozenset(content(found["new"] or "")))


def is_left(known: Relation, left: WorkLeft) -> bool:
    """Whether this is the work that is left."""
    beside = known.value - left.gone
    is_it = known.name == "workplace" and known.of == left.of and not known.over
    return is_it and bool(left.gone) and left.gone <= known.value and beside.isdisjoint(_OF_A_TOWN)


# Somebody who died

PERSON_ROLE = (
    r"(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|father|mum|mom|dad|brother|"
    r"sister|son|daughter|uncle|aunt|cousin|nephew|niece|grandson|granddaughter|grandmother|grandfather|"
    r"grandma|grandpa|child|baby|friend|best friend|colleague|neighbou?r|teacher|boss|doctor|dentist|"
    r"landlord|landlady|flatmate|roommate)"
)
_ADJECTIVES = (
    r"(?:(?:older|younger|elder|eldest|oldest|youngest|little|big|twin|dear|old|beloved|poor|lovely|late) )*"
)
_DIED = (
    r"(?:(?:has|have|just|sadly|suddenly|unexpectedly|peacefully) )*(?:died|passed away|"
    r"is dead(?! on (?:\w+ )?feet| in the water)|is no more(?=$)|(?:was|been|got) put (?:down|to sleep)|"
    r"was killed|was run over|drowned(?! in (?:\w+ )?(?:\w*work|e?mails?|debts?|tears|sorrow|meetings|tasks|"
    r"orders|laundry)\b))"
    r"(?! (?:of|from|with) (?:\w+ )?(?:laugh\w*|shame|embarrassment|boredom|envy)\b)"
    r"(?! (?:\w+ )*?in (?:(?:the|my|our|his|her|an?|that) )?(?:\w+ )?"
    r"(?:dreams?|films?|movies?|games?|books?|series|novels?|story|stories|plays?|shows?|episodes?|"
    r"chapter|season)\b)"
    r"(?:$| (?:of|from|in|at|on|after|last|this|when|while|aged|peacefully|suddenly|unexpectedly|because|"
    r"and)\b)"
)
_ONE = re.compile(
    rf"(?:(?P<who>my|our|the) {_ADJECTIVES}(?:(?P<animal>{ANIMAL})|(?P<role>{PERSON_ROLE}))"
    rf"(?:,? (?P<named>{NAMED}),?)?|(?P<name>{NAMED})) {_DIED}",
    _I,
)
_WE_LOST = re.compile(
    rf"(?:i|we) {AM}(?:(?:just|sadly|recently) )*(?:had to put|put|lost) "
    rf"(?:(?P<who>my|our) {_ADJECTIVES}(?:(?P<animal>{ANIMAL})|(?P<role>{PERSON_ROLE})),? )?"
    rf"(?P<name>{NAMED})(?P<how> down| to sleep)?(?: to (?-i:[a-z]).*| after .+)?$",
    _I,
)
_AWAY = (
    r" (?:(?:has|have|just|sadly) )*(?:ran|run|flew|flown) away"
    r"(?: (?:last|in|on|this|when|while|because|and)\b.*)?$"
)
_RAN_AWAY = re.compile(  # an animal; of a child it is no end
    rf"(?:(?P<who>my|our|the) {_ADJECTIVES}(?P<animal>{ANIMAL})(?:,? (?P<named>{NAMED}),?)?|"
    rf"(?P<name>{NAMED})){_AWAY}",
    _I,
)
_TELLS_OF_DEATH = re.compile(
    r"\b(?:died|passed away|is dead|no more|put|killed|run over|drowned|lost|(?:ran|run|flew|flown) "
    r"away)\b",
    _I,
)
_CAME_BACK = re.compile(r"\b(?:found|came (?:back|home)|returned|again)\b", _I)


def may_tell_death(text: str) -> bool:
    """Whether a text has a word of those that tell a death: of most texts none can."""
    return _TELLS_OF_DEATH.search(text) is not None


class Death(NamedTuple):
    """Who died, as a sentence names them."""

    name: frozenset[str]  # stems; none where only said what they are
    kind: str  # stem of what they are: "sister", "dog"; empty where only a name is told
    is_animal: bool  # or none but an animal can be meant: "We put Rex to sleep"


def death_of(plain: str) -> Death | None:
    """Of whom a plain sentence says that they died; None for most."""
    if len(plain) > _LONGEST_READ or not may_tell_death(plain):
        return None
    lost = _WE_LOST.match(plain)
    if lost is not None and (re.search(r"\bput\b", plain, _I) is None) == (lost["how"] is not None):
        return None  # "we put Rex in the car", "we lost Rex down"
    if lost is not None and lost["how"] and lost["role"]:
        return None  # "I put my daughter Emma to sleep"
    ran = None if _CAME_BACK.search(plain) else _RAN_AWAY.match(plain)
    found = lost or _ONE.match(plain) or ran
    if found is None or ((found["who"] or "").lower() == "the" and found.groupdict().get("role")):
        return None
    kind = content(found["animal"] or found.groupdict().get("role") or "")[-1:]
    name = frozenset(content(found.groupdict().get("named") or found["name"] or ""))
    return Death(
        name, " ".join(kind), found["animal"] is not None or ran is found or (lost is not None and not kind)
    )


_KIND = r"(?P<kind>(?-i:[a-z])[\w-]*(?: (?-i:[a-z])[\w-]*)?)"
_CALLS_ONE = [
    re.compile(wording, _I)
    for wording in (
        rf"(?:my|our) {_KIND}(?:'s name)? (?:is|are) (?:now )?(?:called |named )?(?P<name>{NAMED})$",
        rf"(?P<name>{NAMED}) is (?:my|our) {_KIND}$",
        rf"(?:i|we) {AM}(?:have|own|keep|adopted|bought|got) (?:an?|one) {_KIND}(?:,| called| named) "
        rf"(?P<name>{NAMED})$",
        rf"(?:my|our) {_KIND},? (?P<name>{NAMED}),? {_DIED}",
        rf"(?:my|our) {_KIND} (?:is|was) an? (?:(?-i:[a-z])[\w-]* ){{1,4}}(?:called|named) "
        rf"(?P<name>{NAMED})$",
    )
]
_LIFELESS = re.compile(  # what dies and is mended, and what outlives whom it is called after
    r"\b(?:favou?rite|phone|telephone|mobile|laptop|computer|pc|server|battery|car|van|truck|bike|bicycle|"
    r"engine|printer|router|tablet|watch|robot|hoover|mower|boat|ship|band|team|firm|company|street|town|"
    r"city|village|hero|idol|model|character|avatar|password|code)\b",
    _I,
)
_ANIMALS = frozenset(content(ANIMAL.replace("|", " ").strip("(?:)")))


def is_of_the_dead(plain: str, death: Death) -> bool:
    """Whether a plain sentence is there to say who or what somebody is who has died since."""
    found = next((one for each in _CALLS_ONE if (one := each.match(plain))), None)
    if found is None or _LIFELESS.search(found["kind"]):
        return False
    kind, name = content(found["kind"])[-1:], set(content(found["name"]))
    if not death.name:
        return kind == [death.kind]
    return _may_be_it(kind, death) and death.name <= name


def _may_be_it(kind: Sequence[str], death: Death) -> bool:
    """Whether one of this kind can be meant by what a sentence says to have died."""
    if death.is_animal and {*kind} <= _ANIMALS:
        return True
    return kind == [death.kind] or not (death.kind or death.is_animal)


_IS_SO_NOW = re.compile(
    rf"(?:my|our) {_KIND},? (?P<name>{NAMED}),? (?:is|lives|works|weighs|studies|goes)\b(?! dead\b)", _I
)


def is_said_of_the_dead(plain: str, death: Death) -> bool:
    """Whether a plain sentence says how somebody is who has died since, and names them: "my dog Rex is 4"."""
    found = _IS_SO_NOW.match(plain) if death.name else None
    if found is None or _LIFELESS.search(found["kind"]):
        return False
    return _may_be_it(content(found["kind"])[-1:], death) and death.name <= set(content(found["name"]))


_SPOUSES = re.compile(r"wife|husband|spouse", _I)
_PARTNERS = re.compile(r"girlfriend|boyfriend|partner|fianc", _I)
_HAS_DIED = re.compile(
    rf"(?:my|our) {_ADJECTIVES}(?P<kind>{ANIMAL}|{PERSON_ROLE})(?:,? (?P<name>{NAMED}),?)? {_DIED}", _I
)
_MINE_RAN_AWAY = re.compile(
    rf"(?:my|our) {_ADJECTIVES}(?P<kind>{ANIMAL})(?:,? (?P<name>{NAMED}),?)?{_AWAY}", _I
)


def of_death(plain: str) -> list[Relation]:
    """What a plain sentence ends that tells of the death of one of the user's; nothing for most."""
    found = _HAS_DIED.match(plain) or (None if _CAME_BACK.search(plain) else _MINE_RAN_AWAY.match(plain))
    if found is None:
        return []
    name, kind = frozenset(content(found["name"] or "")), found["kind"].lower()
    names = [own_name(kind), called_name(kind), " ".join(content(kind))]
    if _SPOUSES.match(kind):
        names += ["spouse", "marriage"]
    elif _PARTNERS.match(kind):
        names += ["partner"]
    return [
        Relation((), each, frozenset() if each == "marriage" else name, over="negated")
        for each in dict.fromkeys(names)
    ]
