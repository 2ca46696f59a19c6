"""Answers by quoting: what the user told, or the best sentences of the passages found, word for word.

    question, sources -> the user's statements, read as one page (agents/answering/memory_answers.py)
                      -> the sentences of documents that answer (agents/answering/quoting.py)
                      -> the surer of both, with its citation; else the nearest, as no sure answer

It needs no key, no network and no download, and it cannot invent: every word of an answer but its frame
stands in a source.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, time

from agents.answering.calculating import Calculator
from agents.answering.listing import Listed, Lister
from agents.answering.memory_answers import MemoryAnswer, MemoryAnswers, Remembered
from agents.answering.memory_orders import NOTHING_MEANT, UNDO, answered_order
from agents.answering.overview import OverviewQuestions
from agents.answering.quoting import Quote, Quoter
from agents.base.chat_interfaces import CitingText, ReplyRequest, Source, Tabulated
from agents.base.quoting_only import NOTED, NOTHING_FOUND, QuotingOnly
from agents.base.sentences import sentences
from agents.languages.message_sorting import MessageSorter, MessageSorting
from agents.languages.named_days import Days
from agents.languages.signs import Languages
from agents.languages.small_talk import ENGLISH, answered_at_once, said_in
from agents.retrieval.own_statements import is_own_words
from agents.retrieval.said_here import message_passage
from stores.base.clock import now

NOT_SURE = "I am not sure. The nearest I have:"
NOT_TOLD = "I know nothing about that. The nearest I have:"
YOU_TOLD = "You told me, newest first:"
LISTED = "You told me, oldest first:"
BY_DAY = "You told me, by day:"
COUNTED = "{}, of what you told me:"
MORE_TOLD = "\nThat is not all: /memory lists it."
NOT_KEPT = "This session is private: I learn nothing from it, and no other session finds it."
OUTLINE = "I cannot summarise. An outline, each part with its first sentence:"
NOTHING_SAID = ENGLISH

_LONGEST_QUOTE = 600  # characters; a longer sentence is cut at a word
_NEAR_FROM = 0.1  # probability of the nearest quote, below which it is said that nothing is known
_TOLD_FROM = 0.05  # the same of a statement, which shares its page with others
_MOST_NEAREST = 3  # statements and passages shown where none surely answers
_MOST_STATEMENTS = 2  # of these, that what was found cannot take the place of
_MOST_OF_ALL = 8  # statements shown where everything is asked for
_OF_VOUCH_FROM = 0.7  # p(ask_tool); of 629 questions of the dev parts about oneself one is as probable
_MOST_ROWS = 10  # of a table, shown below what was counted over them
_SHORT_ANSWER = 0.6  # of a statement: an answer longer than this is the statement


class ExtractiveChat(QuotingOnly):
    """The built-in chat model: quotes, and says so."""

    def __init__(
        self,
        quoter: Quoter,
        *,
        memory: MemoryAnswers | None = None,
        sorter: MessageSorter | None = None,
        overview: OverviewQuestions | None = None,
        calculator: Calculator | None = None,
        languages: Languages | None = None,
        lister: Lister | None = None,
        sure_from: float = 0.8,
    ) -> None:
        """memory: reads what the user told; without it their statements are quoted as documents are.

        overview: knows who asks for everything that they told; without it nobody does.
        calculator: answers sums and weekdays; without it they are looked up.
        languages: knows small talk, in any of them.
        lister: finds all statements that answer; without it the best alone is told.
        sure_from: probability from which what the user told is given as the answer.
        """
        self._quoter = quoter
        self._memory = memory
        self._sorter = sorter or MessageSorter()
        self._overview = overview
        self._calculator = calculator
        self._languages = languages
        self._lister = lister
        self._sure_from = sure_from

    async def stream(self, request: ReplyRequest) -> AsyncIterator[str]:
        """The answer, a quote a piece."""
        if request.outlines:
            for piece in _outline(request.sources):
                yield piece
            return
        if self._calculator:
            computed = await asyncio.to_thread(self._calculator.answer, request.message)
            if computed is not None:
                yield computed
                return
        sorting = await asyncio.to_thread(self._sorter.sorted, request.message)
        if request.tabulated and not await asyncio.to_thread(self._surely_told, request):
            for piece in _of_table(request.tabulated, self._documents(request)):
                yield piece
            return
        if not request.asks and (line := await asyncio.to_thread(self._small_talk, request.message, sorting)):
            yield line
            return
        if not request.asks:
            ordered = await asyncio.to_thread(self._ordered, request)
            for piece in ordered or ():
                yield piece
            if ordered:
                return
        asks = bool(sorting.asking or request.asks or self._asks_for_several(request.message))
        answer = self._answer if asks else self._unasked
        for piece in await asyncio.to_thread(answer, request, sorting):
            yield piece

    def _ordered(self, request: ReplyRequest) -> list[str] | None:
        own = [source for source in request.sources if is_own_words(source.passage)]
        alone = replace(request, before="")
        said = answered_order(self._languages, request.message, own, lambda: self._told(alone, own, []))
        return None if said and self._is_of_documents(said, request) else said

    def _is_of_documents(self, said: Sequence[str], request: ReplyRequest) -> bool:
        """Whether a document surer answers what was taken for an order that names nothing told."""
        if self._languages is None or said[0] not in (UNDO, NOTHING_MEANT):
            return False
        (signs,) = self._languages.signs([request.message])
        ranked = self._quoter.ranked(request.question, self._documents(request))
        return bool(ranked) and ranked[0].probability >= max(signs.orders.values())

    def _small_talk(self, message: str, sorting: MessageSorting) -> str | None:
        says_something = bool(sorting.asking or sorting.stating)
        return answered_at_once(self._languages, message, says_something=says_something)

    def _unasked(self, request: ReplyRequest, sorting: MessageSorting) -> list[str]:
        """What was stated; and what documents say of it, since many type what they look for as a phrase."""
        noted = NOT_KEPT if sorting.stating and not request.is_kept else _noted(sorting.stating)
        ranked = self._quoter.ranked(request.question, self._documents(request))
        if not ranked or ranked[0].probability < _NEAR_FROM:
            return [noted or said_in(self._languages, request.message)]
        found = _of_documents(self._quoter.sure(ranked)) or _nearest([], ranked)
        return [f"{noted}\n\n", *found] if sorting.is_personal else found

    def _documents(self, request: ReplyRequest) -> list[Source]:
        return [s for s in request.sources if not (self._memory and is_own_words(s.passage))]

    def _answer(self, request: ReplyRequest, sorting: MessageSorting) -> list[str]:
        others = self._documents(request)
        own = [source for source in request.sources if source not in others]
        is_list = self._asks_for_several(request.message)
        told = self._told(request, own, [] if is_list else sorting.stating)
        if told and self._overview and self._overview.asks_for_all(request.message):
            return _everything(told)
        if told and not is_list and self._asks_of_vouch(request.message):
            told = []
        ranked = self._quoter.ranked(request.question, others)
        quotes = self._quoter.sure(ranked)
        is_told = bool(told) and told[0].probability >= self._sure_from
        listed = self._lister.listed(request.message, told) if self._lister else None
        is_of_documents = bool(quotes) and not self._asks_of_user(request.message)
        if listed and not is_of_documents and (is_list or (listed.days and not is_told)):
            return _of_list(listed)
        if is_told and not (quotes and quotes[0].probability > told[0].probability):
            return [*_of_memory(told), *_also(listed, told)] if not told[0].is_open else _either(told[0])
        if listed and listed.wanted != "latest" and not quotes:
            best = told[0].statement
            return [NOT_SURE, _citing(f"\n{_told_line(best)}", best), *_also(listed, told)]
        return _of_documents(quotes) or _nearest(told, ranked)

    def _surely_told(self, request: ReplyRequest) -> bool:
        """Whether what the user told surely answers."""
        own = [source for source in request.sources if is_own_words(source.passage)]
        told = self._told(request, own, [])
        return bool(told) and told[0].probability >= self._sure_from

    def _asks_for_several(self, message: str) -> bool:
        return self._lister is not None and self._lister.asks_for_several(message, surely=True)

    def _asks_of_user(self, message: str) -> bool:
        """Whether it more probably asks what its user told than anything else."""
        if self._languages is None:
            return False
        (signs,) = self._languages.signs([message])
        return signs.labels["ask_own"] > signs.of(("ask_other", "ask_tool"))

    def _asks_of_vouch(self, message: str) -> bool:
        """Whether it is about the assistant itself, which nothing that its user told answers."""
        if self._languages is None:
            return False
        (signs,) = self._languages.signs([message])
        return signs.labels["ask_tool"] >= _OF_VOUCH_FROM

    def _told(
        self, request: ReplyRequest, own: Sequence[Source], stated: Sequence[str]
    ) -> list[MemoryAnswer]:
        """What the user told, in this message or before, the likeliest answer first."""
        if self._memory is None:
            return []
        here = [Source(0, message_passage(0, "", " ".join(stated), "this message", now()))] if stated else []
        return self._memory.answers(request.message, request.before, [*here, *own])


def _of_table(found: Tabulated, documents: Sequence[Source]) -> list[str]:
    """What was counted, and the first of the rows that it was counted over, each cited where it was found."""
    by_version = {source.passage.version_id: source.number for source in documents}
    first = by_version[found.found_in]
    pieces: list[str] = [CitingText(f"{found.text} [{first}]", [first], counts=True)]
    for version_id, text in found.rows[:_MOST_ROWS]:
        number = by_version.get(version_id)
        cited = [number] if number else []
        pieces.append(CitingText(f"\n{_cut(text)}" + "".join(f" [{n}]" for n in cited), cited, counts=True))
    if (more := len(found.rows) - _MOST_ROWS) > 0:
        pieces.append(f"\nand {more} more {'row' if more == 1 else 'rows'}")
    return pieces


def _of_documents(quotes: Sequence[Quote]) -> list[str]:
    """What is surely the answer, a line each."""
    return [_citing(f"{'' if n == 0 else chr(10)}{_said(quote)}", quote) for n, quote in enumerate(quotes)]


def _nearest(told: Sequence[MemoryAnswer], ranked: Sequence[Quote]) -> list[str]:
    """The nearest of what was told and found, where none of it surely answers.

    A page divides its probability by all that stands on it. Two statements are thus always among the
    nearest, and no others where one of them is the likeliest. Where nothing is near, one line is enough.
    """
    said: list[tuple[float, str, Quote | Remembered]] = [
        (one.probability, _told_line(one.statement), one.statement) for one in told
    ]
    found: list[tuple[float, str, Quote | Remembered]] = []
    for quote in {quote.source.number: quote for quote in reversed(ranked)}.values():  # the best of each
        title = f"{quote.source.passage.title}: " if quote.source.passage.title else ""
        found.append((quote.probability, title + _said(quote, with_answer=False), quote))
    is_told = bool(said) and all(said[0][0] >= line[0] for line in found)
    most = _MOST_NEAREST if is_told else _MOST_STATEMENTS
    kept, others = said[:most], [*said[most:], *found]
    likeliest = sorted(others, key=lambda line: -line[0])[: _MOST_NEAREST - len(kept)]
    nearest = sorted([*kept, *likeliest], key=lambda line: -line[0])
    if not nearest:
        return [NOTHING_FOUND]
    is_near = any(p >= (_NEAR_FROM if isinstance(one, Quote) else _TOLD_FROM) for p, _, one in nearest)
    lead, shown = (NOT_SURE, nearest) if is_near else (NOT_TOLD, nearest[:1])
    return [lead, *(_citing(f"\n{text}", stands_in) for _, text, stands_in in shown)]


def _everything(told: Sequence[MemoryAnswer]) -> list[str]:
    """What the user told, the newest first."""
    statements = [one.statement for one in told if one.statement.holds]
    newest_first = sorted(statements, key=lambda one: one.source.passage.created_at, reverse=True)
    lines = [_citing(f"\n{_told_line(one)}", one) for one in newest_first[:_MOST_OF_ALL]]
    return [YOU_TOLD, *lines, *([MORE_TOLD] if len(statements) > _MOST_OF_ALL else [])]


def _of_list(listed: Listed) -> list[str]:
    """All that answers, a line each; of a "how many" behind the number, of the latest that alone."""
    days = [f"{_span(one)}. " for one in listed.days] or [""] * len(listed.statements)
    texts = [day + _told_line(one) for day, one in zip(days, listed.statements, strict=True)]
    if listed.wanted == "latest":
        return [_citing(text, one) for text, one in zip(texts, listed.statements, strict=True)]
    order = BY_DAY if listed.days else LISTED
    lead = COUNTED.format(len(texts)) if listed.wanted == "count" else order
    return [lead, *(_citing(f"\n{text}", one) for text, one in zip(texts, listed.statements, strict=True))]


def _span(days: Days) -> str:
    first, last = (_day(datetime.combine(day, time())) for day in (days.first, days.last))
    return first if first == last else f"{first} to {last}"


def _outline(sources: Sequence[Source]) -> list[str]:
    """A line for each part."""
    lines = [OUTLINE]
    for source in sources:
        passage = source.passage
        first = next((one.text for one in sentences(passage.text)), "")
        text = f"\n{passage.title}: “{_cut(first)}” [{source.number}]"
        lines.append(CitingText(text, [source.number], counts=True))
    return lines


def is_sure(answer: str) -> bool:
    """Whether an answer by quoting was given as the answer, not as what is nearest."""
    is_noted = answer.startswith((NOTED, NOT_KEPT))
    behind = answer.partition("\n\n")[2] if is_noted else answer
    return not behind.startswith((NOT_SURE, NOT_TOLD, NOTHING_FOUND))


def is_told(answer: str) -> bool:
    """Whether what is nearest is near enough to be shown as an answer, sure or not."""
    return not answer.startswith((NOT_TOLD, NOTHING_FOUND))


def _noted(stated: Sequence[str]) -> str:
    """What was stated, as it will be remembered if it is believed; empty for nothing."""
    return NOTED + _cut(" ".join(stated)) if stated else ""


def _of_memory(told: Sequence[MemoryAnswer]) -> list[str]:
    """The likeliest of what was told; and what it took the place of, or what took its own."""
    best = told[0].statement
    answer = "" if len(told[0].answer) > _SHORT_ANSWER * len(best.text) else f"{told[0].answer}. "
    pieces: list[str] = [_citing(answer + _told_line(best), best)]
    if (later := told[0].later) is not None:
        return [*pieces, _citing(f"\nLater: “{_cut(later.text)}” [{later.source.number}]", later)]
    for other in (one.statement for one in told[1:]):
        is_newer = best.was_replaced_by(other)
        if _is_linked(best, other):
            is_sure = not (best if is_newer else other).holds
            when = ("Since then" if is_newer else "Before") if is_sure else "You also said"
            pieces.append(_citing(f"\n{when}: “{_cut(other.text)}” [{other.source.number}]", other))
            break
    return pieces


def _also(listed: Listed | None, told: Sequence[MemoryAnswer]) -> list[str]:
    """What else perhaps answers, behind the likeliest and what took its place."""
    if listed is None:
        return []
    best = told[0].statement
    others = [s for s in listed.statements if s is not best and not _is_linked(s, best)]
    return [_citing(f"\n{_told_line(one)}", one) for one in others]


def _is_linked(one: Remembered, other: Remembered) -> bool:
    return one.was_replaced_by(other) or other.was_replaced_by(one)


def _either(told: MemoryAnswer) -> list[str]:
    """The likeliest statement, and what perhaps took its place; which of them holds is not sure."""
    newer = [told.later] if told.later is not None else []
    return [NOT_SURE, *(_citing(f"\n{_told_line(one)}", one) for one in (told.statement, *newer))]


def _said(quote: Quote, *, with_answer: bool = True) -> str:
    answer = f"{quote.answer}. " if quote.answer and with_answer else ""
    if is_own_words(quote.source.passage):
        return answer + _told_line(Remembered(quote.source, quote.text))
    term = f"{quote.term}: " if quote.term else ""
    return f"{answer}{term}“{_cut(quote.text)}” [{quote.source.number}]"


def _told_line(told: Remembered) -> str:
    """What the user said, with its day and citation."""
    source, text = told.source, told.text
    passage = source.passage
    if not source.number:
        return f"You just said: “{_cut(text)}”"
    said = "You said" if told.holds and passage.holds else "Before, you said"
    return f"{said} on {_day(passage.created_at.astimezone())}: “{_cut(text)}” [{source.number}]"


def _day(told: datetime) -> str:
    """As 24 November, with the year where it is another than now."""
    return f"{told.day} {told:%B}" + (f" {told.year}" if told.year != now().astimezone().year else "")


def _cut(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST_QUOTE else plain[:_LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"


def _citing(text: str, quote: Quote | Remembered) -> CitingText:
    """A piece of an answer that cites the source of its quote; a [3] in its own words cites nothing."""
    number = quote.source.number
    return CitingText(text, [number], counts=True) if number else CitingText(text)
