"""Dialogue state: what a user has asked of each service so far, and how rightly it was extracted.

    dialogue so far + services -> extractor -> state -> compared with the reference -> JGA and AGA

Joint goal accuracy (JGA) asks for the whole state of a turn, average goal accuracy (AGA) for its share.
Source: the evaluation script of Schema-Guided Dialogue (arXiv:1909.05855), without its fuzzy match, as
LDST (arXiv:2310.14970) uses it: every value is compared by equality.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from assistant.learning.recipes.examples.example import read_records

DONT_CARE = "dontcare"  # the data's value of a slot for which anything will do

Accepted: TypeAlias = tuple[str, ...]  # the right values of a slot, the canonical one first; never empty
Reference: TypeAlias = Mapping[str, Mapping[str, Accepted]]  # service -> slot -> its right values
State: TypeAlias = Mapping[str, Mapping[str, str]]  # service -> slot -> value, as extracted


@dataclass(frozen=True)
class Slot:
    """One thing a service can be told."""

    name: str
    description: str = ""
    is_categorical: bool = False
    values: tuple[str, ...] = ()  # what a categorical slot can be, `DONT_CARE` aside


@dataclass(frozen=True)
class Service:
    """Something a user can want, with what it can be told."""

    name: str
    slots: tuple[Slot, ...]
    description: str = ""


Services: TypeAlias = Mapping[str, Service]  # by name


@dataclass(frozen=True)
class Utterance:
    """What one side said."""

    speaker: Literal["user", "system"]
    text: str


@dataclass(frozen=True)
class DialogueSoFar:
    """All that an extractor sees: a dialogue up to a message of the user. It holds no reference."""

    id: str
    utterances: tuple[Utterance, ...]  # oldest first; the last is the user's


@dataclass(frozen=True)
class Dialogue:
    """A conversation, and the state after each message of the user."""

    id: str
    services: tuple[str, ...]  # names of those it is about
    utterances: tuple[Utterance, ...]
    references: Mapping[int, Reference]  # by place of the user's utterance; a place is missing where unknown

    def so_far(self, place: int) -> DialogueSoFar:
        """The dialogue up to and with the utterance at a place."""
        return DialogueSoFar(self.id, self.utterances[: place + 1])


@dataclass(frozen=True)
class DialogueSet:
    """Dialogues and every service they speak of."""

    services: Services
    dialogues: tuple[Dialogue, ...]

    def services_of(self, dialogue: Dialogue) -> Services:
        """The services an extractor is shown for a dialogue."""
        return {name: self.services[name] for name in dialogue.services}


class StateExtractor(Protocol):
    """Finds what a user wants of each service."""

    async def extract(self, so_far: DialogueSoFar, services: Services) -> State:
        """The whole state after the last message, not what that message changed.

        Raises a `ModelError` where a chat model cannot be asked or gives no usable reply.
        """


@dataclass(frozen=True)
class FrameScore:
    """One service at one turn."""

    average: float | None  # share of the slots active in the reference that are right; None without any
    is_joint: bool  # every slot of the service is right


@dataclass(frozen=True)
class TurnScore:
    """One message of the user."""

    averages: tuple[float, ...]  # of the frames that have active slots
    is_joint: bool  # every slot of every frame is right


@dataclass(frozen=True)
class GoalAccuracy:
    """Many turns."""

    joint: float  # JGA, 0 to 1
    average: float | None  # AGA, 0 to 1; None where no slot was active
    turns: int  # that JGA is the mean of
    frames: int  # that AGA is the mean of


def is_right(slot: Slot, accepted: Accepted, value: str | None) -> bool:
    """A categorical slot has the first of the accepted values, any other slot any of them."""
    return value == accepted[0] if slot.is_categorical else value in accepted


def frame_score(
    service: Service, reference: Mapping[str, Accepted], predicted: Mapping[str, str]
) -> FrameScore:
    """Compares one service's slots.

        average = mean over active slots of c(slot);  joint = product over all slots of the service of c(slot)

    A slot is active where the reference has it. c is 1 where a value is right, or stands on neither side.
    Predicted slots that the service does not have are not looked at, as in the source. Raises ValueError
    where the reference has such a slot.
    """
    unknown = reference.keys() - {slot.name for slot in service.slots}
    if unknown:
        raise ValueError(f"{service.name} has no slots {sorted(unknown)}, but the reference has")
    active = [
        is_right(slot, reference[slot.name], predicted.get(slot.name))
        for slot in service.slots
        if slot.name in reference
    ]
    is_extra = any(slot.name in predicted and slot.name not in reference for slot in service.slots)
    return FrameScore(sum(active) / len(active) if active else None, all(active) and not is_extra)


def turn_score(services: Services, reference: Reference, predicted: State) -> TurnScore:
    """Compares the frames of a turn: the services that the reference has, also with no active slot."""
    frames = [
        frame_score(services[name], slots, predicted.get(name, {})) for name, slots in reference.items()
    ]
    return TurnScore(
        tuple(frame.average for frame in frames if frame.average is not None),
        all(frame.is_joint for frame in frames),
    )


def goal_accuracy(scores: Iterable[TurnScore]) -> GoalAccuracy:
    """JGA as mean over turns and AGA as mean over frames with active slots.

    Raises ValueError where there is no turn.
    """
    turns = list(scores)
    if not turns:
        raise ValueError("there is no turn to measure")
    averages = [average for turn in turns for average in turn.averages]
    return GoalAccuracy(
        joint=sum(turn.is_joint for turn in turns) / len(turns),
        average=sum(averages) / len(averages) if averages else None,
        turns=len(turns),
        frames=len(averages),
    )


async def turn_scores(extractor: StateExtractor, data: DialogueSet) -> list[TurnScore]:
    """Every turn that has a reference, extracted and scored in order."""
    scores = []
    for dialogue in data.dialogues:
        services = data.services_of(dialogue)
        for place, reference in dialogue.references.items():
            state = await extractor.extract(dialogue.so_far(place), services)
            scores.append(turn_score(data.services, reference, state))
    return scores


def reply_schema(services: Services) -> dict[str, object]:
    """The JSON schema of a chat model's reply: service -> slot -> value; null, or left out, is not said."""
    return _object({name: _object(_slot_schemas(service)) for name, service in services.items()})


