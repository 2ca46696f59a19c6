"""A name alone that puts right what was told last, where a town and a person stand in it.

    "My aunt Rosa lives in Genk."   "I meant Hasselt."   ->  "My aunt Rosa lives in Hasselt."
    "My aunt Rosa lives in Genk."   "I meant Paula."     ->  "My aunt Paula lives in Genk."

A name is a place's unless it is a given name that many people have, or was told to be somebody's: then it is
a person's, and whom it is known of already is not meant. Of two places, or two persons, none is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agents.relations.given_names import is_given_name
from agents.relations.named_persons import NamedPersons
from agents.relations.places import place_kind
from agents.word_places import LONGEST_READ, Part, parts_of

_I = re.IGNORECASE
_BEFORE_A_PLACE = re.compile(
    r"\b(?:lives?|living|lived|am|is|are|was|comes?|came|born|based|moved|grew up|works?|working|studies|"
    r"study|house|flat|home|stays?|staying)(?: \w+)? (?:in|from|to|near) $",
    _I,
)
_BEFORE_A_PERSON = re.compile(
    r"(?:\b(?:my|our) (?:[\w-]+ )?[\w-]+,? (?:(?:is )?(?:called|named) |is )?|^|\b(?:meet|with|married|"
    r"know) )$",
    _I,
)


def name_put_right(statements: Sequence[str], right: str, told: Iterable[str]) -> str | None:
    """The one of these statements that a bare name can mean, with it; None where that is not certain.

    told: what the user told otherwise, which may say whose name it is.
    """
    parts = parts_of(right)
    if len(parts) != 1 or parts[0].looks != "a name" or parts[0].text != right:
        return None
    is_place = place_kind(right) in ("continent", "country", "state")
    if not is_place and _is_known_persons(right, told):
        return None
    is_person = is_given_name(right) and not is_place
    fits = _is_a_person if is_person else _is_a_place
    meant = [
        (old, part)
        for old in statements
        if len(old) <= LONGEST_READ and right.casefold() not in old.casefold()
        for part in parts_of(old)
        if part.looks == "a name" and fits(old, part)
    ]
    if len(meant) != 1:
        return None
    ((old, part),) = meant
    return f"{old[: part.start]}{right}{old[part.end :]}"


def is_person_for_a_place(put: str, right: str, told: Iterable[str]) -> bool:
    """Whether a bare name that is a person's was put where a place must be: "lives in Paula"."""
    parts = [part for part in parts_of(put) if part.text == right and part.looks == "a name"]
    if len(put) > LONGEST_READ or not any(_is_a_place(put, part, is_any=True) for part in parts):
        return False
    is_place = place_kind(right) in ("continent", "country", "state")
    return not is_place and (is_given_name(right) or _is_known_persons(right, told))


def _is_known_persons(name: str, told: Iterable[str]) -> bool:
    return any(NamedPersons([text]).is_named(name) for text in told if name.casefold() in text.casefold())


def _is_a_place(text: str, part: Part, *, is_any: bool = False) -> bool:
    """is_any: whatever name stands there."""
    stands = _BEFORE_A_PLACE.search(text[: part.start]) is not None
    return stands and (is_any or not is_given_name(part.text))


def _is_a_person(text: str, part: Part) -> bool:
    return _BEFORE_A_PERSON.search(text[: part.start]) is not None and not _is_a_place(text, part)
