"""The wordings in which somebody names what they have one of by its kind: a car, a gym, a bank, a dog.

    "My gym is FitHaus"    -> the user's gym is named FitHaus
    "My car is a Skoda"    -> the user's own car is a Skoda

Which kinds there are, no list tells: the word before "is" is one. A clause comes here without times and
contractions; see `agents/relations/comparison.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.relations.parts import (
    AM,
    MANY_OF_THEM,
    NAMED,
    PEOPLE,
    Relation,
    Wordings,
    cut,
    one_of,
    says_which_people,
)
from agents.values import content

_I = re.IGNORECASE
OWN, CALLED = "own ", "called "  # how the names of these relations begin
HAS = (  # a verb of having
    r"(?:have|has|owns?|drives?|driving|rides?|riding|uses?|using|keeps?|wears?|wearing|rents?|renting|"
    r"leases?|"
    r"banks? with|go to|goes to|trains? at|works? out at|swims? at|(?:am|is|are) (?:with|at)|"
    r"(?:am|is) a (?:member|customer|client|patient) (?:of|at|with))"
)
KIND = (
    r"(?P<kind>(?-i:[a-z])[\w-]*(?: (?!(?:in|at|on|near|by|for|of|from|with|to|and|or)\b)(?-i:[a-z])[\w-]*)?)"
)
NO_KIND = re.compile(r"\b(?:one|thing|stuff|lot|mind|life|way|name|time|day|week|place)s?$", _I)


def own_name(kind: str) -> str:
    """The name of the relation between somebody and what they have of a kind."""
    return OWN + " ".join(content(kind)[-2:])


def called_name(kind: str) -> str:
    """The name of the relation between somebody and what the one that they have of a kind is called."""
    return CALLED + " ".join(content(kind)[-2:])


def is_of_possession(name: str) -> bool:
    """Whether this is the name of a relation to what somebody has one of by its kind."""
    return name.startswith((OWN, CALLED))


_IS_ONE = (
    rf"(?P<who>my|our) (?P<new>new )?(?:current )?{KIND} (?:is|are) (?P<how>called |named |an? )?"
    rf"(?P<value>{NAMED})$"
)
_HAS_ONE = rf"(?P<who>i|we) {AM}{HAS} (?:the|an?) {KIND} (?P<how>called |named |: )?(?P<value>{NAMED})$"
_A_TIME = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|today|tomorrow",
    _I,
)
_IS_ANIMAL = re.compile(r"\b(?:pet|dog|cat)s?$", _I)


def _own(match: re.Match[str]) -> Iterator[Relation]:
    kind, value = match["kind"], match["value"]
    is_one_of_many = MANY_OF_THEM.search(kind) is not None
    if NO_KIND.search(kind) or says_which_people(value) or _A_TIME.match(value) or re.match(PEOPLE, value):
        return
    if is_one_of_many and (match.groupdict().get("new") or not _IS_ANIMAL.search(kind)):
        return  # a new dog may be there beside the old one
    is_of_a_sort = (match["how"] or "").strip().casefold() in ("a", "an")
    name = own_name(kind) if is_of_a_sort else called_name(kind)
    needs_new = is_one_of_many or "new" not in match.groupdict()
    yield from one_of(match["who"], name, cut(value), needs_new=needs_new)


COLOUR_OF = "colour of "  # how the names of these relations begin
_IS_COLOURED = (
    rf"(?P<who>my|our) {KIND} (?:is|are) (?:painted |dyed )?(?P<value>(?:(?:light|dark|bright|pale|deep) )?"
    r"(?:red|orange|yellow|green|blue|purple|violet|pink|brown|black|white|gr[ae]y|beige|turquoise|silver|gold))$"
)


def _coloured(match: re.Match[str]) -> Iterator[Relation]:
    if MANY_OF_THEM.search(match["kind"]) or NO_KIND.search(match["kind"]):
        return
    name = COLOUR_OF + " ".join(content(match["kind"])[-2:])
    yield from one_of(match["who"], name, match["value"], needs_new=True)


OF_POSSESSIONS: Wordings = (((_IS_COLOURED,), _coloured), ((_IS_ONE, _HAS_ONE), _own))
