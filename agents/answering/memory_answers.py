"""Answers a question from what its user told: their statements as one page, read at once.

the user's sentences -> a page, oldest first -> the reader -> the sentence that answers, and how surely
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agents.base.chat_interfaces import Source
from agents.base.interfaces import Reader
from agents.base.memory_page import MemoryPage, Statement, asked_after
from agents.base.sentences import sentences
from agents.languages.foreign_statements import ForeignStatements
from agents.languages.message_sorting import MessageSorter
from stores.base.passages import STATEMENTS, Passage
from stores.base.statement_links import PERHAPS_FROM, READ_FROM

_MOST = 24  # statements of one page
_NEWER_FROM = 0.5  # share of the likeliest's probability; chosen on the dev part of data/everyday


@dataclass(frozen=True)
class Remembered:
    """What a user said, with the source that it stands in."""

    source: Source
    text: str
    statements: tuple[Passage, ...] = ()  # that it holds

    @property
    def told_at(self) -> datetime:
        return self.source.passage.created_at

    @property
    def holds(self) -> bool:
        """Whether something of it was not surely replaced or ended since."""
        return not self.statements or any(statement.holds for statement in self.statements)

    @property
    def is_marked(self) -> bool:
        """Whether all of it was probably replaced or ended since."""
        return bool(self.statements) and all(s.gone >= READ_FROM for s in self.statements)

    def was_replaced_by(self, other: Remembered, *, least: float = READ_FROM) -> bool:
        """Whether the other, told later, replaced or ended something of this, with such a probability."""
        there = {statement.passage_id for statement in other.statements}
        return any(
            newer.passage_id in there and newer.probability >= least
            for statement in self.statements
            for newer in statement.replaced_by
        )


@dataclass(frozen=True)
class MemoryAnswer:
    """What answers a question best, of what its user told."""

    statement: Remembered
    answer: str  # the words of it that answer
    probability: float  # that this statement answers, 0 to 1
    later: Remembered | None = None  # was told since, and may say what became of it
    is_open: bool = False  # whether that is a link that is not sure


class MemoryAnswers:
    """Reads what a user told."""

    def __init__(
        self,
        reader: Callable[[], Reader],
        sorter: MessageSorter,
        foreign: ForeignStatements | None = None,
    ) -> None:
        """reader: gives it, once something was told that it is to read.

        foreign: ranks what it cannot read; without it the reader reads all.
        """
        self._reader = reader
        self._sorter = sorter
        self._foreign = foreign

    def answers(self, question: str, before: str, sources: Sequence[Source]) -> list[MemoryAnswer]:
        """Every statement read, the most probable answer first.

        before: the user's message before the question. sources: passages of the user's own.
        """
        told = self._told(sources)
        foreign = self._unread(question, told)
        readable = [one for one in told if one not in foreign]
        found = [*self._read(question, before, readable), *self._ranked(question, foreign, readable)]
        ranked = _newer_first(sorted(found, key=lambda one: -one.probability))
        if not ranked:
            return []
        best = ranked[0].statement
        if best in foreign:
            ranked[0] = replace(ranked[0], later=self._later(best, foreign))
        elif (perhaps := _perhaps_replaced_by(best, told)) is not None:
            ranked[0] = replace(ranked[0], later=perhaps, is_open=True)
        return ranked

    def _later(self, best: Remembered, foreign: Sequence[Remembered]) -> Remembered | None:
        """The newest of what was told since and is like it: no reader links what it cannot read."""
        since = [one for one in foreign if one.told_at > best.told_at]
        if self._foreign is None or not since:
            return None
        like = self._foreign.like(best.text, [one.text for one in since])
        near = [one for one, is_like in zip(since, like, strict=True) if is_like]
        return max(near, key=lambda one: one.told_at, default=None)

    def _unread(self, question: str, told: Sequence[Remembered]) -> list[Remembered]:
        """What the reader cannot read for a question: of a foreign one all, of an English one what is not."""
        if self._foreign is None:
            return []
        is_read = self._foreign.can_read(question)
        return [one for one in told if not (is_read and self._foreign.can_read(one.text))]

    def _ranked(
        self, question: str, told: Sequence[Remembered], readable: Sequence[Remembered]
    ) -> list[MemoryAnswer]:
        """Whole statements, by meaning alone."""
        if self._foreign is None:
            return []
        texts, beside = [one.text for one in told], [one.text for one in readable]
        found = self._foreign.probabilities(question, texts, beside)
        return [MemoryAnswer(one, one.text, p) for one, p in zip(told, found, strict=True)]

    def _read(self, question: str, before: str, told: Sequence[Remembered]) -> list[MemoryAnswer]:
        """Statements read as one page."""
        if not told:
            return []
        page = MemoryPage([Statement(one.text, not one.is_marked) for one in told])
        spans = self._reader().answer_in(asked_after(question, before), page.text, page.places)
        return [MemoryAnswer(one, s.text, s.probability) for one, s in zip(told, spans, strict=True)]

    def _told(self, sources: Sequence[Source]) -> list[Remembered]:
        """What states something, by message where it holds, oldest first; of the best sources, if many."""
        told: dict[str, Remembered] = {}
        for source in sources:
            passage = source.passage
            message = passage.text if passage.kind == "message" else passage.said_in
            for text in (
                [self._sorter.sorted(message).telling]
                if message  # read whole: "25 may" says nothing by itself
                else [sentence.text for sentence in sentences(passage.text)]
            ):
                if not text:
                    continue
                told.setdefault(text, Remembered(source, text))
        whole = [one for one in told.values() if not _is_part_of_another(one, told.values())]
        memories = [source.passage for source in sources if source.passage.kind in STATEMENTS]
        linked = [_with_statements(one, memories) for one in whole[:_MOST]]
        parted = [part for one in linked for part in _parted(one, sources)]
        return sorted(parted, key=lambda one: one.source.passage.created_at)


def _with_statements(one: Remembered, memories: Sequence[Passage]) -> Remembered:
    """The same with the statements that stand in it, or that it stands in."""
    own = one.source.passage
    within = [m for m in memories if own is m or m.text in one.text or one.text in m.text]
    return replace(one, statements=tuple(within))


def _parted(one: Remembered, sources: Sequence[Source]) -> list[Remembered]:
    """A message of which a part no longer holds, statement by statement."""
    if len({statement.gone >= READ_FROM for statement in one.statements}) < 2:
        return [one]
    found = {source.passage.passage_id: source for source in sources}
    return [Remembered(found[s.passage_id], s.text, (s,)) for s in one.statements]


def _perhaps_replaced_by(best: Remembered, told: Sequence[Remembered]) -> Remembered | None:
    """What was told since, where it is not sure whether it took the place of the likeliest."""
    if not best.holds:
        return None
    return next((one for one in told if best.was_replaced_by(one, least=PERHAPS_FROM)), None)


def _newer_first(found: Sequence[MemoryAnswer]) -> list[MemoryAnswer]:
    """What took the place of the likeliest goes before it, as likely, if it was half as likely at least."""
    if not found:
        return []
    best = found[0]
    for number, newer in enumerate(found):
        if newer.probability < _NEWER_FROM * best.probability:
            break
        if best.statement.was_replaced_by(newer.statement):
            first = replace(newer, probability=best.probability)
            return [first, *found[:number], *found[number + 1 :]]
    return list(found)


def _is_part_of_another(one: Remembered, told: Collection[Remembered]) -> bool:
    """Whether a longer one says it as well."""
    return any(one.text in other.text and len(one.text) < len(other.text) for other in told)
