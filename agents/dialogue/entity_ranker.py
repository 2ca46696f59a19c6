"""Entities by the constraints that they meet and contradict: a ranker without anything learned.

It is what a learned retriever is measured against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agents.base.chat_interfaces import DialogueState
from agents.base.interfaces import Candidate
from stores.base.entities import Entity, entity_of

_TALKED_ABOUT = 10.0  # more than any number of constraints that people name


def ranked(candidates: Sequence[Candidate], state: DialogueState) -> tuple[Candidate, ...]:
    """Entities as candidates, best first; each gains what it meets, less what it contradicts, as its lift.

    Those that are talked about come first. Equals keep the order of their scores found.
    """
    lifted = [_lifted(candidate, state) for candidate in candidates]
    order = sorted(lifted, key=lambda candidate: (-candidate.score, candidate.passage.version_id))
    return tuple(replace(candidate, found_rank=rank) for rank, candidate in enumerate(order, start=1))


def entity_query(message: str, state: DialogueState) -> str:
    """What entities are searched by: the message and what is wanted so far."""
    wanted = (value for wish in state.wishes if wish.operator == "is" for value in wish.values)
    return " ".join([message, *wanted])


def met(entity: Entity, state: DialogueState) -> list[str]:
    """The columns of the wishes that an entity meets, one for each."""
    return [wish.column for wish in state.wishes if wish.is_met(entity.values.get(wish.column, ""))]


def _lifted(candidate: Candidate, state: DialogueState) -> Candidate:
    entity = entity_of(candidate.passage.title, candidate.passage.text)
    kept = len(met(entity, state))
    contradicted = sum(wish.column in entity.values for wish in state.wishes) - kept
    lift = float(kept - contradicted)
    if candidate.passage.version_id in state.focus:
        lift += _TALKED_ABOUT - state.focus.index(candidate.passage.version_id)
    return replace(candidate, lift=lift, score=candidate.score + lift)
