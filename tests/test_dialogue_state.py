"""Dialogue state metrics, worked out by hand, and the extractor of stated accuracy."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.replay.simulation.dialogue_state import (
    Dialogue,
    DialogueSet,
    DialogueSoFar,
    FrameScore,
    GoalAccuracy,
    Reference,
    Service,
    Services,
    Slot,
    State,
    StateExtractor,
    TurnScore,
    Utterance,
    frame_score,
    goal_accuracy,
    read_multiwoz,
    read_reply,
    read_sgd,
    reply_schema,
    turn_score,
    turn_scores,
)
from assistant.replay.simulation.simulated_extractor import (
    ERROR_KINDS,
    Draw,
    Errors,
    SimulatedExtractor,
    SlotKey,
    drawn_place,
    held_slots,
)
from benchmarks.dialogue_state import Draws

DATA = Path(__file__).parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(not (DATA / "sgd").is_dir(), reason="the data folder is not here")

HOTEL = Service(
    "hotel",
    (
        Slot("stars", is_categorical=True, values=("3", "4")),
        Slot("city", "where it is"),
        Slot("name"),
        Slot("nights"),
    ),
)
TAXI = Service("taxi", (Slot("to"), Slot("at")))
SERVICES = {"hotel": HOTEL, "taxi": TAXI}
DrawKey = tuple[str, int, SlotKey]  # dialogue, place, slot


# one frame


def test_two_of_three_active_slots() -> None:
    reference = {"stars": ("4",), "city": ("Paris",), "name": ("Ritz",)}
    predicted = {"stars": "4", "city": "Lyon", "name": "Ritz"}
    assert frame_score(HOTEL, reference, predicted) == FrameScore(2 / 3, False)


def test_a_slot_that_is_left_out_is_wrong() -> None:
    assert frame_score(HOTEL, {"city": ("Paris",), "name": ("Ritz",)}, {"city": "Paris"}) == FrameScore(
        0.5, False
    )


def test_an_extra_slot_lowers_joint_alone() -> None:
    predicted = {"city": "Paris", "nights": "2"}
    assert frame_score(HOTEL, {"city": ("Paris",)}, predicted) == FrameScore(1.0, False)


def test_a_categorical_slot_has_the_first_value_and_another_slot_any() -> None:
    assert frame_score(HOTEL, {"stars": ("4", "four")}, {"stars": "four"}) == FrameScore(0.0, False)
    assert frame_score(HOTEL, {"name": ("Ritz", "The Ritz")}, {"name": "The Ritz"}) == FrameScore(1.0, True)


def test_values_are_compared_letter_by_letter() -> None:
    assert frame_score(HOTEL, {"city": ("Paris",)}, {"city": "paris"}) == FrameScore(0.0, False)


def test_a_frame_without_active_slots_has_no_average() -> None:
    assert frame_score(HOTEL, {}, {}) == FrameScore(None, True)
    assert frame_score(HOTEL, {}, {"city": "Paris"}) == FrameScore(None, False)


def test_a_slot_the_service_does_not_have() -> None:
    assert frame_score(HOTEL, {"city": ("Paris",)}, {"city": "Paris", "pool": "yes"}).is_joint
    with pytest.raises(ValueError, match="pool"):
        frame_score(HOTEL, {"pool": ("yes",)}, {})


# turns


def test_every_frame_of_a_turn_must_be_right() -> None:
    reference: Reference = {"hotel": {"city": ("Paris",), "stars": ("4",)}, "taxi": {"to": ("Ritz",)}}
    predicted = {"hotel": {"city": "Paris", "stars": "3"}, "taxi": {"to": "Ritz"}}
    assert turn_score(SERVICES, reference, predicted) == TurnScore((0.5, 1.0), False)


def test_a_service_that_the_turn_is_not_about_is_not_looked_at() -> None:
    predicted = {"hotel": {"city": "Paris"}, "taxi": {"to": "Ritz"}}
    assert turn_score(SERVICES, {"hotel": {"city": ("Paris",)}}, predicted) == TurnScore((1.0,), True)


def test_an_empty_frame_counts_for_joint_alone() -> None:
    reference: Reference = {"hotel": {"city": ("Paris",)}, "taxi": {}}
    assert turn_score(SERVICES, reference, {"hotel": {"city": "Paris"}, "taxi": {"to": "x"}}) == TurnScore(
        (1.0,), False
    )


def test_joint_is_over_turns_and_average_over_frames() -> None:
    scores = [TurnScore((0.5, 1.0), False), TurnScore((1.0,), True), TurnScore((), True)]
    # JGA = (0 + 1 + 1) / 3; AGA = (0.5 + 1 + 1) / 3, not (0.75 + 1) / 2
    assert goal_accuracy(scores) == GoalAccuracy(2 / 3, 2.5 / 3, 3, 3)


def test_nothing_to_measure() -> None:
    assert goal_accuracy([TurnScore((), True)]) == GoalAccuracy(1.0, None, 1, 0)
    with pytest.raises(ValueError, match="no turn"):
        goal_accuracy([])


# properties

values = st.sampled_from(["3", "4", "Paris", "Ritz"])
accepted = st.lists(values, min_size=1, max_size=3, unique=True).map(tuple)


def frames(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            service.name: st.fixed_dictionaries({}, optional={slot.name: value for slot in service.slots})
            for service in SERVICES.values()
        },
    )


references: st.SearchStrategy[Reference] = frames(accepted)
states: st.SearchStrategy[State] = frames(values)


def first_values(reference: Reference) -> dict[str, dict[str, str]]:
    return {
        service: {slot: right[0] for slot, right in slots.items()} for service, slots in reference.items()
    }


def reversed_state(state: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {service: dict(reversed(list(slots.items()))) for service, slots in reversed(list(state.items()))}


def average(score: TurnScore) -> float | None:
    return goal_accuracy([score]).average


@given(references)
def test_a_perfect_prediction_is_worth_one_and_one(reference: Reference) -> None:
    score = turn_score(SERVICES, reference, first_values(reference))
    assert score.is_joint
    assert average(score) in (1, None)


@given(references, states)
def test_average_is_never_below_joint(reference: Reference, predicted: State) -> None:
    score = turn_score(SERVICES, reference, predicted)
    mean = average(score)
    assert mean is None or 0 <= score.is_joint <= mean <= 1


@given(references, states)
def test_the_order_of_slots_frames_and_services_does_not_matter(
    reference: Reference, predicted: State
) -> None:
    score = turn_score(SERVICES, reference, predicted)
    services = {
        name: Service(name, tuple(reversed(service.slots))) for name, service in reversed(SERVICES.items())
    }
    turned = turn_score(services, reversed_state(reference), reversed_state(predicted))
    assert (sorted(turned.averages), turned.is_joint) == (sorted(score.averages), score.is_joint)


@given(references, states, states)
def test_extra_slots_never_raise_joint_nor_change_average(
    reference: Reference, predicted: State, more: State
) -> None:
    with_more = {name: dict(slots) for name, slots in predicted.items()}
    added = 0
    for name in reference:
        for slot, value in more.get(name, {}).items():
            if slot not in reference[name] and slot not in predicted.get(name, {}):
                with_more.setdefault(name, {})[slot] = value
                added += 1
    before = turn_score(SERVICES, reference, predicted)
    after = turn_score(SERVICES, reference, with_more)
    assert after.averages == before.averages
    assert after.is_joint == (before.is_joint and not added)


@given(references, st.data())
def test_a_wrong_value_lowers_both(reference: Reference, data: st.DataObject) -> None:
    active = [(service, slot) for service, slots in reference.items() for slot in slots]
    predicted = first_values(reference)
    if active:
        service, slot = data.draw(st.sampled_from(active))
        predicted[service][slot] = "something else"
        score = turn_score(SERVICES, reference, predicted)
        mean = average(score)
        assert not score.is_joint
        assert mean is not None
        assert mean < 1


# replies


def test_a_reply_is_read_in_the_services_own_spelling() -> None:
    service = Service("hotel", (Slot("pool", is_categorical=True, values=("True", "False")), *HOTEL.slots))
    reply = {"hotel": {"pool": True, "stars": "DontCare", "city": "  New\n York ", "nights": 2, "name": None}}
    assert read_reply(reply, {"hotel": service}) == {
        "hotel": {"pool": "True", "stars": "dontcare", "city": "New York", "nights": "2"}
    }


def test_what_no_service_has_is_left_out_of_a_reply() -> None:
    reply = {"hotel": {"spa": "yes", "city": ["Paris"], "name": " ", "nights": {}}, "bank": {"x": "y"}}
    assert read_reply(reply, SERVICES) == {"hotel": {}}
    assert read_reply({"hotel": "Paris", "taxi": []}, SERVICES) == {}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["hotel", "city", "stars", "x"]), inner),
)


@given(st.dictionaries(st.sampled_from(["hotel", "taxi", "x"]), json_values))
def test_any_reply_gives_a_state_of_these_services(reply: dict[str, Any]) -> None:
    for name, slots in read_reply(reply, SERVICES).items():
        assert slots.keys() <= {slot.name for slot in SERVICES[name].slots}
        assert all(value and value == " ".join(value.split()) for value in slots.values())


def test_the_schema_of_a_reply() -> None:
    service = Service("hotel", (Slot("stars", "how good", True, ("3", "4")), Slot("city")))
    assert reply_schema({"hotel": service}) == {
        "type": "object",
        "properties": {
            "hotel": {
                "type": "object",
                "properties": {
                    "stars": {"description": "how good", "enum": ["3", "4", "dontcare", None]},
                    "city": {"type": ["string", "null"]},
                },
                "additionalProperties": False,
            }
        },
        "additionalProperties": False,
    }


# reading the data


def write(path: Path, records: Sequence[dict[str, Any]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)


def test_sgd_is_read_and_what_nobody_told_is_no_reference(tmp_path: Path) -> None:
    slot = {"name": "stars", "description": "how good", "is_categorical": True, "possible_values": ["3", "4"]}
    schema = {"service_name": "H_1", "description": "hotels", "slots": [slot], "intents": []}
    write(tmp_path / "schema_dev.jsonl.gz", [schema])
    user = {"speaker": "user", "text": "Four stars.", "state": {"H_1": {"stars": ["4"]}}}
    turns = [user | {"intent": {"H_1": "Find"}}, {"speaker": "system", "text": "Fine."}]
    silent = [user | {"state": {"H_1": {}}, "intent": {"H_1": ""}}]
    none = [user | {"state": {"H_1": {}}, "intent": {"H_1": "NONE"}}]
    write(
        tmp_path / "dev.jsonl.gz",
        [{"id": str(n), "services": ["H_1"], "turns": t} for n, t in enumerate([turns, silent, none])],
    )
    data = read_sgd(tmp_path, "dev")
    assert data.services == {"H_1": Service("H_1", (Slot("stars", "how good", True, ("3", "4")),), "hotels")}
    told, untold, empty = data.dialogues
    assert told.utterances == (Utterance("user", "Four stars."), Utterance("system", "Fine."))
    assert told.references == {0: {"H_1": {"stars": ("4",)}}}
    assert untold.references == {}
    assert empty.references == {0: {"H_1": {}}}


def test_multiwoz_is_read_with_a_frame_for_each_domain(tmp_path: Path) -> None:
    slots = ["hotel-book day", "hotel-name", "taxi-leaveat"]
    write(tmp_path / "slots.jsonl.gz", [{"slot": name, "values": []} for name in slots])
    turn = {"speaker": "user", "text": "For Monday.", "state": {"hotel-book day": "monday"}}
    write(tmp_path / "dev.jsonl.gz", [{"id": "a", "domains": ["hotel"], "turns": [turn]}])
    data = read_multiwoz(tmp_path, "dev")
    (dialogue,) = data.dialogues
    assert [slot.name for slot in data.services["hotel"].slots] == ["book day", "name"]
    assert dialogue.references == {0: {"hotel": {"book day": ("monday",)}, "taxi": {}}}
    assert set(data.services_of(dialogue)) == {"hotel", "taxi"}


@needs_data
@pytest.mark.parametrize(
    ("data", "untold", "turns"),
    [(read_sgd, 1280, 24863), (read_multiwoz, 0, 7372)],
    ids=["sgd", "multiwoz21_dst"],
)
async def test_the_references_of_the_data_are_right_by_themselves(
    data: Callable[..., DialogueSet], untold: int, turns: int, request: pytest.FixtureRequest
) -> None:
    found = data(DATA / request.node.callspec.id, "test")
    assert sum(not dialogue.references for dialogue in found.dialogues) == untold
    scores = await turn_scores(SimulatedExtractor(found.dialogues, accuracy=1, seed=1), found)
    accuracy = goal_accuracy(scores)
    assert (accuracy.joint, accuracy.average, accuracy.turns) == (1, 1, turns)


# the simulated extractor


def dialogue(name: str, *states: Reference) -> Dialogue:
    """One message of the user after the other, each with its state."""
    said = tuple(Utterance("user", f"message {number}") for number in range(len(states)))
    return Dialogue(name, ("hotel", "taxi"), said, dict(enumerate(states)))


def data_of(*dialogues: Dialogue) -> DialogueSet:
    return DialogueSet(SERVICES, dialogues)


def accuracy_of(extractor: StateExtractor, data: DialogueSet) -> GoalAccuracy:
    return goal_accuracy(asyncio.run(turn_scores(extractor, data)))


def extracted(extractor: StateExtractor, one: Dialogue) -> list[State]:
    return [asyncio.run(extractor.extract(one.so_far(place), SERVICES)) for place in one.references]


MOVING = dialogue(
    "moving",
    {"hotel": {}},
    {"hotel": {"city": ("Paris",)}},
    {"hotel": {"city": ("paris", "Paris"), "stars": ("4",)}},
    {"hotel": {"city": ("Lyon",), "stars": ("4",)}, "taxi": {"to": ("Ritz",)}},
)
OTHER = dialogue("other", {"hotel": {"city": ("Rome",), "stars": ("3",)}, "taxi": {"to": ("Hilton",)}})
BOTH_ERRORS: tuple[Errors, ...] = ("fresh", "lasting")


@pytest.mark.parametrize("errors", BOTH_ERRORS)
def test_accuracy_one_is_right_and_zero_is_wrong(errors: Errors) -> None:
    data = data_of(MOVING, OTHER)
    for accuracy, expected in ((1.0, (1.0, 1.0)), (0.0, (1 / 5, 0.0))):  # one turn of five has nothing active
        for seed in range(20):
            extractor = SimulatedExtractor(data.dialogues, accuracy=accuracy, seed=seed, errors=errors)
            found = accuracy_of(extractor, data)
            assert (found.joint, found.average) == expected


@pytest.mark.parametrize("errors", BOTH_ERRORS)
def test_what_is_extracted_hangs_on_the_turn_alone(errors: Errors) -> None:
    one = SimulatedExtractor([MOVING, OTHER], accuracy=0.5, seed=7, errors=errors)
    other = SimulatedExtractor([OTHER, MOVING], accuracy=0.5, seed=7, errors=errors)
    forwards = [*extracted(one, MOVING), *extracted(one, OTHER)]
    assert [*extracted(other, MOVING), *extracted(other, OTHER)] == forwards
    assert list(reversed(forwards[:4])) == [
        asyncio.run(one.extract(MOVING.so_far(place), SERVICES)) for place in (3, 2, 1, 0)
    ]


def test_an_error_leaves_out_or_takes_another_or_the_old_value() -> None:
    cities = set()
    for seed in range(60):
        *_, state = extracted(SimulatedExtractor([MOVING, OTHER], accuracy=0, seed=seed), MOVING)
        cities.add(state.get("hotel", {}).get("city"))
        assert state.keys() <= {"hotel", "taxi"}  # and no slot is added
        assert state.get("hotel", {}).keys() <= {"city", "stars"}
    assert cities == {None, "Paris", "paris", "Rome"}


def test_an_old_value_that_is_right_again_is_no_error() -> None:
    places = (
        {"hotel": {"city": ("Paris",)}},
        {"hotel": {"city": ("Lyon",)}},
        {"hotel": {"city": ("Lyon", "Paris")}},
    )
    back = dialogue("back", *places)
    for seed in range(30):
        *_, state = extracted(SimulatedExtractor([back], accuracy=0, seed=seed), back)
        assert not turn_score(SERVICES, back.references[2], state).is_joint


@pytest.mark.parametrize("errors", BOTH_ERRORS)
def test_a_higher_accuracy_is_nowhere_worse(errors: Errors) -> None:
    data = data_of(MOVING, OTHER)
    for seed in range(20):
        found = [
            accuracy_of(SimulatedExtractor(data.dialogues, accuracy=p / 10, seed=seed, errors=errors), data)
            for p in range(11)
        ]
        assert [one.joint for one in found] == sorted(one.joint for one in found)
        assert [one.average or 0 for one in found] == sorted(one.average or 0 for one in found)


def test_a_lasting_error_stays_until_the_value_changes() -> None:
    lasting = [
        extracted(SimulatedExtractor([MOVING], accuracy=0.5, seed=seed, errors="lasting"), MOVING)
        for seed in range(80)
    ]
    right = [
        [
            states[place].get("hotel", {}).get("city") in MOVING.references[place]["hotel"]["city"]
            for place in (1, 2, 3)
        ]
        for states in lasting
    ]
    assert all(first == second for first, second, _ in right)  # a spelling added is no change
    assert {(second, third) for _, second, third in right} == set(product([True, False], repeat=2))


def test_fresh_errors_come_and_go() -> None:
    same = dialogue("same", *[{"hotel": {"city": ("Paris",)}}] * 40)
    states = extracted(SimulatedExtractor([same, OTHER], accuracy=0.5, seed=1), same)
    assert 8 < sum(bool(state.get("hotel", {}).get("city") == "Paris") for state in states) < 32
    lasting = SimulatedExtractor([same, OTHER], accuracy=0.5, seed=1, errors="lasting")
    assert len({str(state) for state in extracted(lasting, same)}) == 1


def test_a_turn_without_reference_cannot_be_simulated() -> None:
    unknown = DialogueSoFar("nobody", (Utterance("user", "Hello."),))
    with pytest.raises(ValueError, match="nobody"):
        asyncio.run(SimulatedExtractor([MOVING], accuracy=1, seed=1).extract(unknown, SERVICES))
    with pytest.raises(ValueError, match="accuracy"):
        SimulatedExtractor([], accuracy=1.1, seed=1)


class Echo:
    """Stands for a chat model: reads its reply from the last message."""

    async def extract(self, so_far: DialogueSoFar, services: Services) -> State:
        return read_reply(json.loads(so_far.utterances[-1].text), services)


async def test_any_extractor_is_measured_on_turns_that_have_a_reference() -> None:
    said = (
        Utterance("user", '{"hotel": {"city": "Paris"}}'),
        Utterance("system", "What else?"),
        Utterance("user", "no JSON, and nobody knows the state"),
        Utterance("user", '{"hotel": {"city": "Lyon", "name": "Ritz"}}'),
    )
    asked = {0: {"hotel": {"city": ("Paris",)}}, 3: {"hotel": {"city": ("Lyon",), "stars": ("3",)}}}
    data = data_of(Dialogue("chat", ("hotel",), said, asked))
    assert await turn_scores(Echo(), data) == [TurnScore((1.0,), True), TurnScore((0.5,), False)]


# what the benchmark expects

GROWING = dialogue(
    "growing", {"hotel": {"city": ("Paris",)}}, {"hotel": {"city": ("Paris",), "name": ("Ritz",)}}
)


def test_the_expected_figures_of_one_and_two_slots() -> None:
    fresh, lasting = Draws([GROWING], "fresh"), Draws([GROWING], "lasting")
    for draws in (fresh, lasting):
        assert draws.joint(0.5).mean == pytest.approx(0.375)  # (1/2 + 1/4) / 2
        assert draws.average(0.5).mean == 0.5
    # variances of one turn and the other are 1/4 and 3/16, their covariance 0 or 1/4 - 1/8
    assert fresh.joint(0.5).error ** 2 == pytest.approx((1 / 4 + 3 / 16) / 4)
    assert lasting.joint(0.5).error ** 2 == pytest.approx((1 / 4 + 3 / 16 + 2 / 8) / 4)
    # weights of the draws are 1, 1/2, 1/2; where the first lasts, 3/2 and 1/2
    assert fresh.average(0.5).error ** 2 == pytest.approx((1 + 1 / 4 + 1 / 4) / 4 / 4)
    assert lasting.average(0.5).error ** 2 == pytest.approx((9 / 4 + 1 / 4) / 4 / 4)


def draws_of(data: DialogueSet, errors: Errors) -> list[DrawKey]:
    """Every draw that decides about a slot of these dialogues."""
    return sorted(
        {
            (one.id, drawn_place(held, place, errors), slot)
            for one in data.dialogues
            for place, slots in held_slots(one)
            for slot, held in slots.items()
        }
    )


@pytest.mark.parametrize(("errors", "count"), [("fresh", 9), ("lasting", 7)])
def test_the_expected_figures_are_those_of_every_outcome(
    errors: Errors, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, accuracy = data_of(MOVING, OTHER), 0.7
    keys = draws_of(data, errors)
    assert len(keys) == count
    outcomes = []  # each way in which the draws can fall: its probability, and what is measured then
    for rights in product([True, False], repeat=count):
        falls = dict(zip(keys, rights, strict=True))

        def fallen(seed: int, name: str, place: int, slot: SlotKey, falls: Any = falls) -> Draw:
            return Draw(0.0 if falls[name, place, slot] else 1.0, "left_out", 0)

        monkeypatch.setattr(Draw, "of", staticmethod(fallen))
        extractor = SimulatedExtractor(data.dialogues, accuracy=accuracy, seed=1, errors=errors)
        probability = accuracy ** sum(rights) * (1 - accuracy) ** (count - sum(rights))
        outcomes.append((probability, accuracy_of(extractor, data)))
    expected = Draws(data.dialogues, errors)
    for figure, measured in (
        (expected.joint(accuracy), [(p, one.joint) for p, one in outcomes]),
        (expected.average(accuracy), [(p, one.average or 0) for p, one in outcomes]),
    ):
        mean = sum(p * one for p, one in measured)
        assert figure.mean == pytest.approx(mean)
        assert figure.error**2 == pytest.approx(sum(p * (one - mean) ** 2 for p, one in measured))


def test_each_seed_dialogue_turn_and_slot_has_a_draw_of_its_own() -> None:
    draws = {
        Draw.of(seed, name, place, (service, slot))
        for seed, name, place, service, slot in product([1, 2], "ab", [0, 1], ["hotel", "taxi"], ["to", "at"])
    }
    assert len(draws) == 2**5


def test_draws_are_uniform_and_their_parts_independent() -> None:
    draws = [Draw.of(seed, "a", 1, ("hotel", "city")) for seed in range(20_000)]
    assert sum(draw.place for draw in draws) / 20_000 == pytest.approx(0.5, abs=0.0082)  # 4 standard errors
    for half in ([d for d in draws if d.place < 0.5], [d for d in draws if d.place >= 0.5]):
        for kind in ERROR_KINDS:  # 4 standard errors of 1/3 over 10,000
            assert sum(d.kind == kind for d in half) / len(half) == pytest.approx(1 / 3, abs=0.019)
