"""What was told or shown before, as far as a statement is understood from it.

    "My locker code is 4213."   "I meant 4231."         ->  "My locker code is 4231."
    "We meet Ben on Monday."    "Sorry, on Tuesday."    ->  "We meet Ben on Tuesday."

The right words take the place of those that look like them: a number's of a number, a day's of a day, a
name's of a name. Where several look so, the one that differs by a slip is meant; in doubt, none is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.claim_interfaces import Said
from agents.claim_rules.corrections import right_words
from agents.claim_rules.requests import asks_to_forget
from agents.claim_rules.speaker import is_of_the_user
from agents.claim_rules.statements import stated_in
from agents.clause_slips import with_clause_put_right
from agents.interfaces import Exchange
from agents.joined_clauses import apart
from agents.names_put_right import is_person_for_a_place, name_put_right
from agents.pointed_to import standalone
from agents.relations.comparison import relations
from agents.sentences import is_question, sentences
from agents.slips import without_slip
from agents.value_changes import change
from agents.values import content
from agents.word_places import LONGEST_READ, SLIP, ways_to_put

_LOOKED_BACK = 3  # earlier exchanges
_LOOKED_BACK_FOR_WORDS = 6  # earlier exchanges, for the words that are called wrong


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
        return when_put_right(sentence, before, earlier)
    meant = apart(before) if before else told_last(earlier)
    put = _put_into(meant, sentence)
    if told.is_sure and not told.wrong:
        others = [*(each.message for each in earlier), *known]
        if put is None:
            put = name_put_right(meant, told.right, others)
        elif is_person_for_a_place(put, told.right, others):
            put = None
    if put is None and told.wrong and not before:
        put = _put_into(_told_of(told.wrong, earlier) or _known_with(told.wrong, known), sentence)
    return put


_SAYS_ANEW = re.compile(
    r"\W*(?:(?:oh|no|oops|whoops|wait|ah|sorry|pardon|well)\W+)*(?:i mean(?:t)?(?: to say)?(?: that)?|"
    r"correction|my (?:bad|mistake)|(?:that|this|it) was wrong|i was wrong)\W+(?P<clause>.+)$",
    re.IGNORECASE,
)


def clause_put_right(sentence: str, before: str, earlier: Sequence[Exchange]) -> str | None:
    """What was told last, with the clause that a correction says anew; None where that is not certain.

    "My cat is 5 and my dog is 4."  "Sorry, I mean my dog is 3."  ->  "My cat is 5 and my dog is 3."
    """
    said = _SAYS_ANEW.match(sentence) if len(sentence) <= LONGEST_READ else None
    if said is None:
        return None
    told = apart(before) if before else told_last(earlier)
    joined = [f"{old.rstrip('.! ')}, I mean {said['clause'].rstrip('.! ')}." for old in told]
    found = [put for each in joined if (put := with_clause_put_right(each)) != each]
    return found[0] if len(found) == 1 else None


_SAYS_WHEN = re.compile(
    r"\W*(?:(?:oh|ah|no|nope|oops|wait|sorry|actually)\b\W+)+(?:the|my|our) (?P<of>[\w' -]+?)"
    r"(?: is|'s) (?P<right>(?:on|at) [\w:.]+(?: [ap]m)?)[.! ]*$",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"(?:the|my|our) (?P<of>[\w' -]+?) (?:is|are|starts|begins|leaves) ", re.IGNORECASE)


def when_put_right(sentence: str, before: str, earlier: Sequence[Exchange]) -> str | None:
    """What was told last to be at a time, with the right one; None where that is not certain.

    "My dentist appointment is on Tuesday at 3."  "No, the dentist is on Thursday."
    It may be named by some of its words. before, earlier: as for `put_right`.
    """
    plain = sentence.replace("’", "'")
    said = _SAYS_WHEN.match(plain) if len(plain) <= LONGEST_READ else None
    wanted = set(content(said["of"])) if said else set()
    if said is None or not wanted:
        return None
    meant = [
        old
        for old in (apart(before) if before else told_last(earlier))
        if len(old) <= LONGEST_READ and (named := _SUBJECT.match(old)) and wanted <= set(content(named["of"]))
    ]
    return _put_into(meant, f"No, {said['right']}") if len(meant) == 1 else None


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
    read = [old for old in said if len(old) <= LONGEST_READ and not _names(old, told.right)]
    found = [put for old in read for put in ways_to_put(old, told.right, told.wrong)]
    if len(found) > 1 or not told.is_sure:
        found = [one for one in found if one.likeness >= SLIP]
        best = max((one.likeness for one in found), default=0.0)
        found = [one for one in found if one.likeness == best]
    return found[0].text if len(found) == 1 else None


def _names(old: str, right: str) -> bool:
    """Whether a statement holds the very name that is said to be right."""
    return right[:1].isupper() and _holds(old, right)


def told_last(earlier: Sequence[Exchange]) -> list[str]:
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
        found += [(sentence, each) for each in apart(text)] if text else []
    return found
