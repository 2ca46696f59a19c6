"""A user's statements as one page, which the reader reads at once: oldest first, with marks.

    i finally moved to porto (no longer) | my sister ana is still in braga | im back in lisbon

Read together, the statements say what holds now, what held before and who is meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.base.interfaces import Exchange

_BETWEEN = " | "
_GONE = " (no longer)"
_AFTER = " (after: "
_BEFORE = 2  # messages that a question is read with
_LONGEST_BEFORE = 200  # characters of them
_LONGEST_ANSWER = 80  # characters of an answer that a question is read with
_CITATION = re.compile(r"\[\d+\]")


@dataclass(frozen=True)
class Statement:
    """What a user said."""

    text: str
    holds: bool = True  # false: something that was said later took its place


class MemoryPage:
    """Statements as one text, and which of them stands where."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        """statements: in the order in which they were said."""
        parts: list[str] = []
        self._places: list[tuple[int, int]] = []
        at = 0
        for number, statement in enumerate(statements):
            lead = _BETWEEN if number else ""
            said = " ".join(statement.text.split())
            self._places.append((at + len(lead), at + len(lead) + len(said)))
            parts.append(f"{lead}{said}{'' if statement.holds else _GONE}")
            at += len(parts[-1])
        self.text = "".join(parts)

    @property
    def places(self) -> list[tuple[int, int]]:
        """The characters of the page at which each statement stands."""
        return self._places


def asked_after(question: str, before: str) -> str:
    """A question as the reader reads it: with the message before it, from which a follow-up is understood."""
    return f"{question}{_AFTER}{before})" if before else question


def asked(question: str) -> str:
    """The question alone, of one with the message before it."""
    return question.partition(_AFTER)[0]


def said_before(said: Sequence[str]) -> str:
    """The newest of what a user said, as one line. said: oldest first."""
    return " ".join(" ".join(one.split()) for one in said[-_BEFORE:])[-_LONGEST_BEFORE:]


def last_said(exchanges: Sequence[Exchange]) -> str:
    """The newest exchange as one line: the message and, where its answer cites something, its first words.

    exchanges: oldest first.
    """
    if not exchanges:
        return ""
    last = exchanges[-1]
    return said_before([f"{last.message} {answered(last)}"])


def answered(exchange: Exchange) -> str:
    """The first words of an answer that cites something; else none."""
    begins = exchange.answer.partition("\n")[0]
    words, cited = _CITATION.subn("", begins)
    return words.partition(". ")[0].strip()[:_LONGEST_ANSWER] if cited else ""
