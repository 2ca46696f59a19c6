"""Which of the things that somebody has one of a question asks for: "Where do I live?", "Who is my boss?".

What was told in other words answers it: "I moved to Bonn".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from agents.relations.amounts import AMOUNT, DAILY, amount_name, daily_name
from agents.relations.clauses import written_out
from agents.relations.comparison import relations, tells_to_have
from agents.relations.doses import dose_name
from agents.relations.groups import group_asked_for, tells_one
from agents.relations.habits import DIET, days_name
from agents.relations.loans import ASKS_OF_A_LOAN, holder_name
from agents.relations.parts import OFFICE, OWNER, PEOPLE, Relation, whose
from agents.relations.possessions import OWN, called_name, own_name
from agents.relations.things import EVENT, PERSON, SLOT, THING, event_name, slot_name, thing_name
from agents.values import content


class Asked(NamedTuple):
    """What is asked for, and of whom."""

    of: tuple[str, ...]
    names: tuple[str, ...]  # of relations; any of them answers
    says: tuple[str, ...] = ()  # stems that open what answers: "I play" for "What do I play?"
    group: str = ""  # all that is had of a group answers, where that is asked for: "What pets do I have?"


def asked(question: str) -> Asked | None:
    """What a question of one sentence asks for; None for most."""
    if len(question) > _LONGEST_READ:
        return None
    plain = _NOW.sub("", written_out(question))
    if group := group_asked_for(plain):
        return Asked((), (), group=group)
    for wording, names in _QUESTIONS:
        match = wording.fullmatch(plain)
        of = whose(match.groupdict().get("who")) if match else None
        if match and of is not None:
            says = _mirrored(plain) if names is _of_kind else ()
            return Asked(of, names(match) if callable(names) else names, says)
    says = _mirrored(plain)
    return Asked((), (), says) if says else None


def _mirrored(plain: str) -> tuple[str, ...]:
    """The stems that open what answers a question: "I play" for "What do I play?"."""
    mirrored = _MIRRORED.fullmatch(plain)
    if mirrored is None or not content(mirrored["rest"]):
        return ()
    return _stems(f"{mirrored['who']} {mirrored['rest']}")


def gives(statement: str, wanted: Asked) -> bool:
    """Whether a statement gives what is asked for, or says that it is so no more."""
    if wanted.group:
        return tells_one(statement, wanted.group)
    given = [one for one in relations(statement) if one.of == wanted.of]
    if any(one.name in wanted.names for one in given):
        return True
    kinds = (name.removeprefix(OWN) for name in wanted.names if name.startswith(OWN))
    if any(tells_to_have(statement, wanted.of, kind) for kind in kinds):
        return True
    if wanted.says and _says_more_than(wanted.says, statement):
        return True
    if OWN_NAME in wanted.names and _I_AM.match(statement):
        return True
    if "age" in wanted.names and any(map(_is_year_of_birth, given)):
        return True
    if wanted.of:
        return False  # "my boss Kim" names none of Ann's
    called = (name.removeprefix(NAME_OF) for name in wanted.names if name.startswith(NAME_OF))
    return any(_naming(role).search(statement) for role in called)


def _says_more_than(says: tuple[str, ...], statement: str) -> bool:
    """Whether a statement opens with these stems, and goes on; not what it denies or takes back."""
    said = _stems(written_out(statement)) if _OPENS_AS_ASKED.match(statement) else ()
    return len(said) > len(says) and said[: len(says)] == says and not _DENIES.search(statement)


def says_no_more(statement: str, asking: Sequence[Asked], *, of: str | None = None) -> bool:
    """Whether a statement says of something asked for that it holds no more: "I used to live in Ghent".

    of: an earlier statement, which must name what is over: "Marta and I broke up" says nothing of Anna.
    """
    over = [one for one in relations(statement) if one.over]
    if of is not None:
        named = set(content(of))
        over = [one for one in over if one.value <= named]
    return any(one.of == each.of and one.name in each.names for one in over for each in asking)


def _is_year_of_birth(given: Relation) -> bool:
    return given.name == "birthday" and any(map(_A_YEAR.fullmatch, given.value))


def _stems(text: str) -> tuple[str, ...]:
    return tuple(content(_IN_BETWEEN.sub(" ", text)))


_A_YEAR = re.compile(r"#[12]\d{3}")
_IN_BETWEEN = re.compile(
    r"\b(?:also|usually|always|only|often|just|really|now|still|both|mostly)\b", re.IGNORECASE
)
_OPENS_AS_ASKED = re.compile(r"(?:I|We|My|Our|(?-i:[A-ZÀ-Þ])[\w'-]+)\b", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:not|never|no longer|any ?more|stopped|quit)\b|n['’]t\b", re.IGNORECASE)
_MIRRORED = re.compile(
    r"(?:what|which)(?: (?!time|day|date|year|month|age|hour|kind|sort)[\w-]+){0,2}? (?:do|does|am|is|are|"
    r"can) "
    r"(?P<who>i|we|(?:my|our) [\w-]+|(?-i:[A-ZÀ-Þ])[\w'-]+) (?P<rest>(?!like\b$)[^?]+)",
    re.IGNORECASE,
)
NAME_OF = "name of "
OWN_NAME = "own name"
_I_AM = re.compile(  # and not "I'm German"
    r"(?:(?:hi|hello|hey)\W+(?:there\W+)?)?(?:I am|I['’]m|i['’]?m|this is) "
    r"(?![A-Z]\w+(?:ish|ese|[aei]an|man)\b)[A-Z]\w+(?: [A-Z]\w+)?(?=[.,!]|$| and\b)"
)


@lru_cache(maxsize=64)
def _naming(role: str) -> re.Pattern[str]:
    """How somebody names one of theirs in passing: "my daughter Giulia", "a dog called Birba"."""
    kind = re.escape(role.removesuffix("s"))  # "two cats, Mia and Tom" names a cat, and cats
    gone = _NO_MORE + ("|old" if _HELD.fullmatch(role) else "")
    return re.compile(
        rf"\b(?:(?:my|our)|{_HAVING})(?: (?!(?:{gone})\b)[\w-]+)? {kind}s?"
        r"(?:,|:|['’]s name is| is| are)?(?: called| named)? (?:(?:dr|mr|mrs|ms)\.? )?"
        rf"(?!{PEOPLE}|{OFFICE})(?-i:[A-ZÀ-Þ])\w+"
        + (rf"|\b(?:my|our) {kind} {_IN_SMALL_LETTERS}" if _RELATIVE.fullmatch(role) else ""),
        re.IGNORECASE,
    )


_RELATIVE = re.compile(
    r"brother|sister|son|daughter|uncle|aunt|cousin|nephew|niece|wife|husband|mother|father|mum|mom|dad|"
    r"grandmother|grandfather|grandson|granddaughter",
    re.IGNORECASE,
)
_IN_SMALL_LETTERS = (  # "my sister nell is a vet", and not "my sister never is on time"
    r"(?!(?:in|and|or|who|that|which|also|too|both|always|never|often|sometimes|once|soon|now|then|just|"
    r"still|"
    r"there|here|already|even|only|really|usually|finally|actually|recently|currently|probably|"
    r"apparently|sadly|"
    r"luckily|is|was|has|had|will|would|can|could|should|may|might|must|does|did|from|with|of|at|on|for|to|"
    r"says?|said|thinks?|loves?|likes?)\b)(?-i:[a-z]{3,}) "
    r"(?:is|has|lives|works|likes|loves|plays|studies|turned)\b"
)


_NO_MORE = "former|previous|prior|ex|late|first|last"
_HELD = re.compile(  # whom it calls old is one no more: "my old boss", and not "my old dog"
    r"boss|manager|supervisor|employer|doctor|gp|dentist|therapist|teacher|landlord|landlady|partner|"
    r"neighbou?r|flatmate|roommate|colleague|hairdresser",
    re.IGNORECASE,
)
_HAVING = (  # and not "Ines has a dog called Luna", nor "I know that Ines has one"
    r"(?:i|we)(?:['’]ve)? (?:(?-i:[a-z]+) ){0,3}?(?:an?|another|one|two|three|four|five|six)"
)
_LONGEST_READ = 200  # characters
_NOW = re.compile(
    r"\s+(?:now|currently|these days|nowadays|again|today|at the moment|then|please|once more)\b",
    re.IGNORECASE,
)
_WHO = (
    r"(?P<who>i|we|(?:my|our|the) (?:(?:best|older|younger|little|big|twin) )?[\w-]+(?: [\w-]+)?|"
    r"(?-i:[A-ZÀ-Þ])[\w'.-]*(?: (?-i:[A-ZÀ-Þ])[\w'.-]*){0,2})"
)
_LEAD = r"(?:(?:do you (?:know|remember)|tell me|remind me|can you tell me|and|so),? )?"
_BE = r"(?:am|is|are)"
_DO = rf"(?:do|does|{_BE})"
_TOWN = r"(?:what|which) (?:city|town|place|country|street)"
_NAME = r"(?:'s name| called| named)?"
_Names: TypeAlias = tuple[str, ...] | Callable[[re.Match[str]], tuple[str, ...]]
_ONE_OF = (  # and not what is asked of the talk itself
    r"(?P<kind>(?!(?:question|answer|message|session|word|sentence|thing|problem|idea|opinion|"
    r"turn)s?\b)(?-i:[a-z])[\w-]*(?: (?-i:[a-z])[\w-]*)?)"
)
_HAVING_ONE = (
    r"(?:still )?(?:have|has|own|drive|driving|ride|riding|use|using|keep|rent|wear|play|bank with|go "
    r"to|train at)"
)


def _of_kind(match: re.Match[str]) -> tuple[str, ...]:
    """The relations by which somebody tells what they have of a kind."""
    kind = match["kind"].lower()
    return own_name(kind), called_name(kind), f"{NAME_OF}{kind}", slot_name(kind), *_MOVED_ON.get(kind, ())


_MOVED_ON = {  # how what one moves about on is told of: "I drive a Skoda"
    **dict.fromkeys(("car", "van", "truck", "lorry"), ("drive",)),
    **dict.fromkeys(("bike", "bicycle", "motorbike", "motorcycle", "scooter", "horse"), ("ride",)),
}
_SPOUSE = ("spouse", *(f"{NAME_OF}{role}" for role in ("wife", "husband", "spouse")))
_WORDINGS: list[tuple[str, _Names]] = [
    (rf"where {_DO} {_WHO} (?:live|living|based|reside|residing)", ("home",)),
    (rf"where {_WHO} lives?", ("home",)),
    (rf"{_TOWN} {_DO} {_WHO} (?:live|living|based) in", ("home",)),
    (rf"(?:where|{_TOWN}) did {_WHO} move to", ("home",)),
    (rf"where {_DO} {_WHO} (?:work|working|employed)(?: in| at| for)?", ("workplace",)),
    (rf"where {_WHO} works?", ("workplace",)),
    (rf"(?:whom?|(?:what|which) company) {_DO} {_WHO} (?:work|working) (?:for|at)", ("workplace",)),
    (r"(?:who|what|where) is (?P<who>my|our) (?:employer|workplace)", ("workplace",)),
    (r"(?:what|where) is (?P<who>my) (?:job|work|profession|occupation|trade)", ("occupation", "workplace")),
    (rf"what {_DO} {_WHO} do(?: for (?:a living|work))?", ("occupation", "workplace")),
    (rf"what {_DO} {_WHO} (?:work|working) as", ("occupation",)),
    (rf"how (?:much|high|big) {_BE} {OWNER} (?P<slot>{AMOUNT})", lambda m: (amount_name(m["slot"]),)),
    (
        rf"(?:how much|what|which) (?P<slot>{AMOUNT}) (?:do|am|are) (?P<who>i|we) "
        r"(?:pay|paying|get|getting|earn)",
        lambda m: (amount_name(m["slot"]),),
    ),
    (
        rf"(?:how much|what) (?:do|am|are) (?:i|we) (?:pay|paying)(?: (?:in|for|as))? (?:(?:my|our|the) )?"
        rf"(?P<slot>{AMOUNT})",
        lambda m: (amount_name(m["slot"]),),
    ),
    (rf"(?:what|which) is {OWNER} (?P<slot>{AMOUNT})", lambda m: (amount_name(m["slot"]),)),
    (
        r"(?:how much|what) do (?P<who>i|we) (?:earn|make|get paid)",
        (amount_name("salary"), amount_name("pay")),
    ),
    (r"(?:how much|what) do (?P<who>i|we) weigh", (amount_name("weight"),)),
    (
        rf"(?:when|(?:at )?what time|how early|how late) {_DO} {_WHO} (?:usually |normally |always )?"
        rf"(?P<does>{DAILY})",
        lambda m: (daily_name(m["does"]),),
    ),
    (
        r"how (?:much|many mg of|many tablets of|many pills of) (?P<what>(?:vitamin )?[\w-]+) "
        r"(?:do|am|should) (?P<who>i) (?:take|taking|on)",
        lambda m: (dose_name(m["what"]),),
    ),
    (r"what is (?P<who>my) (?:dose|dosage) of (?P<what>[\w-]+)", lambda m: (dose_name(m["what"]),)),
    (r"what is (?P<who>my) (?P<what>[\w-]+) (?:dose|dosage)", lambda m: (dose_name(m["what"]),)),
    (rf"how old {_BE} {_WHO}", ("age",)),
    (r"what is (?P<who>my|our) age", ("age",)),
    (ASKS_OF_A_LOAN, lambda m: (holder_name(m["thing"]),)),
    (rf"who {_BE} {_WHO} married to", ("spouse",)),
    (rf"(?:who|what) is (?P<who>my) (?:wife|husband|spouse){_NAME}", _SPOUSE),
    (rf"{_BE} {_WHO} (?:married|single|engaged|divorced|widowed)", ("marriage", "spouse")),
    (r"when is (?P<who>my) birthday", ("birthday",)),
    (rf"when (?:was|were) {_WHO} born", ("birthday",)),
    (rf"where (?:is|are) (?:my|the|our) (?P<thing>{THING})", lambda m: (thing_name(m["thing"]),)),
    (
        rf"where did (?:i|we) (?:put|park|hide|leave|move) (?:my|the|our) (?P<thing>{THING})",
        lambda m: (thing_name(m["thing"]),),
    ),
    (r"(?:what is my (?:first |full )?name|what am i called|who am i)", ("name", "called", OWN_NAME)),
    (r"what is (?P<who>my|our) (?:home |street )?address", ("address", "home")),
    (
        rf"(?:what|who|which|when) (?:is|are) {OWNER} (?P<slot>{SLOT}|{PERSON}){_NAME}",
        lambda m: (slot_name(m["slot"]), f"{NAME_OF}{m['slot'].lower()}", called_name(m["slot"])),
    ),
    (
        rf"when (?:is|are|does|do) (?:my|the|our) (?P<thing>{EVENT})(?: leave| start| begin| take place| "
        rf"due)?",
        lambda m: (event_name(m["thing"]),),
    ),
    (
        r"when (?:is|are) (?P<thing>(?:the|my|our) [\w -]+?|(?-i:[A-ZÀ-Þ])[\w-]+) due",
        lambda m: (event_name(m["thing"]),),
    ),
    (
        r"who is (?:my|our) (?P<role>[\w-]+)",
        lambda m: (f"{NAME_OF}{m['role'].lower()}", called_name(m["role"])),
    ),
    (
        r"(?:what|who) (?:is|are) (?:my|our) (?P<role>[\w-]+)(?:'s? names?| called| named)",
        lambda m: (f"{NAME_OF}{m['role'].lower()}", called_name(m["role"])),
    ),
    (rf"am (?P<who>i) (?:still |now )?(?:an? )?{DIET}", ("diet",)),
    (rf"{_DO} {_WHO} (?:still )?(?:eat|drink) (?:meat|fish|alcohol)", ("diet",)),
    (r"what is (?P<who>my) diet", ("diet",)),
    (
        rf"(?:what|which)(?: (?:kind|sort|type|make|brand) of)? {_ONE_OF} (?:do|am|are) (?P<who>i|we) "
        rf"{_HAVING_ONE}"
        r"(?: at| with| to)?",
        _of_kind,
    ),
    (rf"(?:do|am|are) (?P<who>i|we) {_HAVING_ONE} (?:(?:an?|any) )?{_ONE_OF}", _of_kind),
    (rf"(?:what|which) is (?P<who>my|our) {_ONE_OF}", _of_kind),
    (rf"what (?:kind|sort|type|make|brand) of {_ONE_OF} is (?P<who>mine|ours)", _of_kind),
    (
        r"(?:when|(?:on )?(?:what|which) (?:week)?days?) (?:do|am|are|is) (?P<who>i|we) (?P<does>[\w' -]+)",
        lambda m: (days_name(m["does"]),),
    ),
    (
        r"(?:when|(?:on )?(?:what|which) (?:week)?days?) (?:is|are) (?P<who>my|our) (?P<does>[\w' -]+)",
        lambda m: (days_name(m["does"]), event_name(m["does"])),
    ),
]
_QUESTIONS = [(re.compile(_LEAD + wording, re.IGNORECASE), names) for wording, names in _WORDINGS]
