"""A user's statement of one person is no sure answer to a question about another.

    "My brother is called Simon."          What is my sister called?
    "My friend Ola is allergic to nuts."   What am I allergic to?

A reader looks for words of the kind that is asked for, and takes those of somebody else where nothing
else is known. Such a statement is left less probable, so that it is quoted as what may help at most. Where
a question asks for the name, the birthday or the like of one person by what they are, it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agents.asked_for import asked_for, how_it_gives
from agents.quote_order import Quote, is_own_words
from agents.relations.named_persons import NamedPersons, says_only_who
from agents.values import content, names

_I = re.IGNORECASE
_LONGEST_READ = 200  # characters
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
    "grandma": "grandmother granny gran nan",
    "grandpa": "grandfather granddad grandad",
    "granny": "grandmother grandma gran nan",
    "granddad": "grandfather grandpa grandad",
    "grandad": "grandfather grandpa granddad",
    "grandson": "grandchild grandchildren",
    "granddaughter": "grandchild grandchildren",
    "godmother": "godparent",
    "godfather": "godparent",
    "uncle": "",
    "aunt": "auntie",
    "cousin": "",
    "nephew": "",
    "niece": "",
    "friend": "mate pal buddy",
    "boss": "manager supervisor",
    "manager": "boss supervisor",
    "doctor": "gp dr physician",
    "gp": "doctor dr physician",
    "dentist": "orthodontist",
    "optician": "optometrist",
    "therapist": "psychologist psychiatrist counsellor counselor",
    "psychologist": "therapist psychiatrist",
    "psychiatrist": "therapist psychologist",
    "counsellor": "therapist counselor",
    "counselor": "therapist counsellor",
    "physio": "physiotherapist",
    "physiotherapist": "physio",
    "surgeon": "",
    "nurse": "",
    "vet": "",
    "pharmacist": "chemist",
    "barber": "hairdresser",
    "hairdresser": "barber",
    "lawyer": "solicitor attorney",
    "solicitor": "lawyer attorney",
    "accountant": "",
    "plumber": "",
    "electrician": "",
    "mechanic": "",
    "coach": "trainer",
    "trainer": "coach",
    "nanny": "babysitter childminder",
    "babysitter": "nanny childminder",
    "landlord": "landlady",
    "landlady": "landlord",
    "teacher": "tutor",
    "tutor": "teacher",
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
_COUPLE = (
    r"marr|wed|dat(?:e|ing)\b|seeing|going out|liv(?:e|ing) with|together|engaged|broke|split|divorc|separat|"
    r"left me|dumped"
)
_TOLD_BY = {  # by what somebody is: how one may tell of them without naming what they are
    **dict.fromkeys(("wife", "husband", "spouse", "partner", "girlfriend", "boyfriend"), _COUPLE),
    **dict.fromkeys(("boss", "manager", "colleague"), r"work|employ|report"),
    **dict.fromkeys(("landlord", "landlady"), r"rent"),
    **dict.fromkeys(("flatmate", "roommate"), r"live with|share|flat|room"),
    **dict.fromkeys(("neighbour", "neighbor"), r"next door|downstairs|upstairs"),
    **dict.fromkeys(("teacher", "tutor", "coach", "trainer"), r"teach|taught|train|coach|lesson|class"),
    **dict.fromkeys(("barber", "hairdresser"), r"hair|beard"),
    **dict.fromkeys(("therapist", "psychologist", "psychiatrist", "counsellor", "counselor"), r"therapy"),
    **dict.fromkeys(("physio", "physiotherapist"), r"physio"),
    "dentist": r"teeth|tooth|dental",
    "optician": r"eyes?\b|glasses",
    "surgeon": r"operat",
    "vet": r"treat|vaccinat",
    "mechanic": r"repair|fix",
    "accountant": r"tax",
    "mother": r"(?:son|daughter) of",
    "father": r"(?:son|daughter) of",
}
_ANIMALS = frozenset(("dog", "cat"))
_ROLE = rf"(?:{'|'.join(sorted(_ALSO_CALLED, key=len, reverse=True))})"
_ASKED_OF = re.compile(
    rf"\b(?:my|our) (?:(?!my\b)[\w-]+ )?(?P<role>{_ROLE})s?\b(?P<own>['’]s? (?!name))?", _I
)
_ASKS_NAME = re.compile(
    r"\b(?:called|names?|named)\b|^\W*(?:and |so )?who(?:['’]s| is| are) (?:my|our)\b", _I
)
_PERSON = rf"(?:{'|'.join(sorted(_ALSO_CALLED.keys() - _ANIMALS, key=len, reverse=True))})"
_ONE = rf"(?:my|our) (?:(?!my\b)[\w-]+ )?(?P<role>{_PERSON})(?P<law>-in-law)?"
_OF_ONE = (  # what one person has one of; "my sister's dog" is none of them
    r"(?:(?:first|last|full|middle|maiden|given|phone|telephone|mobile|home|work|e-?mail|street) )*"
    r"(?:name|surname|nickname|birthday|age|number|phone|address|e-?mail|job|profession|occupation|"
    r"employer)"
)
_BE = r"(?:is|['’]?s|was|are|were)"
_ASKS_OF_ONE = [
    re.compile(
        r"\W*(?:(?:and|so|but|then|please|(?:do|can) you (?:know|remember|tell me)|remind me|tell me),? )*"
        rf"{wording}(?: (?:again|now|please|then|exactly))*\W*",
        _I,
    )
    for wording in (
        rf"(?:(?:what|when|which|who|(?:on )?(?:what|which) (?:day|date)) ?{_BE} )?"
        rf"{_ONE}['’]?s?['’]? {_OF_ONE}(?: {_BE})?",
        rf"(?:what|who|how) ?{_BE} {_ONE} (?:called|named)",
        rf"what {_ONE} {_BE} (?:called|named)",
        rf"who ?{_BE} {_ONE}",
        rf"who {_ONE} {_BE}",
        rf"how old {_BE} {_ONE}",
        rf"(?:when|where) ?{_BE} {_ONE} (?:born|living|working|from)",
        rf"where (?:does|did) {_ONE} (?:live|work|come from)",
    )
]
_OPENS_WITH = re.compile(rf"(?:my|our) (?:[\w-]+ )?(?P<role>{_ROLE})\b", _I)
_ASKS_MORE = re.compile(
    r"\W*(?:and |so )?(?:where|when|how|why|(?:at )?what time|what (?:does|do|did))\b", _I
)
_OF_ONESELF = re.compile(
    r"^(?!\W*(?:and |so )?who(?:m|se)?\b(?! am i\b)).*(?:\b(?:am|was) i\b|\b(?:do|did) i "
    r"(?!(?:have|know|need)\b)|\bmy (?:own |first |last |full |middle )?"
    r"(?:name|age|birthday|job|profession|surname)\b)",
    _I,
)
_SPEAKS_OF_ONESELF = re.compile(r"\b(?:i|i['’]\w+|me|we|us|our|ours|mine|myself)\b|(?<!^)\bmy\b", _I)


def less_of_others(question: str, quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes, with less probability for a user's statements of another person than is asked about.

    Where one person is asked for, those that do not speak of that person are left out: by what they are, by
    the name that another quote tells, or by what a rule knows to give what is asked for.
    """
    if person := _person_asked_for(question):
        named = NamedPersons(quote.text for quote in quotes if is_own_words(quote.source.passage))
        asking = asked_for(question)
        quotes = [
            quote
            for quote in quotes
            if not is_own_words(quote.source.passage)
            or person.search(quote.source.passage.text) is not None
            or person.search(named.named(quote.text, even_of_many=True)) is not None
            or how_it_gives(quote.text, asking) is not None
        ]
    return [
        replace(quote, probability=_OF_ANOTHER * quote.probability)
        if is_own_words(quote.source.passage)
        and (
            is_of_another(question, quote.text, quote.source.passage.text)
            or _says_only_who(question, quote.text)
        )
        else quote
        for quote in quotes
    ]


