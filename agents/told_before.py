"""What was told or shown before, as far as a statement is understood from it.

    "My locker code is 4213."   "I meant 4231."         ->  "My locker code is 4231."
    "We meet Ben on Monday."    "Sorry, on Tuesday."    ->  "We meet Ben on Tuesday."

The right words take the place of those that look like them: a number's of a number, a day's of a day, a
name's of a name. Where several look so, the one that differs by a slip is meant; in doubt, none is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from agents.claim_rules.corrections import right_words
from agents.claim_rules.requests import asks_to_forget
from agents.claim_rules.speaker import is_of_the_user
from agents.interfaces import Exchange, Said
from agents.relations.comparison import relations
from agents.sentences import is_question, sentences
from agents.value_changes import change
from agents.values import content, numbers

_LOOKED_BACK = 3  # earlier exchanges
_SLIP = 0.6  # likeness from which one word is a slip of another
_MOST_WORDS = 6  # of a value
_OPENS_WORDS = re.compile(r"(?:in|on|at|to|for|from|by|the|an?) ", re.IGNORECASE)
_WORD = re.compile(r"[^\s,;!?()\"]*[^\s,;!?()\".]")
_MONTHS = "january february march april may june july august september october november december".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()


def tells_anew(text: str, said: Said) -> bool:
    """Whether a statement of the user tells what holds now, though its words were shown before.

    It does where another value was told or shown since, and where what was shown gives no value:
    "I moved to Rome" after "I am moving to Rome".
    """
    if not is_of_the_user(text):
        return False
    told = [exchange.message for exchange in said.earlier]
    known = [each.text for known in (*said.recalled, *told) for each in sentences(known)]
    if any(change(each, text) == "value" for each in known):
        return True
    given = [(one.of, one.name, one.value) for one in relations(text) if not one.over]
    shown = {(one.of, one.name, one.value) for each in known for one in relations(each)}
    return bool(given) and shown.isdisjoint(given)


def put_right(sentence: str, before: str, earlier: Sequence[Exchange]) -> str | None:
    """The statement that a correction makes of what its user told last; None where that is not certain.

    before: the sentence before it in the message. earlier: oldest first; looked at where there is no such
    sentence. What was told before the last question is meant only where the answer to that repeats it.
    """
    if right_words(sentence) is None:
        return None
    return _put_into([before] if before else _told_last(earlier), sentence)


def _put_into(said: Sequence[str], sentence: str) -> str | None:
    """The one of these statements that a correction can mean, put right."""
    told = right_words(sentence)
    if told is None:
        return None
    found = [put for old in said for put in _put(old, told.right, told.wrong)]
    if len(found) > 1 or not told.is_sure:
        found = [one for one in found if one.likeness >= _SLIP]
        best = max((one.likeness for one in found), default=0.0)
        found = [one for one in found if one.likeness == best]
    return found[0].text if len(found) == 1 else None


def _told_last(earlier: Sequence[Exchange]) -> list[str]:
    """The sentences of the last message that told something, if a correction can still mean it."""
    answers: list[str] = []
    corrected: list[str] = []  # latest first
    for exchange in reversed(earlier[-_LOOKED_BACK:]):
        told = [
            each.text
            for each in sentences(exchange.message)
            if not is_question(each.text) and not asks_to_forget(each.text)
            if len(each.text.split()) > 1
        ]
        if any(right_words(each) for each in told):
            corrected.append(told[-1])
        elif told:
            meant = [each for each in told if not answers or each in answers[0]]
            for sentence in reversed(corrected):
                meant = [_put_into(meant, sentence) or ""]
            return meant
        else:
            answers.append(exchange.answer)
    return []


class _Put(NamedTuple):
    text: str
    likeness: float  # of the words put in and those they take the place of, 0 to 1


class _Part(NamedTuple):
    """A word, or a name of several, where it stands."""

    start: int
    end: int
    text: str
    looks: str  # what it can be exchanged for: "number", "name"; a plain word only for itself


def _put(old: str, right: str, wrong: str) -> Iterator[_Put]:
    """Each way to put the right words into a statement, in place of others than they are."""
    if wrong:
        found = [m.span() for m in re.finditer(rf"(?<!\w){re.escape(wrong)}(?!\w)", old, re.IGNORECASE)]
        if len(found) == 1 and right.lower() not in old.lower():
            yield _replaced(old, *found[0], right)
        return
    ways = [right, _OPENS_WORDS.sub("", right, count=1)] if _OPENS_WORDS.match(right) else [right]
    for words in ways:
        if windows := list(_windows(old, words)):
            yield from windows
            return
    value = _last_value(old)
    if value is not None and _is_of_plain_words(right) and _is_of_plain_words(old[slice(*value)]):
        yield _replaced(old, *value, right)


def _is_of_plain_words(text: str) -> bool:
    return all(part.looks == part.text.lower() for part in _parts(text))


def _windows(old: str, right: str) -> Iterator[_Put]:
    wanted, there = _parts(right), _parts(old)
    for at in range(len(there) - len(wanted) + 1):
        window = there[at : at + len(wanted)]
        looks_alike = all(one.looks == other.looks for one, other in zip(wanted, window, strict=True))
        is_slip = len(wanted) == 1 and wanted[0].looks == wanted[0].text and _is_slip(wanted[0], window[0])
        is_same = [one.text.lower() for one in wanted] == [other.text.lower() for other in window]
        if (looks_alike or is_slip) and not is_same and (at > 0 or window[0].looks != "name"):
            yield _replaced(old, window[0].start, window[-1].end, right)


def _is_slip(one: _Part, other: _Part) -> bool:
    return len(one.text) > 3 and other.looks == other.text and _likeness(one.text, other.text) >= 0.75


def _replaced(old: str, start: int, end: int, right: str) -> _Put:
    return _Put(f"{old[:start]}{right}{old[end:]}", _likeness(right, old[start:end]))


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold()).ratio()


def _parts(text: str) -> list[_Part]:
    found: list[_Part] = []
    for match in _WORD.finditer(text):
        part = _Part(match.start(), match.end(), match[0], _looks(match[0]))
        last = found[-1] if found else None
        if last and last.looks == part.looks == "name" and text[last.end : part.start] in (" ", ". "):
            found[-1] = _Part(last.start, part.end, text[last.start : part.end], "name")
        else:
            found.append(part)
    return found


def _looks(word: str) -> str:
    plain = word.casefold()
    if plain in _MONTHS or plain in _WEEKDAYS:
        return "month" if plain in _MONTHS else "weekday"
    if "@" in word:
        return "mail address"
    if re.fullmatch(r"\d{1,2}[:.]\d{2}|\d{1,2}(?::\d{2})?[ap]m", plain):
        return "time"
    counted = numbers(word)
    if counted and (counted[0].start, counted[0].end) == (0, len(word)):
        return "ordinal" if counted[0].items[0].endswith(".") else "number"
    if any(character.isdigit() for character in word):
        return "code"
    is_name = word[0].isupper() and content(word) != [] and plain not in ("i", "i'm", "i've", "i'll", "i'd")
    return "name" if is_name else plain


def _last_value(old: str) -> tuple[int, int] | None:
    """Where the value of a statement stands that gives one value and ends with it."""
    given, parts = relations(old), _parts(old)
    for count in range(1, min(_MOST_WORDS, len(parts) - 1) + 1) if len(given) == 1 else ():
        start, end = parts[-count].start, parts[-1].end
        if frozenset(content(old[start:end])) == given[0].value:
            return start, end
    return None
