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
from agents.claim_rules.statements import stated_in
from agents.interfaces import Exchange, Said
from agents.pointed_to import standalone
from agents.relations.comparison import relations
from agents.sentences import is_question, sentences
from agents.value_changes import change
from agents.values import content, numbers

_LOOKED_BACK = 3  # earlier exchanges
_LOOKED_BACK_FOR_WORDS = 6  # earlier exchanges, for the words that are called wrong
_SLIP = 0.6  # likeness from which one word is a slip of another
_MOST_WORDS = 6  # of a value
_LONGEST_READ = 300  # characters of a statement that is put right
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


def meant_by(
    sentence: str, before: str, earlier: Sequence[Exchange], known: Sequence[str] = ()
) -> str | None:
    """What a sentence states that may give the right words alone; None where that is not certain.

    It is what was told last, put right; else what it says itself of something: "No, it was built in 1888."
    """
    if (put := put_right(sentence, before, earlier, known)) is not None:
        return put
    said = stated_in(sentence, as_right_words=False)
    text = standalone(said.text, before, earlier) if said else None
    return text if said and text != said.text else None  # "Wrong window." says nothing of anything


def put_right(
    sentence: str, before: str, earlier: Sequence[Exchange], known: Sequence[str] = ()
) -> str | None:
    """The statement that a correction makes of what its user told last; None where that is not certain.

    One that names the wrong words ("I meant Sirius, not Stella") means what was told with them, if there is
    such a statement: the latest of the session, else the only one that is known of its user.

    before: the sentence before it in the message. earlier: oldest first; looked at where there is no such
    sentence. What was told before the last question is meant only where the answer to that repeats it.
    """
    told = right_words(sentence)
    if told is None:
        return None
    put = _put_into([before] if before else _told_last(earlier), sentence)
    if put is None and told.wrong and not before:
        put = _put_into(_told_of(told.wrong, earlier) or _known_with(told.wrong, known), sentence)
    return put


def _known_with(wrong: str, known: Sequence[str]) -> list[str]:
    """The statement that is known with these words, if there is only one."""
    holding = [text for text in known if _holds(text, wrong)]
    return holding if len(holding) == 1 else []


