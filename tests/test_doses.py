"""A dose without a name is of the one medicine that is known; of several it stands by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from agent_fakes import source
from test_everyday import remembered

from agents.asked_for import asked_for, how_it_gives
from agents.claim_interfaces import Said
from agents.quote_order import Quote, with_what_changed_since
from agents.reader_summarizer import candidates
from agents.relations.doses import medicine_of, with_medicine

TWENTY = "I take 20 mg of lisinopril."


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("I now take 40 mg.", "I now take 40 mg of lisinopril."),
        ("I take 40 mg now.", "I take 40 mg of lisinopril now."),
        ("I take 40 mg.", "I take 40 mg of lisinopril."),
        ("I'm on 40 mg now.", "I'm on 40 mg of lisinopril now."),
        ("The doctor put me on 40 mg.", "The doctor put me on 40 mg of lisinopril."),
        ("My doctor has put me up to 40 mg.", "My doctor has put me up to 40 mg of lisinopril."),
        ("I now take 40 mg every morning.", "I now take 40 mg of lisinopril every morning."),
        ("I now take 2 tablets a day.", "I now take 2 tablets of lisinopril a day."),
    ],
)
def test_a_dose_of_the_one_medicine_takes_the_place_of_the_old_one(said: str, known: str) -> None:
    assert remembered(TWENTY, said) == [known]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ([], "I now take 40 mg."),
        ([TWENTY, "I take 5 mg of bisoprolol."], "I now take 40 mg."),
        (["My wife takes 20 mg of lisinopril."], "I now take 40 mg."),
        ([TWENTY], "I now take 40 mg of bisoprolol."),
        ([TWENTY], "My wife now takes 40 mg."),
        ([TWENTY], "I take 40 minutes to get home."),
        ([TWENTY], "The recipe takes 40 g."),
        ([TWENTY], "I also take 40 mg."),
        ([TWENTY], "I take 40 mg on Sundays."),
    ],
)
def test_of_no_or_several_medicines_none_is_meant(known: list[str], said: str) -> None:
    assert remembered(*known, said) == [*known, said]


def test_what_is_known_says_which_medicine_there_is() -> None:
    def understood(*known: str) -> list[str]:
        return [each.text for each in candidates(Said("I now take 40 mg.", known=known))]

    assert understood("I like tea.", "I take 20 mg of lisinopril every morning.") == [
        "I now take 40 mg of lisinopril."
    ]
    assert understood(TWENTY, "I take 5 mg of bisoprolol.") == ["I now take 40 mg."]
    assert understood(TWENTY, "The doctor put me on 40 mg of lisinopril.") == [
        "I now take 40 mg of lisinopril."
    ]
    assert understood(TWENTY, "I stopped taking lisinopril.") == ["I now take 40 mg."]
    assert understood("I think I take 20 mg of lisinopril.") == ["I now take 40 mg of lisinopril."]


@pytest.mark.parametrize("hostile", ["I take 40 mg ", "mg ", "every ", " ", "I am ", "4"])
def test_a_long_text_tells_no_dose(hostile: str) -> None:
    long = hostile * (30_000 // len(hostile))
    assert medicine_of(long) == ""
    assert with_medicine(long, [TWENTY]) == long


UP = "The doctor has put me up to 100 mg of sertraline."


@pytest.mark.parametrize(
    "end",
    [
        "I no longer take sertraline.",
        "I don't take sertraline any more.",
        "I've stopped taking sertraline.",
        "I came off sertraline last month.",
        "I am off sertraline now.",
        "The doctor took me off sertraline.",
        "I no longer take 100 mg of sertraline.",
    ],
)
def test_the_end_of_a_medicine_takes_the_place_of_its_dose(end: str) -> None:
    assert remembered("I take 50 mg of sertraline.", UP, end) == [end]
    asking = asked_for("How much sertraline do I take?")
    assert how_it_gives(end, asking) == "plainly"
    morning = Quote(source(1, "I take 20 mg of sertraline in the morning.", kind="fact"), "", 0.9)
    told = [replace(morning, text=morning.source.passage.text), quote_of(2, UP), quote_of(3, end)]
    best = with_what_changed_since(told, told, asking)
    assert (best[0].text, best[0].is_earlier) == (end, False)
    assert all(one.is_earlier for one in best[1:]) or "100" in end


def test_a_dose_that_a_doctor_set_is_replaced_by_the_next_one() -> None:
    assert remembered(UP, "I take 50 mg of sertraline now.") == ["I take 50 mg of sertraline now."]
    by_name = "Dr Lim has put me up to 100 mg of sertraline."
    assert remembered(by_name, "I no longer take sertraline.")[0] == by_name  # who Dr Lim is stays known


def quote_of(number: int, text: str) -> Quote:
    return Quote(source(number, text, kind="fact"), text, 0.9)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (UP, "I no longer take bisoprolol."),
        (UP, "I no longer take sertraline in the morning."),
        (UP, "I no longer take 50 mg of sertraline."),
        (UP, "My wife no longer takes sertraline."),
        ("Flour 200 g.", "I use 100 g of flour now."),
        ("Vitamin D 2000 units.", "I take 1000 units of vitamin C now."),
    ],
)
def test_the_end_of_something_else_ends_no_dose(known: str, said: str) -> None:
    assert remembered(known, said) == [known, said]


@pytest.mark.parametrize(
    "known",
    [
        "Vitamin D 2000 units",
        "Vitamin D: 2000 units a day",
        "I take vitamin D 2000 units daily.",
        "I take 2000 units of vitamin D.",
    ],
)
def test_a_dose_behind_its_medicine_is_replaced_too(known: str) -> None:
    assert remembered(known, "I take 1000 units of vitamin D now.") == ["I take 1000 units of vitamin D now."]


def test_what_is_taken_again_takes_the_place_of_its_end() -> None:
    again = "I take 25 mg of sertraline again."
    assert remembered(UP, "I no longer take sertraline.", again) == [again]


def test_the_dose_of_a_vitamin_is_asked_for_by_its_two_words() -> None:
    asking = asked_for("How much vitamin D do I take?")
    assert how_it_gives("I take 1000 units of vitamin D now.", asking) == "plainly"
    assert how_it_gives("I take 1000 units of vitamin C now.", asking) is None
