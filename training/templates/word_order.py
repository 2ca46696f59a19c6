"""The word order of English questions: where the subject ends and what is said of it begins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from training.templates.english_forms import (
    ADVERBS,
    ALSO_NOUNS,
    AUXILIARIES,
    BE,
    DETERMINERS,
    DO,
    MODALS,
    PAST,
    PREDICATE_ADJECTIVES,
    PREPOSITIONS,
    THIRD,
    is_base_form,
    is_participle,
)


def declarative(auxiliary: str, rest: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Subject and verb in the order of a statement, and what follows the verb."""
    least = 2 if rest and rest[0].lower() in DETERMINERS else 1
    if auxiliary in DO:
        return _with_main_verb(auxiliary, rest, least)
    if auxiliary not in AUXILIARIES:
        return None
    fits = is_participle if auxiliary not in MODALS else is_base_form
    found = [
        i
        for i, w in enumerate(rest)
        if i >= least and (fits(w) or (auxiliary in BE and w in PREDICATE_ADJECTIVES))
    ]
    if not found or (len(found) > 1 and fits is is_participle):
        return None
    at = found[0]
    start = at
    while start > least and (rest[start - 1] in ADVERBS or rest[start - 1].endswith("ly")):
        start -= 1
    if rest[start - 1].lower() in PREPOSITIONS | DETERMINERS | {"and"}:
        return None
    return [*rest[:start], auxiliary, *rest[start : at + 1]], list(rest[at + 1 :])


def _with_main_verb(auxiliary: str, rest: Sequence[str], least: int) -> tuple[list[str], list[str]] | None:
    at = next((i for i, word in enumerate(rest) if i >= least and is_base_form(word)), None)
    if at is None:
        return None
    if rest[at] in ALSO_NOUNS and at + 1 < len(rest) and is_base_form(rest[at + 1]):
        at += 1  # "did the TV show air": the second is the verb
    subject = list(rest[:at])
    if subject[-1].lower() in PREPOSITIONS | DETERMINERS | {"and", "or", "not"}:
        return None
    if set(subject) & (PREPOSITIONS - {"of", "in", "for", "at", "on", "with", "from", "between", "within"}):
        return None
    verb = rest[at]
    if auxiliary == "did":
        verb = PAST[verb]
    elif auxiliary == "does":
        verb = THIRD[verb]
    return [*subject, verb], list(rest[at + 1 :])


def starts_predicate(rest: Sequence[str]) -> bool:
    """Whether the words after an auxiliary say something of a subject that stood before it."""
    at = next((i for i, w in enumerate(rest) if not (w in ADVERBS or w.endswith("ly"))), None)
    if at is None:
        return False
    return is_participle(rest[at]) or rest[at] in PREDICATE_ADJECTIVES or rest[at] == "been"


def has_split(rest: Sequence[str]) -> bool:
    """Whether a subject of its own seems to stand in the words after an auxiliary."""
    hanging = any(a in PREPOSITIONS and b in PREPOSITIONS for a, b in pairwise(rest))
    return hanging or rest[-1].lower() in PREPOSITIONS or any(is_participle(word) for word in rest)


def is_noun_phrase(words: Sequence[str]) -> bool:
    """Whether words can name what is asked for: "what record label"."""
    return not any(w.lower() in AUXILIARIES | PREPOSITIONS or w == "," for w in words)
