"""A question and its answer turned into a statement: "Who wrote Emma?", "Jane Austen".

By rules over the word order of English questions. What no rule is sure of gives no statement: about
half of SQuAD's questions are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from training.templates.english_forms import (
    ADVERBS,
    AUXILIARIES,
    BE,
    DETERMINERS,
    DO,
    PREDICATE_ADJECTIVES,
    PREPOSITIONS,
    is_finite,
    is_participle,
)
from training.templates.word_order import (
    declarative,
    has_split,
    is_noun_phrase,
    starts_predicate,
)

_LONGEST_ANSWER = 9  # words
_LONGEST_STATEMENT = 32
_WH = frozenset("who whom whose what which when where why how what's who's".split())
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_YEAR = re.compile(r"(?:c\. ?)?\d{3,4}(?: (?:BC|BCE|AD|CE))?$")
_DAY = re.compile(rf"(?:(?:{_MONTH}) \d{{1,2}}\b|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTH}))")
_PERIOD = re.compile(
    rf"(?:the )?(?:{_MONTH}|(?:early |late |mid-?)*\d{{3,4}}s|\w+ century|spring|summer|autumn|winter)", re.I
)
_NUMBER = re.compile(
    r"(?:(?:about|over|nearly|almost|approximately|around|more than|less than|at least|up to) )*"
    r"(?:[\d$£€]|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds|thousands|several)\b)",
    re.I,
)
_OPENS_PLACE = frozenset(
    "in on at near under between outside inside along around to from by off across".split()
)


@dataclass(frozen=True)
class Statement:
    """A statement that has its answer as one piece: `before` + answer + `after`."""

    before: str
    answer: str
    after: str

    @property
    def text(self) -> str:
        """The sentence, with its full stop."""
        return self.with_answer(self.answer)

    def with_answer(self, answer: str) -> str:
        """The same said of another answer."""
        said = self.within_sentence(answer)
        return said[0].upper() + said[1:] + "."

    def within_sentence(self, answer: str) -> str:
        """The same as it stands after other words: "I think the Rhine is long"."""
        said = " ".join(part for part in (self.before, _inside(answer), self.after) if part)
        return said.replace(" ,", ",")


def statement(question: str, answer: str) -> Statement | None:
    """The statement that answers the question, or None where the rules are not sure."""
    words = re.sub(r",(?!\d)", " , ", question).strip(" ?.!").split()
    answer = answer.strip(" .,;:'\"")
    if not 3 <= len(words) <= _LONGEST_STATEMENT or not 0 < len(answer.split()) <= _LONGEST_ANSWER:
        return None
    if answer.split()[0] in AUXILIARIES or (words[-2].lower() == "to" and words[-1].lower() == "do"):
        return None
    if re.search(r"[;:()\[\]\"?!]", answer) or re.search(r"[;:()\[\]\"]", question):
        return None
    made = _by_opening(words, answer)
    if made is None or set(made.text.lower().split()) & (_WH - {"which", "who", "when", "where"}):
        return None
    return made


def _by_opening(words: list[str], answer: str) -> Statement | None:
    first, second = words[0].lower(), words[1].lower()
    if first not in _WH:
        if first in PREPOSITIONS and second in ("what", "which"):
            return _asked_after_preposition(words, answer)
        return _asked_in_place(words, answer)
    if first == "when":
        return _asked_of_time(words[1:], answer)
    if first == "what" and second in ("year", "date", "month", "day", "century", "decade"):
        return _asked_of_time(words[2:], answer)
    if first == "where":
        return _asked_of_place(words[1:], answer)
    if first == "how":
        return _asked_of_number(words, answer)
    if first in ("who", "what", "which"):
        return _asked_of_thing(words, answer)
    return None


def _asked_in_place(words: list[str], answer: str) -> Statement | None:
    """The earthquake struck in what year?"""
    places = [i for i, word in enumerate(words) if word.lower() in _WH]
    if len(places) != 1 or words[places[0]].lower() not in ("what", "which", "who", "whom", "how"):
        return None
    place = places[0]
    asked = [word.lower() for word in words[place + 1 :]]
    if (
        place < 3
        or words[place - 1] == "do"
        or len(asked) > 3
        or not is_noun_phrase(asked)
        or words[place - 1] == ","
    ):
        return None
    if {"kind", "type", "sort", "form", "did", "other"} & set(asked):
        return None
    if words[place].lower() == "how":
        if not asked or asked[0] != "many":
            return None
        answer = _counted(answer, asked[1:])
    return Statement(" ".join(words[:place]), _without_preposition(_inside(answer), words[place - 1]), "")


def _asked_after_preposition(words: list[str], answer: str) -> Statement | None:
    """In what year did it strike?"""
    at = next((i for i, word in enumerate(words[2:7], 2) if word in AUXILIARIES), None)
    if at is None or at < 3:
        return None
    said = declarative(words[at], words[at + 1 :])
    if said is None or _opens_with_preposition(answer) or (said[1] and said[1][-1] in PREPOSITIONS):
        return None
    preposition = words[0].lower()
    answer = _period(answer, words[2])
    if preposition == "in" and _DAY.match(answer):
        preposition = "on"
    return Statement(" ".join([*said[0], *said[1], preposition]), _inside(answer), "")


def _asked_of_time(words: list[str], answer: str) -> Statement | None:
    """When was it founded?"""
    said = declarative(words[0], words[1:]) if len(words) > 2 else None
    if said is None:
        return None
    clause = " ".join([*said[0], *said[1]])
    if _opens_with_preposition(answer):
        return Statement(clause, _inside(answer), "")
    answer = _period(answer, "")
    if _DAY.match(answer):
        return Statement(f"{clause} on", answer, "")
    if _YEAR.match(answer) or _PERIOD.match(answer):
        if said[1] and said[1][-1] in ("in", "on", "during"):
            return Statement(clause, _inside(answer), "")
        return Statement(f"{clause} in", _inside(answer), "")
    return None


def _asked_of_place(words: list[str], answer: str) -> Statement | None:
    """Where was she born?"""
    said = declarative(words[0], words[1:]) if len(words) > 1 else None
    if said is None or said[0][-1] in ("went", "go", "came", "moved"):
        return None
    clause = " ".join([*said[0], *said[1]])
    if answer.split()[0].lower() in _OPENS_PLACE:
        return Statement(clause, _inside(answer), "")
    if said[1] and said[1][-1] in PREPOSITIONS:
        return Statement(clause, _inside(answer), "")
    return Statement(f"{clause} in", _inside(answer), "") if answer[0].isupper() else None


def _asked_of_number(words: list[str], answer: str) -> Statement | None:
    """How many people live there?"""
    if words[1] != "many" or not _NUMBER.match(answer):
        return None
    at = next(
        (
            i
            for i, w in enumerate(words[3:8], 3)
            if w in AUXILIARIES or is_finite(w) or w in ("live", "speak")
        ),
        None,
    )
    if at is None or (not is_noun_phrase(words[2:at]) and "of" not in words[2:at]):
        return None
    counted = _counted(answer, words[2:at])
    if words[at : at + 2] in (["are", "there"], ["were", "there"]):
        return Statement(f"there {words[at]}", counted, " ".join(words[at + 2 :]))
    if words[at] in DO:
        said = declarative(words[at], words[at + 1 :])
        return _with_object(said, counted)
    if words[at] in AUXILIARIES and not (len(words) > at + 1 and starts_predicate(words[at + 1 :])):
        return None
    return Statement("", counted, " ".join(words[at:]))


def _asked_of_thing(words: list[str], answer: str) -> Statement | None:
    """Who wrote it? What is its capital? Which city was destroyed?"""
    if words[0].lower() in ("who", "what") and (words[1] in AUXILIARIES or is_finite(words[1])):
        at = 1
    else:
        at = next((i for i, word in enumerate(words[2:6], 2) if word in AUXILIARIES or is_finite(word)), 0)
        asked = [word.lower() for word in words[1:at]]
        if (
            not at
            or set(words[at + 1 : at + 5]) & DO
            or not is_noun_phrase(asked)
            or {"kind", "type", "sort", "form", "percentage"} & set(asked)
        ):
            return None
    verb, rest = words[at], words[at + 1 :]
    if not rest:
        return None
    if verb in DO:
        return _with_object(declarative(verb, rest), answer)
    if any(is_finite(word) for word in answer.split()):
        return None
    if verb not in AUXILIARIES:
        return Statement("", answer, " ".join(words[at:]))
    if verb in BE and at == 1 and not starts_predicate(rest):
        return _identity(verb, rest, answer)
    if starts_predicate(rest) or (at > 1 and rest[0] in DETERMINERS and not has_split(rest)):
        return Statement("", answer, " ".join(words[at:]))
    return None


def _identity(verb: str, rest: list[str], answer: str) -> Statement | None:
    """What is the capital of France? What was the earthquake named?"""
    split = next((i for i, word in enumerate(rest) if i and is_participle(word)), None)
    ends_open = split is not None and (
        split == len(rest) - 1 or all(w in PREPOSITIONS for w in rest[split + 1 :])
    )
    if ends_open and split is not None:
        start = split - 1 if rest[split - 1] in ADVERBS or rest[split - 1].endswith("ly") else split
        if start < 1:
            return None
        return Statement(" ".join([*rest[:start], verb, *rest[start:]]), _inside(answer), "")
    if rest[-1].lower() in PREPOSITIONS | ADVERBS or rest[-1] in PREDICATE_ADJECTIVES:
        return None
    if split is not None and not (rest[0].lower() == "the" and "of" in rest[:split]):
        return None
    if len(rest) == 1 and answer[0].isupper():
        return None
    if not (rest[0].lower() in DETERMINERS or rest[0][0].isupper()):
        return None
    return Statement(" ".join([*rest, verb]), _inside(answer), "")


def _with_object(said: tuple[list[str], list[str]] | None, answer: str) -> Statement | None:
    """The answer behind the verb, or behind a preposition left over at the end."""
    if said is None:
        return None
    head, tail = said
    answer = _inside(answer)
    if tail and tail[-1].lower() in PREPOSITIONS:
        return Statement(" ".join([*head, *tail]), _without_preposition(answer, tail[-1]), "")
    if tail and tail[0].lower() not in PREPOSITIONS:
        return None
    if answer.split()[0] in PREPOSITIONS or head[-1] in ("did", "does", "do", "happened", "occurred"):
        return None
    return Statement(" ".join(head), answer, " ".join(tail))


def _counted(answer: str, noun: Sequence[str]) -> str:
    """The number with what is counted, said once: "69,197 people"."""
    said = answer.lower().split()
    return answer if not noun or any(word.lower() in said for word in noun) else f"{answer} {' '.join(noun)}"


def _period(answer: str, noun: str) -> str:
    """A century or a decade as it is said: "the 18th century", "the 1960s"."""
    if noun == "century" and re.fullmatch(r"\d+(?:st|nd|rd|th)", answer):
        return f"the {answer} century"
    return (
        f"the {answer}"
        if re.fullmatch(r"(?:(?:early|late|mid)[ -])?(?:\d{3,4}s|\w+ century)", answer)
        else answer
    )


def _inside(answer: str) -> str:
    """The answer as it stands within a sentence."""
    opening, _, rest = answer.partition(" ")
    return f"{opening.lower()} {rest}" if rest and opening in ("The", "A", "An", "In", "On", "At") else answer


def _without_preposition(answer: str, before: str) -> str:
    opening, _, rest = answer.partition(" ")
    return rest if rest and opening.lower() == before.lower() else answer


def _opens_with_preposition(answer: str) -> bool:
    return answer.split()[0].lower() in PREPOSITIONS
