"""Replies over a knowledge base without a chat model: of the dialogue generator, or in the entities' words.

state, entities best first -> not sure, not understood, counted, or asked for and in no column: said so
                           -> a sound reply of the generator, where there is one
                           -> of those that are talked about: the columns that the message asks for
                           -> else: how many meet what is wanted, and the first three
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence

import numpy as np

from agents.base.chat_interfaces import CitingText, DialogueState, ReplyRequest, Source
from agents.base.interfaces import Encoder
from agents.base.quoting_only import NOTED, QuotingOnly
from agents.dialogue.entity_ranker import met
from agents.dialogue.reply_writer import Found, ReplyWriter
from agents.languages.message_sorting import MessageSorter
from stores.base.entities import Entity, entity_of
from stores.base.wishes import words

_LISTED = 3  # entities
_COLUMNS = 4  # of each that is listed
_ASKED_FROM = 0.65  # cosine of a column's name and words of the message; fitted on CamRest and SMD, dev part
_MAY_ASK = (
    "",
    "ask",
    "unclear",
)  # what a message does whose columns may be told by their likeness to its words
_LONGEST_RUN = 3  # words of the message that are compared with a column's name


class EntityReplies(QuotingOnly):
    """The built-in chat model of a conversation over a knowledge base."""

    def __init__(
        self,
        encoder: Callable[[], Encoder],
        sorter: MessageSorter,
        writer: Callable[[], ReplyWriter] | None = None,
    ) -> None:
        """writer: of the dialogue generator; None for the words of the entities alone."""
        self._encoder = encoder
        self._sorter = sorter
        self._writer = writer

    async def stream(self, request: ReplyRequest) -> AsyncIterator[str]:
        """The reply, an entity a piece."""
        for piece in await asyncio.to_thread(self._reply, request):
            yield piece

    def _reply(self, request: ReplyRequest) -> list[str]:
        state = request.state
        assert state is not None, "it replies over a knowledge base"
        sources = [source for source in request.sources if source.passage.kind == "entity"]
        if not sources:
            return [f"{state.base} holds nothing like that."]
        found = [(source, _entity(source)) for source in sources]
        asked = list(state.asked or ())
        if not asked and state.act in _MAY_ASK:
            asked = self._named_columns(request, found[0][1])
        remembered = _remembered(request)
        if not (state.asks_for_more or asked or remembered) and request.is_kept:
            said = self._sorter.sorted(request.message)
            if said.stating and not said.asking:
                return [NOTED + " ".join(said.stating)]
        lead = "" if remembered else _lead(state, asked)
        told = self._told(request, state, found, asked, remembered)
        return [f"{lead}\n", *told] if lead else told

    def _told(
        self,
        request: ReplyRequest,
        state: DialogueState,
        found: Found,
        asked: Sequence[str],
        remembered: Sequence[str],
    ) -> list[str]:
        if state.act == "count" and not asked and not state.unsure:
            return _counted(state, found)
        if self._writer and not remembered:
            written = self._writer().write(request, state, found, asked)
            if written is not None:
                return [written, *_others(state, found, written.cites)]
        if not state.asks_for_more and found[0][0].passage.version_id in state.focus:
            return [*remembered, *_talked_about(state, found, asked)]
        if not state.wishes:
            return [f"The nearest in {state.base}:", *(_line(s, e, asked, ()) for s, e in found[:_LISTED])]
        return _wanted(state, found, asked)

    def _named_columns(self, request: ReplyRequest, entity: Entity) -> list[str]:
        return asked_columns(self._encoder(), request.message, list(entity.values))


def asked_columns(encoder: Encoder, message: str, columns: Sequence[str]) -> list[str]:
    """The columns that a message names, in its own words or in like ones."""
    said = words(message)
    runs = [
        " ".join(said[at : at + n]) for n in range(1, _LONGEST_RUN + 1) for at in range(len(said) - n + 1)
    ]
    if not runs or not columns:
        return []
    names = [" ".join(words(column)) for column in columns]
    vectors = encoder.encode_queries([*names, *runs])
    likeness = np.max(vectors[: len(names)] @ vectors[len(names) :].T, axis=1)
    return [column for column, cosine in zip(columns, likeness, strict=True) if cosine >= _ASKED_FROM]


def _lead(state: DialogueState, asked: Sequence[str]) -> str:
    """What is said first where a message is not sure, not understood, or asks for what no column tells."""
    if state.unsure:
        return f"I am not sure how {', '.join(f'“{said}”' for said in state.unsure)} is meant."
    if state.act == "unclear":
        return "I did not understand a wish in that."
    if state.act == "ask" and not asked and not state.best:
        return f"I find no column for that in {state.base}."
    return ""


def _counted(state: DialogueState, found: Found) -> list[str]:
    if not state.wishes:
        return [f"{state.entities} in {state.base}. I know of no wish that you have."]
    return [*_wanted(state, found, ()), *([f"\n({state.alone}.)"] if state.alone else [])]


def _talked_about(state: DialogueState, found: Found, asked: Sequence[str]) -> list[str]:
    """What is asked for of the entities that are talked about, or all of the first."""
    about = [(s, e) for s, e in found if s.passage.version_id in state.focus]
    if state.best:
        column, end = state.best
        among = f" of those with {state.told}" if state.wishes else ""
        first = [column, *asked, *(wish.column for wish in state.wishes)]
        lead = f"The {end} {column}{among}:"
        return [lead, *(_line(s, e, first, ()) for s, e in about[:_LISTED])]
    if asked and len(about) > 1:
        lead = f"The {', '.join(asked)}:"
        return [lead, *(_line(s, e, asked, (), most=len(asked)) for s, e in about[:_LISTED])]
    source, entity = about[0]
    told = _told(entity, asked or list(entity.values))
    return [_citing(f"{entity.name}: {told} [{source.number}]", source)]


def _wanted(state: DialogueState, found: Found, asked: Sequence[str]) -> list[str]:
    """How many meet what is wanted, and the first of these; or what comes nearest."""
    wanted = list(dict.fromkeys(wish.column for wish in state.wishes))
    kept = [(source, entity) for source, entity in found if len(met(entity, state)) == len(state.wishes)]
    if state.meeting:
        verb = "meets" if state.meeting == 1 else "meet"
        lead = f"{state.meeting} of {state.entities} {verb} {state.told}:"
        shown = [wish.column for wish in state.limits]
        return [lead, *(_line(s, e, [*asked, *shown], state.constraints) for s, e in kept[:_LISTED])]
    lead = f"None of {state.entities} meets {state.told}. The nearest:"
    return [lead, *(_line(s, e, [*wanted, *asked], ()) for s, e in found[:_LISTED])]


def _others(state: DialogueState, found: Found, cited: Sequence[int]) -> list[str]:
    """What else meets what is wanted, by name."""
    more = state.meeting - len(cited)
    if not state.asks_for_more or more < 1:
        return []
    kept = [
        (source, entity)
        for source, entity in found
        if len(met(entity, state)) == len(state.wishes) and source.number not in cited
    ]
    if not kept:
        return []
    names = ", ".join(f"{entity.name} [{source.number}]" for source, entity in kept)
    lead = f"\n\n{more} more {'meets' if more == 1 else 'meet'} {state.told}: "
    names += ", and others" if more > len(kept) else ""
    return [CitingText(lead + names, [source.number for source, _ in kept])]


def _remembered(request: ReplyRequest) -> list[str]:
    """What the user told that an entity is chosen by, where it is."""
    told = [source for source in request.sources if source.passage.kind != "entity"]
    return [_citing(f"You said: “{s.passage.text}” [{s.number}]\n", s) for s in told[:1]]


def _line(
    source: Source, entity: Entity, first: Sequence[str], known: Collection[str], *, most: int = _COLUMNS
) -> str:
    """An entity on a line. first: columns told before others. known: columns that need not be told."""
    others = [column for column in entity.values if column not in known and column not in first]
    columns = list(dict.fromkeys([*first, *others]))
    return _citing(f"\n{entity.name}: {_told(entity, columns[:most])} [{source.number}]", source)


def _told(entity: Entity, columns: Sequence[str]) -> str:
    return ", ".join(
        f"{column} {entity.values[column]}" if column in entity.values else f"no {column} given"
        for column in columns
    )


def _entity(source: Source) -> Entity:
    return entity_of(source.passage.title, source.passage.text)


def _citing(text: str, source: Source) -> str:
    return CitingText(text, [source.number])
