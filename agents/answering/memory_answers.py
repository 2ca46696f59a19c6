"""Answers a question from what its user told: their statements as one page, read at once.

the user's sentences -> a page, oldest first -> the reader -> the sentence that answers, and how surely
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from agents.base.chat_interfaces import Source
from agents.base.interfaces import AnswerSpan, Reader
from agents.base.memory_page import MemoryPage, Statement, asked_after
from agents.base.message_sorting import MessageSorter
from agents.base.sentences import sentences

_MOST = 18  # statements of one page
_LEAST = 1e-6  # probability that one reader gives a place at least, so that the others still count


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

    def __init__(self, readers: Callable[[], Sequence[Reader]], sorter: MessageSorter) -> None:
        """readers: gives them, the best last, once something was told that they are to read."""
        self._readers = readers
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
        asked = asked_after(question, before)
        spans = together([each.answer_in(asked, page.text, page.places) for each in self._readers()])
        found = [MemoryAnswer(one, s.text, s.probability) for one, s in zip(told, spans, strict=True)]
        return sorted(found, key=lambda one: -one.probability)

    def _told(self, sources: Sequence[Source]) -> list[Remembered]:
        """The sentences that state something, oldest first; those of the best sources where they are many."""
        told: dict[str, Remembered] = {}
        for source in sources:
            passage = source.passage
            for text in (
                [self._sorter.sorted(passage.text).telling]
                if passage.kind == "message"  # read whole: "25 may" says nothing by itself
                else [sentence.text for sentence in sentences(passage.text)]
            ):
                if not text:
                    continue
                known = told.get(text)
                if known is None or (passage.is_live and not known.source.passage.is_live):
                    told[text] = Remembered(source, text)
        return sorted(list(told.values())[:_MOST], key=lambda one: one.source.passage.created_at)


def together(found: Sequence[Sequence[AnswerSpan]]) -> list[AnswerSpan]:
    """What several readers find at the same places: the last one's words, with a probability of all.

        p_i = g_i / (g_0 + Σ_j g_j),   g_i the geometric mean of the readers' p_i, g_0 that of 1 - Σ_i p_i

    found: by reader, then by place; the probabilities of one reader sum to at most 1.
    """
    each = np.array([[span.probability for span in one] for one in found], dtype=np.float64)
    each = np.column_stack([each, 1.0 - each.sum(axis=1)]).clip(min=_LEAST)
    means = np.exp(np.log(each).mean(axis=0))
    shares = means[:-1] / means.sum()
    return [replace(span, probability=float(p)) for span, p in zip(found[-1], shares, strict=True)]
