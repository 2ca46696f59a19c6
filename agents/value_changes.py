"""Whether two statements are the same, or the same up to one value, a negation, or a withdrawal.

    "My locker number is 214", "My locker is now 310"        value
    "The pool is heated", "The pool is not heated"            negated
    "My locker number is 214", "I no longer have a locker"   withdrawn

By rules over words, numbers and names, for what may be overwritten because of it: doubt says "other".
Numbers are compared as numbers ("twenty-five", "25"), words by their stems.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from agents.claim_rules.doubts import without_doubt
from agents.relations.clauses import clauses
from agents.relations.comparison import exchange_change, relation_change
from agents.relations.parts import MANY_OF_THEM, says_how_it_is, says_which_people
from agents.values import content, names, values
from stores.lexical import tokens

Change: TypeAlias = Literal["same", "value", "negated", "withdrawn", "other"]

_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|without|cannot|hardly|false|untrue|incorrect|wrong)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_NOT_NOW = re.compile(  # and not "was moved to Friday"
    r"\b(?:was|were|would)\b(?! (?:\w+ly )?(?:\w+ed|set|put|brought|born|built)\b)", re.IGNORECASE
)
_WITHDRAWAL = re.compile(
    r"\bno longer\b|n['’]t\b.{0,300}\bany ?more\b|\bnot\b.{0,300}\bany(?: ?more| longer)\b"
    r"|\bgot rid of\b"
    r"|\b(?:is|was|are) (?:obsolete|outdated|out of date|not true|untrue|wrong|false|incorrect)\b"
    r"|\b(?:left|resigned from|dropped out of) (?:the|my|our) (?:[\w-]+ ){0,2}?(?:club|choir|team|band|"
    r"orchestra|"
    r"class|course|group|party|union|board|committee|society|association|gym)\b"
    r"|\b(?:stopped(?! (?:for|at|by|in|to|off|over)\b)|quit|gave up|sold|cancelled|canceled|closed down)\b",
    re.IGNORECASE,
)
_WITHDRAWING_WORDS = frozenset(
    tokens(
        "longer anymore any more got rid obsolete outdated out date not true untrue wrong false incorrect "
        "stopped quit gave give up sold cancelled canceled closed down that it left resigned dropped"
    )
)

_SAYS_NOTHING = frozenset(
    tokens("now actually currently current today nowadays new newer changed change instead moved percent "
           "cent really also since already called")
)  # what a statement may have more than another and still say the same  # fmt: skip
_OF_A_VALUE = frozenset(tokens("number name address code value amount date time year day old size"))
_SLOT = re.compile(
    r"\b(?:favou?rite|name|number|address|email|e-mail|birthday|phone|colou?r|age|size|job|profession|hometown|"
    r"timezone|time zone|language|code|password|capital|currency|deadline|date)\b",
    re.IGNORECASE,
)
_IS = re.compile(r"\b(?:is|was|'s|’s)\b", re.IGNORECASE)
_IS_ONLY = re.compile(r"\b(?:is|was|'s|’s) (?:the|a|an|my|our|his|her|their|its|[A-Z])")
_DEFINITE = re.compile(r"\s*(?:my|our|his|her|their|its|the|this|[A-Z][\w'’ .-]*['’]s)\b", re.IGNORECASE)
_ONE_VALUED = re.compile(
    r"\bnamed\b|\bborn (?:in|on|at)\b"
    r"|\b(?:written|founded|invented|discovered|built|painted|directed|composed|designed) (?:in|by|on)\b",
    re.IGNORECASE,
)
_IS_PLACED = re.compile(
    r"\b(?:is|was|'s|’s) (?:now )?(in|at|on|from|with|near|under|behind)\b", re.IGNORECASE
)
_LONGEST_VALUE = 4  # items
_SINCE = re.compile(r"\bsince (?:\w+ ){0,2}([12]\d{3})\b", re.IGNORECASE)


def began(text: str) -> int | None:
    """The year since which it holds, where it says so."""
    since = _SINCE.search(text)
    return int(since[1]) if since else None


def is_negated(text: str) -> bool:
    """Whether an odd number of words deny what a text says."""
    return len(_NEGATION.findall(text)) % 2 == 1


def _is_of_now(text: str) -> bool:
    """Whether a statement does not say of itself that it was so once, or would be: "my rent was 700"."""
    return _NOT_NOW.search(text) is None


def is_withdrawal(text: str) -> bool:
    """Whether a statement says that something holds no more, or was wrong."""
    return _WITHDRAWAL.search(text) is not None


def change(old: str, new: str) -> Change:
    """What the new statement does to the old one. All but "withdrawn" hold in both directions.

    Not so where one of them is only thought: what is certain takes its place, and it that of nothing certain.
    """
    before, after = without_doubt(old), without_doubt(new)
    found = _change(before, after)
    if after != new and before == old:
        return "same" if found == "same" else "other"
    if after == new and before != old and (found == "same" or puts_right(before, after)):
        return "value"
    if found == "value" and (since := began(old)) and (from_when := began(new)) and from_when < since:
        return "other"  # told later, and so before: "I've lived in Rome since 2020", "in Bonn since 2010"
    return found


def _change(old: str, new: str) -> Change:
    one, other = content(old), content(new)
    if not one or not other:
        return "other"
    if _is_put_right(old, new) or _is_put_right(new, old):
        return "value"
    related = relation_change(old, new)
    ended = exchange_change(old, new) if related in (None, "other") else None
    if ended is not None:
        return ended
    if related is not None:
        return related
    before, after = set(one) - _SAYS_NOTHING, set(other) - _SAYS_NOTHING
    if is_withdrawal(new) and not is_withdrawal(old):
        left = after - _WITHDRAWING_WORDS
        return "withdrawn" if left and left <= before else "other"
    if is_withdrawal(old) and not is_withdrawal(new):
        left = before - _WITHDRAWING_WORDS
        return "negated" if left and left == after else "other"
    if before == after:
        if (not before and one != other) or are_swapped(old, new):
            return "other"
        return "same" if is_negated(old) == is_negated(new) else "negated"
    if is_negated(old) != is_negated(new):
        return "other"
    if _is_of_now(old) != _is_of_now(new):
        return "other"
    return "value" if _differs_in_value(old, new, one, other) else "other"


def effect(old: str, new: str) -> Change:
    """What a new statement does to the old one, as a whole or by one of its clauses.

    "I take the 7:40 train", "I no longer take the 7:40 train, I take the 8:05"   negated
    """
    whole = change(old, new)
    parts = clauses(new)
    if whole != "other" or len(parts) == 1 or without_doubt(new) != new:
        return whole
    found = [change(old, new[start:end]) for start, end in parts]
    if "value" in found:
        return "value"
    return "negated" if "negated" in found or "withdrawn" in found else "other"


def denies_all(old: str, new: str) -> bool:
    """Whether a withdrawal repeats all that it takes back, and so tells what holds.

    "I am a nurse", "I am not a nurse any more"
    """
    before, after = set(content(old)) - _SAYS_NOTHING, set(content(new)) - _SAYS_NOTHING
    return is_withdrawal(new) and after - _WITHDRAWING_WORDS == before


def puts_right(old: str, new: str, *, admits: bool = False) -> bool:
    """Whether a statement that its user calls a correction gives another value of what the old one says.

    Unlike for `change`, it may be of one of many: "My sister is called Ines", "My sister is called Inez".
    admits: what was said before is called wrong: "That was wrong, I am allergic to hazelnuts".
    """
    if is_negated(old) or is_negated(new):
        return False
    one, other = content(old), content(new)
    if admits and one[:-1] and one[:-1] == other[:-1]:
        return one != other and _OPENS.match(old) is not None and _OPENS.match(new) is not None
    return _differs_in_value(old, new, one, other, is_corrected=True)


_OPENS = re.compile(r"(?:I|We|My|Our|The)\b|[A-ZÀ-Þ]")


def withdrawn_words(new: str) -> set[str]:
    """The content words of a withdrawal that name what holds no more."""
    return set(content(new)) - _SAYS_NOTHING - _WITHDRAWING_WORDS


_LONGEST_CONTRAST = 300  # characters: to look through more takes too long
_WRONG_LAST = re.compile(r"(?P<right>.+?)(?:,| and) not (?P<wrong>[^,;]+?)[.! ]*$", re.IGNORECASE)
_WRONG_FIRST = re.compile(
    r"(?P<head>.+?\b(?:is|are|was|were))(?:n['’]t| not) (?!(?:only|just|merely|simply|so|very|too)\b)"
    r"(?P<how>(?:called|named|in|at|on|for|by|from|with) )?(?P<wrong>[^,;]+?),? but (?:rather |is |(?P=how))?"
    r"(?!(?:i|it|he|she|they|we|you|my|is|are|has|have|still|also|not|very|only|"
    r"quite)\b)(?P<right>[^,;]+?)(?P<stop>[.! ]*)$",
    re.IGNORECASE,
)


def what_holds(text: str) -> str:
    """A statement without what it names as wrong first: "is not called Ada but Grace", less Ada."""
    told = _WRONG_FIRST.match(text) if len(text) <= _LONGEST_CONTRAST else None
    return f"{told['head']} {told['how'] or ''}{told['right']}{told['stop']}" if told else text


def _is_put_right(old: str, new: str) -> bool:
    """Whether the new one names the very value of the old one as wrong: "called Grace, not Ada"."""
    told = (_WRONG_LAST.match(new) or _WRONG_FIRST.match(new)) if len(new) <= _LONGEST_CONTRAST else None
    right = what_holds(new) if told and "how" in told.groupdict() else told and told["right"]
    if not told or not right or is_negated(old) or is_negated(right):
        return False
    before, after = set(content(old)) - _SAYS_NOTHING, set(content(right)) - _SAYS_NOTHING
    wrong = set(content(told["wrong"])) - _SAYS_NOTHING
    is_value = bool(wrong) and 0 < len(after - before) <= _LONGEST_VALUE
    return is_value and before - after == wrong and bool(before & after)


def are_swapped(one: str, other: str) -> bool:
    """Whether two texts hold the same numbers and names in another order: "Ann beat Ben", "Ben beat Ann".

    Where each says what something is, the order says nothing: "Oslo is the capital of Norway".
    """
    first, second = ([item for value in values(text) for item in value.items] for text in (one, other))
    if first == second or sorted(first) != sorted(second):
        return False
    return not (_IS_ONLY.search(one) and _IS_ONLY.search(other))


def _differs_in_value(
    old: str, new: str, one: Sequence[str], other: Sequence[str], *, is_corrected: bool = False
) -> bool:
    before, after = set(one) - _SAYS_NOTHING, set(other) - _SAYS_NOTHING
    gone, come = before - after, after - before
    gone_numbers, come_numbers = _numbers_in(gone), _numbers_in(come)
    frame = before & after
    if not _words_in(frame):
        return False
    if len(gone_numbers) == 1 and len(come_numbers) == 1:
        left = (gone | come) - gone_numbers - come_numbers
        return left <= _OF_A_VALUE and _same_kind(*gone_numbers, *come_numbers)
    if gone_numbers or come_numbers:
        return False
    gone, come = gone - _OF_A_VALUE, come - _OF_A_VALUE
    if not gone or not come or max(len(gone), len(come)) > _LONGEST_VALUE:
        return False
    return (
        _is_last(one, gone)
        and _is_last(other, come)
        and _placed(old) == _placed(new)
        and _has_one_value(old, gone, is_known_which=is_corrected)
        and _has_one_value(new, come, is_known_which=is_corrected)
    )


def _is_last(items: Sequence[str], value: set[str]) -> bool:
    """Whether a value stands together and behind what is said of it."""
    kept = [item for item in items if item not in _SAYS_NOTHING]
    places = [place for place, item in enumerate(kept) if item in value]
    return places[0] > 0 and places[-1] == len(kept) - 1


def _has_one_value(text: str, value: set[str], *, is_known_which: bool) -> bool:
    """Whether a statement gives something that has one value at a time: "my boss is", "born in".

    is_known_which: of many it is told which is meant.
    """
    if _ONE_VALUED.search(text):
        return True
    is_at = _IS.search(text)
    if is_at is None or not _DEFINITE.match(text):
        return False
    subject, said = text[: is_at.start()], text[is_at.end() :]
    if MANY_OF_THEM.search(subject) and not is_known_which:
        return False
    if _SLOT.search(subject):
        return not says_how_it_is(said.strip())
    if says_which_people(said.strip()):
        return False
    return value <= {item for name in names(said) for item in name.items}


def _placed(text: str) -> str:
    """The preposition directly behind "is": "my boss is in Rome" says nothing of who it is."""
    behind = _IS_PLACED.search(text)
    return behind[1].lower() if behind else ""


def _same_kind(one: str, other: str) -> bool:
    """Whether two numbers can stand for each other: two times, two ordinals, two plain ones."""
    return re.sub(r"[\d.]+", "0", one) == re.sub(r"[\d.]+", "0", other)


def _numbers_in(items: set[str]) -> set[str]:
    return {item for item in items if item.startswith("#")}


def _words_in(items: set[str]) -> set[str]:
    return {item for item in items if not item.startswith("#")}