def _holds(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


def _told_of(wrong: str, earlier: Sequence[Exchange]) -> list[str]:
    """What earlier messages told with these words, which are now called wrong; the latest alone."""
    for place in reversed(range(max(0, len(earlier) - _LOOKED_BACK_FOR_WORDS), len(earlier))):
        told = [each.text for each in sentences(earlier[place].message) if not is_question(each.text)]
        meant = [
            text
            for each, text in _understood(told, earlier[:place])
            if right_words(each) is None and _holds(text, wrong)
        ]
        if meant:
            return meant
    return []


def _put_into(said: Sequence[str], sentence: str) -> str | None:
    """The one of these statements that a correction can mean, put right."""
    told = right_words(sentence)
    if told is None:
        return None
    read = [old for old in said if len(old) <= _LONGEST_READ]
    found = [put for old in read for put in _put(old, told.right, told.wrong)]
    if len(found) > 1 or not told.is_sure:
        found = [one for one in found if one.likeness >= _SLIP]
        best = max((one.likeness for one in found), default=0.0)
        found = [one for one in found if one.likeness == best]
    return found[0].text if len(found) == 1 else None


def _told_last(earlier: Sequence[Exchange]) -> list[str]:
    """The sentences of the last message that told something, if a correction can still mean it."""
    answers: list[str] = []
    corrected: list[str] = []  # latest first
    for place in reversed(range(max(0, len(earlier) - _LOOKED_BACK), len(earlier))):
        exchange = earlier[place]
        told = [
            each.text
            for each in sentences(exchange.message)
            if not is_question(each.text) and not asks_to_forget(each.text)
            if len(each.text.split()) > 1
        ]
        if any(right_words(each) for each in told):
            corrected.append(told[-1])
        elif told:
            understood = _understood(told, earlier[:place])
            meant = [text for each, text in understood if not answers or each in answers[0]]
            for sentence in reversed(corrected):
                meant = [_put_into(meant, sentence) or ""]
            return meant
        else:
            answers.append(exchange.answer)
    return []


def _understood(told: Sequence[str], earlier: Sequence[Exchange]) -> list[tuple[str, str]]:
    """The sentences of an earlier message, each with what it said that can be understood alone."""
    found: list[tuple[str, str]] = []
    before = ""
    for sentence in told:
        stated = stated_in(sentence)
        if stated is None or stated.is_hearsay:
            text: str | None = sentence  # with who says it
        else:
            text = standalone(without_slip(stated.text), before, earlier)
        before = text or sentence
        found += [(sentence, text)] if text else []
    return found


# A slip that is put right in the same sentence: "on 3 May, I mean 4 May"

_BREAK = r"(?:\s*[,;(–—…]+\s*|\s+-+\s+|\s*\.{2,}\s*)"
_SURE_MARK = (
    r"(?:no|nope|oops|whoops|argh|correction|wait|scratch that|i mean(?:t)?(?: to (?:say|write))?|"
    r"or rather|make (?:that|it)|my (?:bad|mistake)|i was wrong)"
)
_UNSURE_MARK = r"(?:sorry|pardon|actually|rather|well|er+m?|um+)"
_SLIP_WITHIN = re.compile(
    rf"(?P<old>[^?]{{3,}}?){_BREAK}(?:and |or |but |oh |ah )?"
    rf"(?P<marks>(?:(?:{_SURE_MARK}|{_UNSURE_MARK})\b[\s,:–—-]*)+)"
    r"(?P<right>(?:[^,;:()?]|(?<=\d):(?=\d))+?)\)?(?P<rest>[,;] [^?]+)?(?P<stop>[.! ]*)$",
    re.IGNORECASE,
)
_SURE = re.compile(rf"(?!no\s*$).*\b{_SURE_MARK}\b", re.IGNORECASE)  # "no 4 May" may count the Mays
_GOES_ON = re.compile(
    r"[,;] (?=(?:is|are|was|were|has|have|will|at|in|on|with|for|to|from|by)\b)", re.IGNORECASE
)


def without_slip(sentence: str) -> str:
    """A sentence in which its user corrects themselves, as it is meant: with the right words alone.

    "The meeting is on 3 May, I mean 4 May." It stays as it is where that is not certain.
    """
    said = _SLIP_WITHIN.match(sentence) if len(sentence) <= _LONGEST_READ else None
    if said is None or right_words(f"I mean {said['right']}") is None:
        return sentence
    put = _put_last(said["old"], said["right"].strip(), is_sure=_SURE.match(said["marks"]) is not None)
    if put is None:
        return sentence
    rest = _GOES_ON.sub(" ", said["rest"] or "", count=1)
    return without_slip(f"{put}{rest}{said['stop']}")


def _put_last(old: str, right: str, *, is_sure: bool) -> str | None:
    """The right words in the place of the last ones that look like them; None where none do.

    What follows the right words goes with them: "on 3 May, no, 4 May at noon". Where one may be spoken to
    ("Sorry, Anna"), a name takes the place only of one that it is a slip of.
    """
    parts = _parts(right)
    for count in range(len(parts), 0, -1):
        words, more = right[: parts[count - 1].end], right[parts[count - 1].end :]
        ways = [words, _OPENS_WORDS.sub("", words, count=1)] if _OPENS_WORDS.match(words) else [words]
        found = [put for way in ways for put in _windows(old, way)]
        if more:
            found = [put for put in found if put.text.endswith(words)]
        if not is_sure and all(part.looks == "name" for part in _parts(words)):
            found = [put for put in found if put.likeness >= _SLIP]
        if found:
            return found[-1].text + more
    return next((put.text for put in _put(old, right, "")), None) if is_sure else None


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
