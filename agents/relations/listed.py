"""A statement that lists several things, without those that hold no more.

    "I have a dog and a cat named Tom", less the dog      ->  "I have a cat named Tom"
    "I take vitamin D and iron every morning", less iron  ->  "I take vitamin D every morning"
    "I have three cats: Tom, Jerry and Kit", less Kit     ->  "I have cats: Tom and Jerry"
    "I have two cats, Tom and Kit", less Kit              ->  "I have a cat called Tom"

By rules that give up in doubt: what is not surely an item of a list stays.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from agents.values import content

_LONGEST_READ = 300  # characters
_MOST_ITEMS = 12
_MOST_THAT_HANGS_ON_IT = 3  # content words that a statement says of what was withdrawn
_BETWEEN = re.compile(r"\s*,\s*(?:and |or )?(?:also )?|\s+(?:and|or|as well as) (?:also )?", re.IGNORECASE)
_OPENS_AN_ITEM = re.compile(
    r"\b(?:an?|the|my|our|some|two|three|four|five|six|seven|eight|nine|ten|\d+) (?=[^,]*$)", re.IGNORECASE
)
_HEAD = re.compile(
    r"(?:The|My|Our)(?: [\w'-]+){1,4}?(?: (?:is|are|has|includes?|contains?)(?: called| named)?|:) |"
    r"(?:I|We|(?:My|Our|The) [\w-]+|[A-ZÀ-Þ][\w'-]+)(?:'ve|'m|'re)?"
    r"(?: (?:also|often|usually|always|really|just|both|do|don't|do not|have|has|am|are|is|can|like|love|"
    r"used|"
    r"want|enjoy|to))*"
    r" (?:[a-z]+)(?: (?:in|at|to|for|on|with|of))? "
)
_COUNT = r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d+|both)\b"
_NAMES_THEM = re.compile(  # "I have three cats: ", "We have two sons called "
    rf".*{_COUNT} (?:[\w-]+ ){{0,2}}?[\w-]+(?: ?:| called| named|,| [–-]) ", re.IGNORECASE
)
_COUNTS_THEM = re.compile(rf".*(?P<count>{_COUNT}) (?:[\w-]+ ){{0,2}}?[\w-]+$", re.IGNORECASE)
_IS_MINE = re.compile(r"(?:My|Our)(?: [\w'-]+){1,4}? are(?: called| named)? ")
_COUNTED = re.compile(rf"{_COUNT} ", re.IGNORECASE)
_KIND = r"(?:pets|animals|kids|children|siblings|instruments|vehicles|devices|hobbies|jobs)"  # of unlike ones
_COUNTED_KIND = re.compile(rf"{_COUNT} (?:[\w-]+ )?{_KIND}(?: ?:|,)\s*$", re.IGNORECASE)
_OPENS_LIKE_A_DOG = re.compile(r"an? ", re.IGNORECASE)
_OF_ALL = re.compile(
    r" (?:every|each|on (?:\w+days?|weekends)|in the (?:morning|evening|afternoon)s?|daily|weekly|twice|once|"
    r"since|at (?:night|noon|weekends)|together|regularly|for a living)\b.*$",
    re.IGNORECASE,
)
_OF_ONE = re.compile(r" (?:called|named|who|that|which)\b", re.IGNORECASE)


class _Item(NamedTuple):
    text: str
    stems: frozenset[str]


def without_listed(statement: str, withdrawn: Collection[str]) -> str | None:
    """The statement without the items that these stems name; None where it lists none of them, or only them.

    withdrawn: content words of what holds no more, those that the list shares ("play") among them.
    """
    statement = _IN_BRACKETS.sub(r": \g<names>", statement)
    stop = statement[len(statement.rstrip(".! ")) :]
    read = _read(statement.rstrip(".! ")) if len(statement) <= _LONGEST_READ else None
    if read is None:
        return None
    head, items, tail = read
    meant = set(withdrawn) - set(content(head)) - set(content(tail))
    kept = [item for item in items if not item.stems & meant]
    gone = [item for item in items if item.stems & meant]
    is_named = bool(meant) and meant <= frozenset().union(*(item.stems for item in gone))
    if not gone or not kept or not is_named or any(_is_other(item, meant) for item in gone):
        return None
    head = _counting_no_more(head, [item.text for item in kept])
    return f"{head}{_joined([item.text for item in kept], _last_word(statement))}{tail}{stop}"


def _counting_no_more(head: str, kept: Sequence[str]) -> str:
    """What stands before a list, without its count: "I have cats: ", or "I have " before "a cat"."""
    if len(kept) == 1 and (of_one := _of_one(head)) and _IS_NAME.match(kept[0]):
        return of_one
    of_all = _COUNTED_KIND.search(head)
    if of_all is not None and all(map(_OPENS_LIKE_A_DOG.match, kept)):
        return head[: of_all.start()]
    return _COUNTED.sub("", head, count=1)


_IN_BRACKETS = re.compile(r"(?<=\w) \((?P<names>[^()]+)\)(?=[.! ]*$)")
_IS_NAME = re.compile(r"[A-ZÀ-Þ]")
_OF_SEVERAL = re.compile(
    rf"(?P<who>.*?)(?P<count>{_COUNT}) (?P<how>(?:[\w-]+ ){{0,2}}?)(?P<kind>[\w-]+)"
    r"(?P<are> are)?(?: ?:| called| named|,| [–-]) $",
    re.IGNORECASE,
)
_MINE_ARE = re.compile(
    r"(?P<who>(?:My|Our) )(?P<count>)(?P<how>(?:[\w-]+ ){0,2}?)(?P<kind>[\w-]+)(?P<are> are)"
    r"(?: called| named)? $"
)
_SINGULAR = {"children": "child", "mice": "mouse", "wolves": "wolf", "geese": "goose", "people": "person"}


def _of_one(head: str) -> str:
    """What stands before a list, for the one of it that is left: "I have a cat called "; mostly nothing."""
    several = _OF_SEVERAL.match(head) or _MINE_ARE.match(head)
    kind = several["kind"] if several else ""
    one = _SINGULAR.get(kind) or (
        f"{kind[:-3]}y" if re.search(r"[^aeiou]ies$", kind) else kind[:-1] if kind.endswith("s") else ""
    )
    if several is None or not one or kind.endswith("ss"):
        return ""
    how = _COUNTED.sub("", several["how"])
    if several["are"]:
        return f"{several['who']}{how}{one} is called "
    article = "an" if f"{how}{one}"[0].lower() in "aeio" else "a"
    return f"{several['who']}{article} {how}{one} called "


_GONE = re.compile(
    r"(?P<who>(?-i:[A-ZÀ-Þ])[\w-]+|(?:my|our|the) [\w-]+(?: (?-i:[A-ZÀ-Þ])[\w-]+)?)"
    r"(?: (?:sadly|unfortunately|just|now|then))*"
    r" (?:is dead|is no more|(?:has )?died|passed away|ran away|(?:is|has) (?:gone|disappeared)"
    r"(?! (?:for|to|out|with|on|in|until|till|back|home)\b)|was (?:run over|put down|killed|eaten|stolen|"
    r"shot|sold|adopted|(?:taken|given) (?:away|by an?\b)))\b",
    re.IGNORECASE,
)
_GAVE = re.compile(
    r"(?:I|We)(?:'ve| have)?(?: (?:just|now|had to|recently))* (?:gave away|given away|gave|given|give "
    r"away|sold|sell|"
    r"lost|rehomed) (?P<who>(?-i:[A-ZÀ-Þ])[\w-]+|(?:my|our|the) [\w-]+(?: (?-i:[A-ZÀ-Þ])[\w-]+)?)"
    r"(?: away| back| up for adoption| yesterday| today| last \w+)*(?: to .+)?[.!]*$",
    re.IGNORECASE,
)


def gone_one(statement: str) -> set[str]:
    """The stems of whom or what a statement says to be gone: "Kit died in March". Empty for most."""
    gone = _GONE.match(statement) or _GAVE.match(statement)
    return set(content(gone["who"])) if gone else set()


def is_of_what_one_has(statement: str) -> bool:
    """Whether a statement lists what its user has, so that none of them is had who is gone."""
    read = _read(statement.rstrip(".! ")) if len(statement) <= _LONGEST_READ else None
    return read is not None and _HAS.match(read[0]) is not None and not _IS_PAST.search(statement)


_HAS = re.compile(
    rf"(?:I|We)(?:'ve| have)?(?: (?:also|now|still|got))* (?:have|own|keep|got|has)\b|(?:I|We)'ve got\b|"
    rf"(?:My|Our) (?:{_COUNT} )?(?:[\w-]+ ){{1,3}}?are(?: called| named)? $",
    re.IGNORECASE,
)


def says_as_much(statement: str, withdrawal: str) -> bool:
    """Whether a withdrawal is surely of what a list says: "I play A and B", "I no longer play B"."""
    read = _read(statement.rstrip(".! ")) if len(statement) <= _LONGEST_READ else None
    if read is None or _IS_PAST.search(statement):
        return False
    names_them = _NAMES_THEM.fullmatch(read[0]) is not None and _HAS.match(read[0]) is not None
    said = set() if names_them else set(content(read[0]))
    leaves = _OF_MEMBERS.search(read[0]) and _LEAVES.search(withdrawal)
    return said <= set(content(withdrawal)) or leaves is not None


_IS_PAST = re.compile(r"\b(?:had|was|were|did|used to)\b", re.IGNORECASE)
_OF_MEMBERS = re.compile(r"\b(?:member|belong)\b", re.IGNORECASE)
_LEAVES = re.compile(r"\b(?:left|quit|resigned|dropped out)\b", re.IGNORECASE)


def says_more_than(statement: str, withdrawn: Collection[str]) -> bool:
    """Whether a statement says also what has nothing to do with these stems, and may hold on without them."""
    parts = [frozenset(content(part)) for part in _BETWEEN.split(statement[:_LONGEST_READ])]
    left = frozenset().union(*parts) - set(withdrawn)
    return len(left) > (_MOST_THAT_HANGS_ON_IT if len(parts) == 1 else 0)


def _is_other(item: _Item, meant: Collection[str]) -> bool:
    """Whether an item says so much more than what is meant that it may be another: "my sister's dog"."""
    plain = _OF_ONE.split(item.text)[0]
    return "'s " in plain or len(set(content(plain)) - set(meant)) > 1


def _read(statement: str) -> tuple[str, list[_Item], str] | None:
    """What is said of all the items, the items, and what is said behind them; None where there is no list."""
    pieces = _BETWEEN.split(statement)
    if not 1 < len(pieces) <= _MOST_ITEMS or not all(pieces) or _has_clauses(pieces):
        return None
    if len(pieces) == 2 and _NAMES_IT_AGAIN.search(statement):
        return None
    opened = _opened(statement, pieces)
    if opened is None:
        return None
    head, pieces = opened
    tail = _OF_ALL.search(pieces[-1])
    if tail is not None:
        pieces[-1] = pieces[-1][: tail.start()]
    items = [_Item(piece, frozenset(content(piece))) for piece in pieces]
    if not head.strip() or not all(item.stems for item in items):
        return None
    return head, items, tail[0] if tail else ""


_OPENS_ONE = re.compile(r"(?:an? )?[A-ZÀ-Þ]")
_OPENS_ANY = re.compile(r"an? |[A-ZÀ-Þ]")
_NAMES_IT_AGAIN = re.compile(r"\b(?:an?|my|our|the) [\w-]+, (?:an? )?(?-i:[A-ZÀ-Þ])[\w -]+$", re.IGNORECASE)


def _opened(statement: str, pieces: list[str]) -> tuple[str, list[str]] | None:
    """What stands before the items, and the pieces that are items."""
    if counted := _COUNTS_THEM.match(pieces[0]):  # "I have three cats, Tom, Jerry and Kit"
        names, count = pieces[1:], set(content(counted["count"]))
        opens_one = _OPENS_ANY if _COUNTED_KIND.search(f"{pieces[0]},") else _OPENS_ONE
        if f"{pieces[0]}, " in statement and count == {f"#{len(names)}"} and all(map(opens_one.match, names)):
            return f"{pieces[0]}, ", names
    opens = _NAMES_THEM.match(pieces[0]) or _IS_MINE.match(pieces[0])
    opens = opens or _OPENS_AN_ITEM.search(pieces[0]) or _HEAD.match(pieces[0])
    if opens is None:
        return None
    first = opens.start() if opens.re is _OPENS_AN_ITEM else opens.end()
    return pieces[0][:first], [pieces[0][first:], *pieces[1:]]


_CLAUSE = re.compile(
    r"(?:(?:I|we|you|he|she|it|they|my|our|his|her|their)\b.*\b)?(?:is|are|was|were|has|have|had|do|does|did|"
    r"will|can|costs?|lives?|lived|works?|worked|moved|closes?|opens?|plays?|likes?|loves?|takes?|runs?)\b"
    r"|(?:I|we|you|he|she|it|they)\b",
    re.IGNORECASE,
)


def _has_clauses(pieces: Sequence[str]) -> bool:
    """Whether a piece behind the first says something of its own, up to what is said of one item."""
    return any(_CLAUSE.match(_OF_ONE.split(f" {piece}")[0].strip()) for piece in pieces[1:])


def _last_word(statement: str) -> str:
    return "or" if re.search(r"\bor\b", statement) and not re.search(r"\band\b", statement) else "and"


def _joined(items: Sequence[str], word: str) -> str:
    return f"{', '.join(items[:-1])} {word} {items[-1]}" if len(items) > 1 else items[0]
