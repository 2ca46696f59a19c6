"""A dialogue state extractor of stated accuracy, to see that the measures are right.

    each active slot -> right with probability p, else left out | another value of the slot | the old value

Every draw is a pure function of seed, dialogue, turn and slot, so any order of asking gives the same, and
what is right at one accuracy is right at every higher one. Draws are independent of each other, hence with n
active slots a turn is wholly right with probability pⁿ.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from assistant.replay.simulation.dialogue_state import Accepted, Dialogue, DialogueSoFar, Services, State

Errors: TypeAlias = Literal["fresh", "lasting"]  # drawn anew at each turn, or kept until the value changes
ErrorKind: TypeAlias = Literal["left_out", "another", "old"]
ERROR_KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)
SlotKey: TypeAlias = tuple[str, str]  # service, slot


@dataclass(frozen=True)
class Held:
    """A slot's right values at a turn, and since when they hold."""

    accepted: Accepted
    since: int  # place of the utterance that gave the value; a variant of it that is added later is no change
    old: str | None = None  # the value it had before

    def changed_to(self, accepted: Accepted, place: int) -> Held:
        """The slot at a later turn."""
        if set(self.accepted) & set(accepted):
            return replace(self, accepted=accepted)
        return Held(accepted, place, self.accepted[0])


@dataclass(frozen=True)
class Draw:
    """What chance decides about one slot; each part independent of the others."""

    place: float  # 0 to 1, uniform; right where below the accuracy
    kind: ErrorKind
    pick: int  # which other value

    @staticmethod
    def of(seed: int, dialogue_id: str, place: int, slot: SlotKey) -> Draw:
        """The draw of a slot at the utterance at a place."""
        digest = hashlib.blake2b(
            json.dumps([seed, dialogue_id, place, *slot]).encode(), digest_size=24
        ).digest()
        first, second, third = (int.from_bytes(digest[start : start + 8]) for start in (0, 8, 16))
        return Draw((first >> 11) / 2**53, ERROR_KINDS[second % len(ERROR_KINDS)], third)


class SimulatedExtractor:
    """Knows the references, and is wrong as often as it is told to be.

    A wrong slot is left out, has another value that the slot has in these dialogues, or its old value, each
    as often; where there is no such value it is left out. It never adds a slot.
    """

    def __init__(
        self, dialogues: Iterable[Dialogue], *, accuracy: float, seed: int, errors: Errors = "fresh"
    ) -> None:
        """accuracy: p, 0 to 1, of each active slot. errors: how long one lasts."""
        if not 0 <= accuracy <= 1:
            raise ValueError(f"accuracy is {accuracy}, but must be 0 to 1")
        self.accuracy = accuracy
        self.seed = seed
        self.errors = errors
        known = tuple(dialogues)
        self._held = {(d.id, place): slots for d in known for place, slots in held_slots(d)}
        self._values = seen_values(known)

    async def extract(self, so_far: DialogueSoFar, services: Services) -> State:
        """See `StateExtractor`. Raises ValueError for a turn that has no reference."""
        place = len(so_far.utterances) - 1
        held = self._held.get((so_far.id, place))
        if held is None:
            raise ValueError(f"utterance {place} of dialogue {so_far.id!r} has no reference")
        state: dict[str, dict[str, str]] = {}
        for (service, slot), now in held.items():
            drawn_at = drawn_place(now, place, self.errors)
            value = self._value(
                (service, slot), now, Draw.of(self.seed, so_far.id, drawn_at, (service, slot))
            )
            if value is not None and service in services:
                state.setdefault(service, {})[slot] = value
        return state

    def _value(self, slot: SlotKey, held: Held, draw: Draw) -> str | None:
        if draw.place < self.accuracy:
            return held.accepted[0]
        if draw.kind == "old":
            return held.old if held.old not in held.accepted else None
        if draw.kind == "another":
            values = self._values[slot]
            # from the one picked onwards, so that a lasting error keeps its value
            turned = (values[(draw.pick + step) % len(values)] for step in range(len(values)))
            return next((value for value in turned if value not in held.accepted), None)
        return None


def drawn_place(held: Held, place: int, errors: Errors) -> int:
    """The place whose draw decides about a slot at a place."""
    return held.since if errors == "lasting" else place


def held_slots(dialogue: Dialogue) -> Iterator[tuple[int, Mapping[SlotKey, Held]]]:
    """The active slots at each turn that has a reference, by the turn's place.

    A service that a turn is not about keeps its slots for the next turn that is.
    """
    known: dict[str, dict[str, Held]] = {}
    for place, reference in sorted(dialogue.references.items()):
        for service, slots in reference.items():
            before = known.get(service, {})
            known[service] = {
                slot: before[slot].changed_to(accepted, place) if slot in before else Held(accepted, place)
                for slot, accepted in slots.items()
            }
        yield place, {(name, slot): held for name in reference for slot, held in known[name].items()}


def seen_values(dialogues: Iterable[Dialogue]) -> dict[SlotKey, tuple[str, ...]]:
    """Every right value of each slot, in order of the alphabet."""
    seen: dict[SlotKey, set[str]] = {}
    for dialogue in dialogues:
        for reference in dialogue.references.values():
            for service, slots in reference.items():
                for slot, accepted in slots.items():
                    seen.setdefault((service, slot), set()).update(accepted)
    return {slot: tuple(sorted(values)) for slot, values in seen.items()}
