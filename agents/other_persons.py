"""A user's statement of one person is no sure answer to a question about another.

    "My brother is called Simon."          What is my sister called?
    "My friend Ola is allergic to nuts."   What am I allergic to?

A reader looks for words of the kind that is asked for, and takes those of somebody else where nothing
else is known. Such a statement is left less probable, so that it is quoted as what may help at most.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agents.quote_order import Quote, is_own_words
from agents.values import content, names

_I = re.IGNORECASE
_OF_ANOTHER = 0.2  # share of its probability that is left to a statement of another person
_ALSO_CALLED = {  # by what somebody is: other words that may speak of the same one
    "mother": "mum mom mummy mama parent",
    "father": "dad daddy papa parent",
    "wife": "spouse partner married",
    "husband": "spouse partner married",
    "spouse": "wife husband partner married",
    "partner": "wife husband spouse girlfriend boyfriend married",
    "girlfriend": "partner fiancée",
    "boyfriend": "partner fiancé",
    "son": "boy child children kid baby",
    "daughter": "girl child children kid baby",
    "child": "children kid son daughter baby boy girl",
    "kid": "child children son daughter baby boy girl",
    "brother": "sibling twin",
    "sister": "sibling twin",
    "grandmother": "grandma granny gran nan",
    "grandfather": "grandpa granddad grandad",
    "uncle": "",
    "aunt": "auntie",
    "cousin": "",
    "nephew": "",
    "niece": "",
    "friend": "mate pal buddy",
    "boss": "manager supervisor",
    "manager": "boss supervisor",
    "doctor": "gp",
    "dentist": "",
    "landlord": "landlady",
    "landlady": "landlord",
    "teacher": "tutor",
    "flatmate": "roommate housemate",
    "roommate": "flatmate housemate",
    "neighbour": "neighbor",
    "neighbor": "neighbour",
    "colleague": "coworker",
    "mum": "mom mother parent",
    "mom": "mum mother parent",
    "dad": "father parent",
    "dog": "puppy pet",
    "cat": "kitten pet",
}
_ANIMALS = frozenset(("dog", "cat"))
_ROLE = rf"(?:{'|'.join(sorted(_ALSO_CALLED, key=len, reverse=True))})"
_ASKED_OF = re.compile(
    rf"\b(?:my|our) (?:(?!my\b)[\w-]+ )?(?P<role>{_ROLE})s?\b(?P<own>['’]s? (?!name))?", _I
)
_ASKS_NAME = re.compile(
    r"\b(?:called|names?|named)\b|^\W*(?:and |so )?who(?:['’]s| is| are) (?:my|our)\b", _I
)
_OPENS_WITH = re.compile(rf"(?:my|our) (?:[\w-]+ )?(?P<role>{_ROLE})\b", _I)
_OF_ONESELF = re.compile(
    r"^(?!\W*(?:and |so )?who(?:m|se)?\b(?! am i\b)).*(?:\b(?:am|was) i\b|\b(?:do|did) i "
    r"(?!(?:have|know|need)\b)|\bmy (?:own |first |last |full |middle )?"
    r"(?:name|age|birthday|job|profession|surname)\b)",
    _I,
)
_SPEAKS_OF_ONESELF = re.compile(r"\b(?:i|i['’]\w+|me|we|us|our|ours|mine|myself)\b|(?<!^)\bmy\b", _I)


def less_of_others(question: str, quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes, with less probability for a user's statements of another person than is asked about."""
    return [
        replace(quote, probability=_OF_ANOTHER * quote.probability)
        if is_own_words(quote.source.passage)
        and is_of_another(question, quote.text, quote.source.passage.text)
        else quote
        for quote in quotes
    ]


def is_of_another(question: str, sentence: str, around: str) -> bool:
    """Whether a sentence speaks of another person than a question asks about; not in doubt.

    around: the text in which it stands: "I have a cousin. Her name is Ada."
    """
    asked_of = list(_ASKED_OF.finditer(question))
    if len(asked_of) > 1 or any(one["own"] for one in asked_of):
        return False  # "my sister's dog"
    opens = _OPENS_WITH.match(sentence)
    if asked_of:
        if _mentions(asked_of[0]["role"].lower(), around):
            return False
        return _ASKS_NAME.search(question) is not None or opens is not None
    return (
        opens is not None
        and opens["role"].lower() not in _ANIMALS
        and _OF_ONESELF.search(question) is not None
        and _SPEAKS_OF_ONESELF.search(sentence) is None
        and not _shares_a_person(question, opens[0], sentence)
    )


def _mentions(role: str, text: str) -> bool:
    words = "|".join(map(re.escape, (role, *_ALSO_CALLED[role].split())))
    return re.search(rf"\b(?:step|grand)?(?:{words})s?\b", text, _I) is not None


def _shares_a_person(question: str, opening: str, sentence: str) -> bool:
    """Whether a question names whom the sentence is about: "Where do I meet Ola?"."""
    named = {item for name in names(sentence) for item in name.items}
    return bool(set(content(question)) & (set(content(opening)) | named))