def _says_only_who(question: str, sentence: str) -> bool:
    """Whether a sentence says who somebody is and no more, where something else of them is asked for.

    "Where does Priya work?", "My flatmate is called Priya."
    """
    asks_more = _ASKS_MORE.match(question) is not None and _ASKS_NAME.search(question) is None
    return asks_more and says_only_who(sentence)


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


def _person_asked_for(question: str) -> re.Pattern[str] | None:
    """What speaks of the one person whose name, age or the like is asked for; None for most questions."""
    if len(question) > _LONGEST_READ:
        return None
    found = next((one for wording in _ASKS_OF_ONE if (one := wording.fullmatch(question))), None)
    if found is None:
        return None
    role = found["role"].lower()
    words = "|".join(map(re.escape, (role, *_ALSO_CALLED[role].split())))
    if found["law"]:
        return re.compile(rf"\b(?:{words})s?[- ]in[- ]law", _I)
    told_by = rf"|\b(?:{_TOLD_BY[role]})" if role in _TOLD_BY else ""
    return re.compile(rf"\b(?:step)?(?:{words})s?\b(?![- ]in[- ]law){told_by}", _I)


def _mentions(role: str, text: str) -> bool:
    words = "|".join(map(re.escape, (role, *_ALSO_CALLED[role].split())))
    return re.search(rf"\b(?:step|grand)?(?:{words})s?\b", text, _I) is not None


def _shares_a_person(question: str, opening: str, sentence: str) -> bool:
    """Whether a question names whom the sentence is about: "Where do I meet Ola?"."""
    named = {item for name in names(sentence) for item in name.items}
    return bool(set(content(question)) & (set(content(opening)) | named))
