"""A message becomes a query that can be understood alone.

    "When does the reading room open on Saturdays?"
    "and on Sundays?"   ->   "When does the reading room open on Sundays?"
    "Who runs it?"      ->   "When does the reading room open on Saturdays? Who runs it?"
    "can you read PDF?" ->   "can Vouch read PDF?"

Done by rule, in microseconds: a model asked to rewrite would stand between the message and its answer.
Where no rule applies with certainty, the earlier question is put before the message, which finds the
right passages though it reads badly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.interfaces import AugmentedQuery, Exchange
from agents.naming_vouch import with_its_name
from agents.sentences import MISSPELT
from stores.lexical import tokens

_OPENING = re.compile(
    r"^(?:(?:and|but|so|or|also|then|ok(?:ay)?|well)[\s,]+)*(?:(?:what|how)\s+about\b|and\b|also\b|but\b|or\b)[\s,]*",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"\b(it|its|they|them|their|theirs|he|him|his|she|her|hers|"
    r"the same|the other|the latter|the former)\b|\b(that|those|this|these|one|ones|then|there)\b(?=\W*$)",
    re.IGNORECASE,
)
_PERSON_OR_THING = re.compile(r"\b(it|they|them|he|him|she)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b(its|their|his|her)\b(?=\s+\w)", re.IGNORECASE)
_PREPOSITIONS = (
    "on in at for from to with without during before after under by near of about until since between over "
    "against within per via".split()
)
_NAME = re.compile(r"(?:[A-Z][\w'’.-]*)(?:\s+(?:(?:of|the|de|van|von|and)\s+)*[A-Z][\w'’.-]*)*")
_DATES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays "
    "saturdays sundays january february march april may june july august september october november "
    "december".split()
)  # written like names, but nobody says "it" of them
_FRAGMENT_WORDS = 6  # a message of more words says what it is about
_POOR_IN_WORDS = 2  # a pointing message with more words of its own is searched better alone
_QUESTION_WORD = re.compile(
    r"^(who|what|when|where|why|which|how|whose|is|are|was|were|do|does|did|can|could|will|would|should|has|"
    r"have|tell|show|explain|list)\b",
    re.IGNORECASE,
)


class QueryAugmenter:
    """Completes a follow-up from the recent turns."""

    def augment(self, message: str, recent: Sequence[Exchange]) -> AugmentedQuery:
        """The query to search with. recent: earlier exchanges, oldest first."""
        first = message.split(maxsplit=1)[0] if message.strip() else ""
        if (spelt := MISSPELT.get(first.lower())) is not None:
            query = self.augment(message.replace(first, spelt, 1), recent)
            return AugmentedQuery(query.text, "standalone", (f"{first!r} is {spelt!r}", *query.reasons))
        if (of_vouch := with_its_name(message, is_first=not recent)) != message:
            return AugmentedQuery(of_vouch, "standalone", ("asks about the assistant",))
        if not recent:
            return AugmentedQuery(message, "original")
        before = recent[-1].standalone or recent[-1].message
        fragment = _OPENING.sub("", message, count=1).strip()
        is_continuation = fragment != message.strip()

        if fragment and (is_continuation or _is_bare(message)) and not _QUESTION_WORD.match(fragment):
            if completed := _same_question_elsewhere(before, fragment) or _same_question_of(before, fragment):
                return AugmentedQuery(completed, "standalone", (f"continues {before!r}",))
            return AugmentedQuery(f"{before} {message}", "standalone", (f"continues {before!r}",))
        if _points_back(message):
            if (name := _last_name(before)) and (named := _with_name(message, name)):
                return AugmentedQuery(named, "standalone", (f"{name!r} from {before!r}",))
            if len(set(tokens(message))) <= _POOR_IN_WORDS:
                return AugmentedQuery(f"{before} {message}", "standalone", (f"points back to {before!r}",))
        return AugmentedQuery(message, "original")


def _is_bare(message: str) -> bool:
    """A prepositional phrase and nothing else: "on Sundays?"."""
    words = message.lower().rstrip("?!. ").split()
    return (
        bool(words)
        and len(words) <= _FRAGMENT_WORDS
        and words[0] in _PREPOSITIONS
        and message.rstrip().endswith("?")
    )


def _same_question_elsewhere(before: str, fragment: str) -> str | None:
    """The earlier question with its last phrase of the same preposition replaced; None if there is none."""
    words = fragment.rstrip("?!. ").split()
    if not words or words[0].lower() not in _PREPOSITIONS or len(words) > _FRAGMENT_WORDS:
        return None
    phrase = list(re.finditer(rf"\b{re.escape(words[0])}\b", before, re.IGNORECASE))
    if not phrase or phrase[-1].start() == 0:
        return None
    return f"{before[: phrase[-1].start()]}{' '.join(words)}?"


def _same_question_of(before: str, fragment: str) -> str | None:
    """The earlier question with its last name replaced by the one that is all of the fragment."""
    name, last = fragment.rstrip("?!. "), _last_name(before)
    if last is None or not _NAME.fullmatch(name):
        return None
    start = before.rindex(last)
    return before[:start] + name + before[start + len(last) :]


def _points_back(message: str) -> bool:
    """A short question with a pointer and no name of its own: "who runs it?"."""
    words = message.split()
    without_first = " ".join(words[1:])
    return (
        len(words) <= 12
        and _POINTER.search(message) is not None
        and not _NAME.search(without_first.replace(" I ", " "))
        and (message.rstrip().endswith("?") or _QUESTION_WORD.match(message) is not None)
    )


def _last_name(before: str) -> str | None:
    names = [match.group().rstrip(".?!") for match in _NAME.finditer(before) if match.start() > 0]
    names = [name for name in names if name.lower() not in _DATES and name != "I"]
    return names[-1] if names else None


def _with_name(message: str, name: str) -> str | None:
    """The message with its pointer replaced by the name; None if it has none that a name can stand for."""
    if _POSSESSIVE.search(message):
        return _POSSESSIVE.sub(lambda _: f"{name}'s", message, count=1)
    if _PERSON_OR_THING.search(message):
        return _PERSON_OR_THING.sub(lambda _: name, message, count=1)
    return None
