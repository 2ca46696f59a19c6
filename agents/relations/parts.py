"""What a statement gives of which somebody has one at a time, and what its wordings are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from agents.values import content

Over: TypeAlias = Literal["", "negated", "withdrawn"]


class Relation(NamedTuple):
    """One value of somebody, as a statement gives it."""

    of: tuple[str, ...]  # whose it is: stems; none for the user
    name: str
    value: frozenset[str]  # as `content` has it; may be empty where it is over
    kind: str = ""  # of the value: of two kinds both may hold
    over: Over = ""  # it holds no more: said in its place, or only taken back
    is_new: bool = False  # it is said to be so now, or instead
    needs_new: bool = False  # several may hold, unless the later one is said to be new
    instead_of: frozenset[str] = frozenset()  # the one value whose place it takes, where that is told


Read: TypeAlias = Callable[[re.Match[str]], Iterator[Relation]]
Wordings: TypeAlias = tuple[tuple[tuple[str, ...], Read], ...]  # patterns of clauses, and what reads a match

OFFICE = (  # "my boss is CEO" and "my boss is Head of Sales" name nobody
    r"(?-i:(?:C[EFIMOPT]O|[SE]?VP|HR|IT|GP|M[DP]|MEP|MBA|PhD|VIP|AWOL)\b|"
    r"(?:(?:Acting|Assistant|Branch|Chief|Deputy|Department|Executive|Financial|General|Group|Junior|"
    r"Managing|"
    r"Operating|Project|Regional|Sales|Senior|Team|Technical|Vice) )*"
    r"(?:Captain|Chair(?:man|woman|person)?|Chief|Director|Editor|Head|Lead(?:er)?|Manager|Mayor|"
    r"Minister|Officer|"
    r"President|Principal|Professor|Secretary|Supervisor|Treasurer)"
    r"(?=$|[,.;:!]| (?:at|of|in|for|and|here|now|there|again)\b))"
)
NAMED = (
    rf"(?!{OFFICE})"
    r"(?!(?:the|an?|my|our|his|her|their|its|your|this|that|these|those|i|we|you|he|she|it|they|in|on|at|for|"
    r"from|since)\b)(?-i:[A-ZÀ-Þ])[\w'.-]*(?: (?-i:[A-ZÀ-Þ])[\w'.-]*){0,2}"
)
PEOPLE = (  # as adjectives: "my boss is Irish" names nobody
    r"(?-i:Afghan|African|Albanian|Algerian|American|Arab|Argentin(?:e|ian)|Armenian|Asian|Australian|"
    r"Austrian|"
    r"Bangladeshi|Basque|Belgian|Bosnian|Brazilian|British|Bulgarian|Canadian|Catalan|Catholic|Chilean|"
    r"Chinese|"
    r"Colombian|Croatian|Cuban|Czech|Danish|Dutch|Egyptian|English|Estonian|Ethiopian|European|Filipin[ao]|"
    r"Finnish|Flemish|French|German|Ghanaian|Greek|Hindu|Hungarian|Icelandic|Indian|Indonesian|Iranian|Iraqi|"
    r"Irish|Israeli|Italian|Jamaican|Japanese|Jewish|Kenyan|Korean|Kurdish|Latvian|Lebanese|Lithuanian|"
    r"Malaysian|Maltese|Mexican|Moroccan|Muslim|Nepal(?:i|ese)|Nigerian|Norwegian|Pakistani|Persian|Peruvian|"
    r"Polish|Portuguese|Protestant|Romanian|Russian|Scottish|Serbian|Slovak|Slovenian|Somali|Spanish|Swedish|"
    r"Swiss|Syrian|Thai|Tunisian|Turkish|Ukrainian|Vietnamese|Welsh)\b"
)
ANIMAL = (
    r"(?:dog|puppy|cat|kitten|hamster|guinea pig|rabbit|canary|parrot|budgie|budgerigar|bird|tortoise|turtle|"
    r"goldfish|fish|horse|pony|goat|gerbil|rat|mouse|ferret|snake|lizard|gecko|chinchilla|donkey|pig)"
)
_WHICH = r"(?:(?:best|older|younger|elder|little|big|twin) )?"
WHO = rf"(?P<who>i|we|(?:my|our|the) {_WHICH}[\w-]+(?: [\w-]+)?|{NAMED})"
OWNER = rf"(?P<who>my|our|the|{NAMED}'s|(?:my|our) [\w-]+'s)"
AM = r"(?:(?:am|is|are|have|has|been|got) )*"
IS = r"(?:is|are) "
NEW = r"(?:new |current )?"
END = r"(?:$|(?=[,;:(])|(?= (?:and|who|since|with|whose|because|in|at)\b))"
VALUE = r"(?P<value>.+)$"
MANY_OF_THEM = re.compile(
    r"\b(?:(?<!best )friend|colleague|cousin|brother|sister|son|daughter|uncle|aunt|neighbou?r|pet|dog|cat|"
    r"hobby|one|child|kid|"
    r"grandson|granddaughter|nephew|niece|classmate|client|customer|student)s?\b",
    re.IGNORECASE,
)
_NAMED_ONE = re.compile(rf"(?:my|our) {_WHICH}[\w-]+ ((?-i:[A-ZÀ-Þ])[\w'-]+)$", re.IGNORECASE)
_NEXT_CLAUSE = re.compile(
    r"\s*(?:,(?!\d{3}\b)|:(?!\d\d\b)|[;!?()]|\s[-–—]\s|\b(?:because|since|with|which|who|that|where|so|"
    r"after|when|while|"
    r"though|but|as|"
    r"for|from|and (?=(?:i|we|my|our|it|is|am|are|have|has|love|loves|like|likes|enjoy|really|now|"
    r"so)\b))\b).*",
    re.IGNORECASE | re.DOTALL,
)


def cut(value: str) -> str:
    """The value without what follows it."""
    return _NEXT_CLAUSE.sub("", value).strip().removesuffix(" anymore")


def whose(who: str | None) -> tuple[str, ...] | None:
    """Whose it is; None for one of many, of whom the next statement may mean another.

    One that is named with what they are is known by the name: "my sister Jana".
    """
    if not who or who.casefold() in ("i", "we", "my", "our"):
        return ()
    if named := _NAMED_ONE.match(who):
        return tuple(content(named[1].removesuffix("'s")))
    return None if MANY_OF_THEM.search(who) else tuple(content(who.removesuffix("'s")))


def one_of(
    who: str | None,
    name: str,
    value: str,
    kind: str = "",
    *,
    over: Over = "",
    is_new: bool = False,
    needs_new: bool = False,
) -> Iterator[Relation]:
    """The relation of one value; none where it is of one of many, or where several values are listed."""
    of, items = whose(who), frozenset(content(value) or _WORDS_AS_NAMES.findall(value))
    if of is not None and items and not re.search(r"\band\b|\bor\b", value):
        yield Relation(of, name, items, kind, over, is_new, needs_new)


_WORDS_AS_NAMES = re.compile(r"(?<![\w'])[A-Z][a-z]+$")  # a film that is called "Her"
_HOW_IT_IS = re.compile(
    r"(?:not|so|very|too|quite|rather|really|always|never|almost|here|there|in|on|at|under|near|over|with|"
    r"to|about|being|hard|easy|long|short|great|nice|good|bad|fine|fun|soon|secret|private|public|weak|"
    r"strong|safe|open|closed|broken|gone|lost|dead|expensive|cheap|wrong|right|correct|important|unusual|"
    r"unique|common|rare|full|empty|new|old|high|low|late|early|ready|dirty|clean|boring|annoying|amazing|"
    r"tiring|missing|changing|\w+(?:ful|able|ible|ous))\b",
    re.IGNORECASE,
)


def says_how_it_is(value: str) -> bool:
    """Whether these words tell what something is like, and not what it is: "broken", "hard to spell"."""
    return _HOW_IT_IS.match(value) is not None


def says_which_people(value: str) -> bool:
    """Whether these words tell of which people or in what office somebody is, not who: "Irish", "CEO"."""
    return _PEOPLE.match(value) is not None


_PEOPLE = re.compile(rf"(?:(?:half|part) |half-)?{PEOPLE}(?! (?-i:[A-ZÀ-Þ]))|{OFFICE}", re.IGNORECASE)
