"""The wordings in which somebody tells how much of a medicine they take.

    "I take 20 mg of lisinopril every morning"          -> the user's dose of lisinopril is 20 mg, mornings
    "The doctor put me on 40 mg of lisinopril"          -> it is 40 mg now
    "I now take 40 mg"                                  -> of the one medicine that was told of
    "Vitamin D: 2000 units"                             -> a note of it: the dose of vitamin D is 2000 units
    "I no longer take lisinopril"                       -> whatever the dose was, it is over

Of one medicine there is one dose at a time. One in the morning and one in the evening may both hold, unless
the later one is said to be new. A sentence comes here without times and contractions; see
`agents/relations/comparison.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agents.relations.groups import MEDICINES
from agents.relations.parts import AM, Relation
from agents.values import content

_I = re.IGNORECASE
DOSE_OF = "dose of "  # how the names of these relations begin
TELLING_OF_A_DOSE = frozenset(  # stems that say nothing beside it
    content(
        "take taking taken took using my our doctor gp has have put switched moved got prescribed started up "
        "down no longer not do anymore any more stopped quit finished came come off"
    )
)
_DOSE = (
    r"(?P<value>\d+(?:[.,]\d+)? ?(?:mg|milligrams?|mcg|µg|micrograms?|g|grams?|ml|units|drops|tablets?|"
    r"pills?|capsules?|puffs?))"
)
_NAMED = (
    r"(?P<what>vitamin [a-k]\d*|"
    r"(?!(?:of|my|every|each|in|at|a|per|once|twice|and|or|for|the|it|this|that|them)\b)[\w-]{3,})"
)
_MEDICINE = rf"(?:of )?(?:my )?{_NAMED}"
_WHEN = (
    r"(?P<when>(?: (?:every|each|in the|at|per|a|once|twice|three times|daily|day|morning|evening|night|noon|"
    r"lunchtime|bedtime|mornings|evenings|nights))*)"
)
_HAS_PUT = r"(?:(?:have|has) )?(?:put|switched|moved|got|prescribed|started)"
_TAKES = re.compile(rf"(?:i|we) {AM}(?:take|taking|on|use|using) {_DOSE} {_MEDICINE}{_WHEN}(?: again)?$", _I)
_IS_PUT_ON = re.compile(
    rf"(?:(?:my|the|our) [\w-]+|(?:dr|doctor)\.? [\w-]+|they|he|she) {_HAS_PUT} me "
    rf"(?:on |up to |down to |to )?{_DOSE} {_MEDICINE}{_WHEN}$",
    _I,
)
_TAKES_BEHIND_IT = re.compile(rf"(?:i|we) {AM}(?:take|taking|on|use|using) {_NAMED} {_DOSE}{_WHEN}$", _I)
_NOTED = re.compile(rf"(?P<what>{MEDICINES})(?: ?:)? {_DOSE}{_WHEN}$", _I)
_SURELY = rf"(?:(?:of |my )*{MEDICINES}\b|\d)"
_TAKES_NO_MORE = re.compile(  # what is used, or come off, may be anything: "I am off work"
    rf"(?:i {AM}(?:no longer|(?:do )?not) (?:take|taking|(?:on|use|using)(?= {_SURELY}))"
    rf"|i {AM}(?:stopped|quit|finished)(?: taking| using(?= {_SURELY})|(?= {_SURELY}))"
    rf"|i {AM}(?:came|come|got)? ?off(?= {_SURELY})"
    r"|(?:(?:my|the|our) [\w-]+|(?:dr|doctor)\.? [\w-]+|they|he|she) (?:(?:have|has) )?(?:took|taken) me off)"
    rf" (?:{_DOSE} )?{_MEDICINE}(?: anymore)?$",
    _I,
)


def dose_name(medicine: str) -> str:
    """The name of the relation between somebody and how much they take of a medicine."""
    return DOSE_OF + " ".join(content(medicine))


def of_doses(plain: str) -> list[Relation]:
    """What a plain sentence gives that tells of a dose; nothing for most."""
    if (ended := _ended(plain)) is not None:
        return [ended]
    put = _IS_PUT_ON.match(plain)
    found = put or _TAKES.match(plain) or _TAKES_BEHIND_IT.match(plain) or _NOTED.match(plain)
    if found is None:
        return []
    name = dose_name(found["what"])
    kind = " ".join(content(found["when"]))
    return [Relation((), name, frozenset(content(found["value"])), kind, is_new=put is not None)]


def _ended(plain: str) -> Relation | None:
    """The dose that a plain sentence says to be taken no more, of whatever amount where it names none."""
    found = _TAKES_NO_MORE.match(plain)
    if found is None:
        return None
    return Relation((), dose_name(found["what"]), frozenset(content(found["value"] or "")), over="negated")


# A dose of a medicine that is not named

_LONGEST_READ = 300  # characters
_WITHOUT_NAME = re.compile(
    rf"(?P<head>(?:(?:i|we)(?:'m| am|'ve been|'re)? (?:now |currently |just )?(?:take|taking|on|use|using) "
    rf"|(?:(?:my|the|our) [\w-]+|(?:dr|doctor)\.? [\w-]+|they|he|she) {_HAS_PUT} me "
    r"(?:on |up to |down to |to )?)"
    rf"{_DOSE})(?P<rest>{_WHEN}(?: now| instead| since \w+| again)?[.!]*)$",
    _I,
)
_STOPPED = re.compile(r"\b(?:stopped|quit|no longer|came off|not)\b|n't\b", _I)


def medicine_of(text: str) -> str:
    """The medicine of which a statement tells how much its user takes; empty for most."""
    if len(text) > _LONGEST_READ:
        return ""
    plain = re.sub(r"\bi'm\b", "i am", re.sub(r"\b(?:now|again) ", "", text.rstrip(" .!")), flags=_I)
    found = _IS_PUT_ON.match(plain) or _TAKES.match(plain)
    return found["what"] if found else ""


def with_medicine(text: str, told: Iterable[str]) -> str:
    """A statement of a dose with the one medicine that was told of; as it is where there is none, or several.

    "I now take 40 mg."  told "I take 20 mg of lisinopril."  ->  "I now take 40 mg of lisinopril."
    """
    plain = text.replace("’", "'")
    said = _WITHOUT_NAME.match(plain) if len(plain) <= _LONGEST_READ else None
    if said is None:
        return text
    texts = list(told)
    named = {name.casefold(): name for each in texts if (name := medicine_of(each))}
    over = " ".join(each for each in texts if len(each) <= _LONGEST_READ and _STOPPED.search(each)).casefold()
    if len(named) != 1 or any(name in over for name in named):
        return text
    (medicine,) = named.values()
    return f"{said['head']} of {medicine}{said['rest']}"