def read_reply(reply: Mapping[str, object], services: Services) -> State:
    """The state in a reply of the form of `reply_schema`, or near it.

    Values become one line of text, categorical ones in the service's own spelling. Unknown services and
    slots, and what is no value, are left out: a reply is data and never fails here.
    """
    state = {}
    for name, service in services.items():
        said = reply.get(name)
        if not isinstance(said, Mapping):
            continue
        values = {slot.name: _value(slot, said.get(slot.name)) for slot in service.slots}
        state[name] = {slot: value for slot, value in values.items() if value}
    return state


def _slot_schemas(service: Service) -> dict[str, object]:
    return {slot.name: _slot_schema(slot) for slot in service.slots}


def _slot_schema(slot: Slot) -> dict[str, object]:
    described: dict[str, object] = {"description": slot.description} if slot.description else {}
    if slot.is_categorical:
        return {**described, "enum": [*slot.values, DONT_CARE, None]}
    return {**described, "type": ["string", "null"]}


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def _value(slot: Slot, said: object) -> str:
    if not isinstance(said, str | int | float):
        return ""
    text = " ".join(str(said).split())
    spellings = (
        {value.casefold(): value for value in (*slot.values, DONT_CARE)} if slot.is_categorical else {}
    )
    return spellings.get(text.casefold(), text)


def read_sgd(folder: Path, split: Literal["train", "dev", "test"]) -> DialogueSet:
    """Schema-Guided Dialogue. A turn has a frame for each service it is about.

    The intents of some dialogues of the test part are all empty: nobody told their states, which are
    empty too. They have no references, since an extractor that finds nothing would be right on them.
    """
    schema = read_records(folder / f"schema_{split}.jsonl.gz")
    services = {record["service_name"]: _sgd_service(record) for record in schema}
    records = read_records(folder / f"{split}.jsonl.gz")
    return DialogueSet(services, tuple(_sgd_dialogue(record) for record in records))


def read_multiwoz(folder: Path, split: Literal["dev", "test"]) -> DialogueSet:
    """MultiWOZ 2.1. Every turn has a frame for each domain, so JGA asks for the whole state.

    The data say neither which slots are categorical nor what they can be; with one accepted value the rule
    is the same.
    """
    slots: dict[str, list[Slot]] = {}
    for record in read_records(folder / "slots.jsonl.gz"):
        domain, _, name = record["slot"].partition("-")
        slots.setdefault(domain, []).append(Slot(name))
    services = {domain: Service(domain, tuple(named)) for domain, named in slots.items()}
    records = read_records(folder / f"{split}.jsonl.gz")
    return DialogueSet(services, tuple(_multiwoz_dialogue(record, tuple(services)) for record in records))


def _sgd_service(record: Mapping[str, Any]) -> Service:
    slots = (
        Slot(slot["name"], slot["description"], slot["is_categorical"], tuple(slot["possible_values"]))
        for slot in record["slots"]
    )
    return Service(record["service_name"], tuple(slots), record["description"])


def _sgd_dialogue(record: Mapping[str, Any]) -> Dialogue:
    references = {
        place: {
            service: {slot: tuple(values) for slot, values in slots.items()}
            for service, slots in turn["state"].items()
        }
        for place, turn in enumerate(record["turns"])
        if turn["speaker"] == "user" and any(turn["intent"].values())
    }
    return Dialogue(record["id"], tuple(record["services"]), _utterances(record["turns"]), references)


def _multiwoz_dialogue(record: Mapping[str, Any], domains: Sequence[str]) -> Dialogue:
    references = {
        place: _by_domain(turn["state"], domains)
        for place, turn in enumerate(record["turns"])
        if turn["speaker"] == "user"
    }
    return Dialogue(record["id"], tuple(domains), _utterances(record["turns"]), references)


def _by_domain(state: Mapping[str, str], domains: Sequence[str]) -> dict[str, dict[str, Accepted]]:
    frames: dict[str, dict[str, Accepted]] = {domain: {} for domain in domains}
    for key, value in state.items():
        domain, _, slot = key.partition("-")
        frames[domain][slot] = (value,)
    return frames


def _utterances(turns: Sequence[Mapping[str, Any]]) -> tuple[Utterance, ...]:
    return tuple(Utterance(turn["speaker"], turn["text"]) for turn in turns)
