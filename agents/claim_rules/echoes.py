"""What only repeats what the user was shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from agents.bindings import is_bound_otherwise
from agents.claim_interfaces import Said
from agents.claim_rules.distinctions import is_negated, names_and_numbers
from agents.claim_rules.own_part import plain_text
from agents.claim_rules.speaker import is_of_the_user
from agents.interfaces import Exchange
from agents.sentences import sentences
from stores.lexical import tokens

_REPEATED = 0.8  # share of the content words that make a repetition of what was shown before
_TO_PERSON = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Ww]e|[Oo]ur|us|[Yy]ou|[Yy]ours?)\b")


class ShownSentence(NamedTuple):
    """A sentence that was put before the user."""

    text: str
    tokens: tuple[str, ...]
    is_negated: bool
    is_to_person: bool  # somebody speaks in it or is spoken to


class Shown(NamedTuple):
    """Two sentences in a row that were put before the user."""

    stems: frozenset[str]
    named: frozenset[str]
    sentences: tuple[ShownSentence, ...]


class Echoes:
    """Knows what the user was shown, and tells what only repeats it.

    The answer to the message itself is none of it: it was written after the message, and often repeats what
    the user said.
    """

    def __init__(self, said: Said) -> None:
        self._undone = {tuple(tokens(text)) for text in said.undone}
        texts = [*said.recalled, *(exchange.answer for exchange in said.earlier)]
        self._shown = [shown for text in texts for shown in _shown(text)]

    def repeats(self, text: str) -> bool:
        """Whether most of a statement was shown and nothing differs: no number, no name, no negation.

        What the user says of themselves repeats only what was said of a person who speaks or is spoken to.
        What was learned and taken back since is said anew.
        """
        words, named = tokens(text), names_and_numbers(text)
        if tuple(words) in self._undone:
            return False
        stems = frozenset(words)
        negated, is_own = is_negated(text), is_of_the_user(text)
        for shown in self._shown:
            if not stems or len(stems & shown.stems) < _REPEATED * len(stems) or not named <= shown.named:
                continue
            nearest = max(shown.sentences, key=lambda sentence: len(stems.intersection(sentence.tokens)))
            if (
                nearest.is_negated == negated
                and (nearest.is_to_person or not is_own)
                and not _puts_another_word(words, nearest.tokens, shown.stems)
                and not is_bound_otherwise(text, nearest.text)
            ):
                return True
        return False


def _puts_another_word(words: Sequence[str], shown: Sequence[str], known: frozenset[str]) -> bool:
    """Whether a statement has a new word where what was shown has another: "in the south" for "in the north".

    A new word that only came in between changes nothing.
    """
    after = dict(pairwise(shown))
    said = set(words)
    return any(
        word not in known and before in after and after[before] not in said
        for before, word in pairwise(words)
    )


def _shown(text: str) -> Iterator[Shown]:
    parts: list[ShownSentence] = []
    named: list[frozenset[str]] = []
    for sentence in sentences(plain_text(text).text):
        is_to_person = _TO_PERSON.search(sentence.text) is not None
        part = ShownSentence(
            sentence.text, tuple(tokens(sentence.text)), is_negated(sentence.text), is_to_person
        )
        parts = [*parts[-1:], part]
        named = [*named[-1:], frozenset(names_and_numbers(sentence.text, opening=True))]
        stems = frozenset(token for shown in parts for token in shown.tokens)
        yield Shown(stems, frozenset().union(*named), tuple(parts))


def context_of(earlier: Sequence[Exchange]) -> str:
    """What was said before this message, by both, as one text."""
    return "\n".join(f"{exchange.message}\n{exchange.standalone}\n{exchange.answer}" for exchange in earlier)
