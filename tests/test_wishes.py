"""Wishes over a table: what a message may mean, what of it holds, and which entities meet it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from agents.dialogue.columns import column_of
from agents.dialogue.knowledge_table import KnowledgeTable
from agents.dialogue.session_state import state_of
from agents.dialogue.wish_candidates import possible
from agents.dialogue.wish_parser import Change, Meant, WishParser, wishes_after
from agents.models.dialogue_arrays import VECTOR, Floats
from agents.models.wish_network import KINDS, LABELS, MARKS, NAMES, NEAR, Candidate, Kind, forward
from stores.base.entities import Entity
from stores.base.wishes import Wish, is_same, number_of
from training.dialogue.train_wishes import Network, batch_of
from training.dialogue.wish_examples import invented

FLATS = {
    1: Entity("Birch", {"district": "Harbour", "rent": "640", "opens": "09:00", "lift": "yes"}),
    2: Entity("Cedar", {"district": "Harbour", "rent": "910", "opens": "10:30", "lift": "no"}),
    3: Entity("Rowan", {"district": "Mill Hill", "rent": "1,150", "opens": "08:00", "lift": "yes"}),
    4: Entity("Alder", {"district": "Old Town", "opens": "12:00", "lift": "no"}),
}
TABLE = KnowledgeTable("flats", FLATS.items())


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("12", 12),
        ("12 kg", 12),
        ("€ 4.50", 4.5),
        ("4,5%", 4.5),
        ("1,150", 1150),
        ("-3", -3),
        ("09:30", 570),
        ("A4", None),
        ("R 101", None),
        ("05550 942950", None),
        ("12 Linden Avenue", None),
    ],
)
def test_a_value_is_a_number_where_nothing_else_stands_in_it(value: str, number: float | None) -> None:
    assert number_of(value) == number


@pytest.mark.parametrize(
    ("wish", "met"),
    [
        (Wish("district", "is", ("harbour", "old town")), [1, 2, 4]),
        (Wish("district", "not", ("harbour",)), [3, 4]),
        (Wish("rent", "most", ("910",)), [1, 2]),
        (Wish("rent", "below", ("910",)), [1]),
        (Wish("rent", "least", ("910",)), [2, 3]),
        (Wish("rent", "above", ("1150",)), []),
        (Wish("rent", "not", ("640",)), [2, 3]),  # of the fourth it is not known
        (Wish("opens", "most", ("9:00",)), [1, 3]),
        (Wish("lift", "is", ("yes",)), [1, 3]),
    ],
)
def test_a_wish_is_met_by_the_values_of_the_table(wish: Wish, met: list[int]) -> None:
    assert TABLE.meeting([wish]) == met
    assert [n for n, flat in FLATS.items() if wish.is_met(flat.values.get(wish.column, ""))] == met


def test_the_best_of_a_column_are_those_at_its_end() -> None:
    assert TABLE.best("rent", highest=True, of=None) == [3]
    assert TABLE.best("rent", highest=False, of=[2, 3]) == [2]


def test_a_message_is_read_without_the_words_of_the_table() -> None:
    tokens, found = possible("Birch? not in Mill Hill, under 700 by 9", TABLE)
    assert tokens == "it ? not in district , under number by number".split()
    values = {(one.given.kind, one.column, one.value, one.given.at) for one in found if one.given.at}
    assert values == {
        ("value", "district", "Mill Hill", (4,)),
        ("number inside", "rent", "700", (7,)),
        ("number outside", "opens", "700", (7,)),
        ("number outside", "rent", "9", (9,)),
        ("number inside", "opens", "09:00", (9,)),
    }
    assert found[-1].given == Candidate("message", "", (), (4,))


class Scripted:
    """Judges by what is written here; all else means nothing."""

    def __init__(self, **labels: str) -> None:
        self._labels = labels

    def chances(self, tokens: Sequence[str], found: Sequence[Candidate]) -> list[dict[str, float]]:
        made = []
        for one in found:
            key = tokens[one.at[0]] if one.kind == "value" else one.column or "message"
            kind: Kind = one.kind
            wanted = self._labels.get(key, LABELS[kind][0])
            wanted = wanted if wanted in LABELS[kind] else LABELS[kind][0]
            made.append({label: float(label == wanted) for label in LABELS[kind]})
        return made

    def likeness(self, some: Sequence[str], others: Sequence[str]) -> Floats:
        """By equal first letters: "from" is like "first"."""
        return np.array([[float(one[0] == other[0]) for other in others] for one in some], np.float32)


def test_what_is_judged_becomes_wishes() -> None:
    def wishes(message: str, **labels: str) -> list[str]:
        return [wish.told for wish in state_of(TABLE, WishParser(Scripted(**labels)), [message], []).wishes]

    assert wishes("no mill hill", district="not") == ["district: not Mill Hill"]
    assert wishes("mill hill or old town", district="is") == ["district: Mill Hill or Old Town"]
    assert wishes("under 700", rent="most") == ["rent: at most 700"]
    assert wishes("without a lift", lift="not") == ["lift: no"]
    assert wishes("a lift", lift="is") == ["lift: yes"]


@pytest.mark.parametrize(
    ("message", "columns"),
    [
        ("to york", ["target city"]),
        ("from york", ["first city"]),
        ("from york to leeds", ["first city", "target city"]),
        ("from york from leeds", ["first city", "target city"]),  # of two columns
        ("york", ["first city"]),  # nothing before it: where it stands more often
        ("to bath", ["first city"]),  # no other column has it
    ],
)
def test_a_value_of_several_columns_is_of_the_one_like_the_word_before_it(
    message: str, columns: list[str]
) -> None:
    rows = [("York", "Leeds"), ("York", "York"), ("Leeds", "York"), ("York", "Leeds"), ("Bath", "Leeds")]
    cities = [Entity(f"T{n}", {"first city": a, "target city": b}) for n, (a, b) in enumerate(rows)]
    _, found = possible(message, KnowledgeTable("trains", enumerate(cities)), Scripted().likeness)
    assert [one.column for one in found if one.given.kind == "value"] == columns


def test_a_column_gives_up_no_wish_unless_that_is_sure() -> None:
    class Hesitating(Scripted):
        def chances(self, tokens: Sequence[str], found: Sequence[Candidate]) -> list[dict[str, float]]:
            sure = super().chances(tokens, found)
            return [
                each | {"any": 0.9 * each["any"], "none": 0.1} if "any" in each else each for each in sure
            ]

    for judge, kept in ((Scripted(rent="any"), []), (Hesitating(rent="any"), ["rent: at most 700"])):
        first, later = Meant((Change("rent", "most", "700"),)), WishParser(judge).meant("hm", TABLE)
        assert [wish.told for wish in wishes_after(TABLE, [first, later], [[], []])] == kept


def test_where_nothing_meets_the_wishes_there_is_no_best_among_what_was_shown() -> None:
    parser = WishParser(Scripted(rent="highest"))
    shown = "None of 4 meets rent: at most 100. The nearest: Birch [1], Cedar [2]"
    for limit, focus in (("100", ()), ("700", (1,))):
        wanted = Meant((Change("rent", "most", limit),))
        state = state_of(TABLE, parser, ["cheap", "which has the highest rent?"], [shown], [wanted])
        assert (state.best, state.focus) == (("rent", "highest"), focus)


def test_a_number_is_of_a_column_of_which_the_message_says_a_word() -> None:
    rows = {n: Entity(f"Hall {n}", {"seats": f"{n}00", "rent per day": f"{n}50"}) for n in range(1, 5)}
    halls = KnowledgeTable("halls", rows.items())

    class Wavering(Scripted):
        def chances(self, tokens: Sequence[str], found: Sequence[Candidate]) -> list[dict[str, float]]:
            sure = {"seats": 0.9, "rent per day": 0.7}
            numbers = [
                {"most": sure.get(one.column, 0.0), "none": 1 - sure.get(one.column, 0.0)} for one in found
            ]
            plain = super().chances(tokens, found)
            return [
                number if one.kind == "number inside" else each
                for one, number, each in zip(found, numbers, plain, strict=True)
            ]

    def of(message: str, **labels: str) -> Meant:
        return WishParser(Wavering(**labels)).meant(message, halls)

    assert [change.column for change in of("under 300 a day").changes] == ["rent per day"]
    assert [change.column for change in of("under 300").changes] == ["seats"]
    lowest = WishParser(Scripted(**{"seats": "lowest", "rent per day": "lowest"}))
    assert lowest.meant("the cheapest", halls).best == ("seats", "lowest")
    limited = of("the cheapest under 300", **{"seats": "lowest", "rent per day": "lowest"})
    assert limited.best == ("rent per day", "lowest")


@pytest.mark.parametrize("kept", [True, False])
def test_the_network_in_numpy_is_the_one_that_is_trained(kept: bool) -> None:
    torch.manual_seed(0)
    network = Network().eval()
    draw = np.random.default_rng(0)
    count, length = 3, 5 if kept else 1
    given = {
        "words": draw.normal(size=(length, VECTOR)).astype(np.float32),
        "windows": draw.normal(size=(length, VECTOR)).astype(np.float32),
        "columns": draw.normal(size=(count, VECTOR)).astype(np.float32),
        "marks": draw.integers(0, MARKS, (count, length)),
        "near": draw.integers(0, NEAR + 1, (count, length)),
        "kinds": draw.integers(0, len(KINDS), count),
    }
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    with torch.no_grad():
        wanted = network(batch_of([given])).numpy()
    assert forward(weights, given) == pytest.approx(wanted, rel=1e-3, abs=1e-3)


def test_invented_messages_are_the_same_again_and_have_labels_that_fit() -> None:
    first, again = (list(invented(200, seed=3)) for _ in range(2))
    assert [one.tokens for one in first] == [one.tokens for one in again]
    seen = {(c.kind, label) for one in first for c, label in zip(one.found, one.labels, strict=True)}
    assert seen <= {(kind, label) for kind, labels in LABELS.items() for label in labels}
    assert {label for _, label in seen} == set(NAMES)


def test_a_taken_back_wish_is_gone_and_a_comparison_is_with_what_is_talked_about() -> None:
    def after(*changes: Change, talked: Sequence[int] = ()) -> list[str]:
        meant = [Meant((change,)) for change in changes]
        return [wish.told for wish in wishes_after(TABLE, meant, [talked] * len(meant))]

    harbour, hill = Change("district", "is", "Harbour"), Change("district", "is", "Mill Hill")
    assert after(harbour, hill) == ["district: Mill Hill"]
    assert after(harbour, Change("district", "any")) == []
    assert after(harbour, Change("district", "any", "Mill Hill")) == ["district: Harbour"]
    assert after(harbour, Change("district", "not", "Harbour")) == ["district: not Harbour"]
    assert after(Change("rent", "most", "900"), Change("rent", "least", "500")) == [
        "rent: at most 900",
        "rent: at least 500",
    ]
    assert after(Change("rent", "most", "900"), Change("rent", "most", "700")) == ["rent: at most 700"]
    assert after(Change("rent", "below"), talked=[2]) == ["rent: below 910"]
    assert after(Change("rent", "below")) == []


@pytest.mark.parametrize(
    ("one", "other"), [("A+", "A-"), ("C++", "C#"), ("12 kg", "12 g"), ("1 TB", "1 GB"), ("-5", "5")]
)
def test_signs_and_units_tell_values_apart(one: str, other: str) -> None:
    assert not is_same(one, other)


def test_a_column_of_several_units_is_not_compared_as_numbers() -> None:
    assert column_of("disk", ["500 GB", "1 TB"]).kind == "text"
    assert column_of("weight", ["5 kg", "12 kg"]).kind == "number"
