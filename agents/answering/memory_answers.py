"""Answers a question from what its user told: their statements as one page, read at once.

the user's sentences -> a page, oldest first -> the reader -> the sentence that answers, and how surely
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from agents.base.chat_interfaces import Source
from agents.base.interfaces import Reader
from agents.base.memory_page import MemoryPage, Statement, asked_after
from agents.base.message_sorting import MessageSorter
from agents.base.sentences import sentences

_MOST = 18  # statements of one page


@dataclass(frozen=True)
class Remembered:
    """One sentence of a user's, with the source that it stands in."""

    source: Source
    text: str


@dataclass(frozen=True)
class MemoryAnswer:
    """What answers a question best, of what its user told."""

    statement: Remembered
    answer: str  # the words of it that answer
    probability: float  # that this statement answers, 0 to 1


class MemoryAnswers:
    """Reads what a user told."""

    def __init__(self, reader: Callable[[], Reader], sorter: MessageSorter) -> None:
        """reader: gives it, once something was told that it is to read."""
        self._reader = reader
        self._sorter = sorter

    def answers(self, question: str, before: str, sources: Sequence[Source]) -> list[MemoryAnswer]:
        """Every statement read, the most probable answer first.

        before: the user's message before the question. sources: passages of the user's own, earlier versions
        of them too.
        """
        told = self._told(sources)
        if not told:
            return []
        page = MemoryPage([Statement(one.text, one.source.passage.is_live) for one in told])
        spans = self._reader().answer_in(asked_after(question, before), page.text, page.places)
        found = [MemoryAnswer(one, s.text, s.probability) for one, s in zip(told, spans, strict=True)]
        return sorted(found, key=lambda one: -one.probability)

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
                known = told.get(text)
                if known is None or (passage.is_live and not known.source.passage.is_live):
                    told[text] = Remembered(source, text)
        whole = [one for one in told.values() if not _is_part_of_another(one, told.values())]
        return sorted(whole[:_MOST], key=lambda one: one.source.passage.created_at)


def _is_part_of_another(one: Remembered, told: Collection[Remembered]) -> bool:
    """Whether a message that holds says it as well."""
    return any(
        one.text in other.text and len(one.text) < len(other.text) and other.source.passage.is_live
        for other in told
    )
