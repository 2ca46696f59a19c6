"""What is only thought is kept with the words that say so, and replaces nothing that is certain."""

from __future__ import annotations

import pytest
from agent_fakes import passage, source
from test_everyday import SilentReader, remembered

from agents.asked_for import asked_for, how_it_gives
from agents.claim_interfaces import Claim, Said, Weighed
from agents.claim_rules.doubts import doubt, without_doubt
from agents.claim_rules.statements import statements
from agents.curator import RuleCurator
from agents.interfaces import Candidate
from agents.named_answers import that_holds
from agents.quote_order import Quote, with_what_changed_since
from agents.reader_summarizer import candidates
from agents.value_changes import change

KEPT = [
    ("I think my neighbour's name is Paul.", "I think my neighbour's name is Paul."),
    ("i think that my neighbour's name is Paul", "I think that my neighbour's name is Paul."),
    ("Well, I believe my neighbour's name is Paul.", "I believe my neighbour's name is Paul."),
    ("I guess my neighbour's name is Paul.", "I guess my neighbour's name is Paul."),
    ("I'm not sure but my neighbour's name is Paul.", "I'm not sure but my neighbour's name is Paul."),
    ("Not sure, but my aunt lives in Genk.", "Not sure, but my aunt lives in Genk."),
    ("My neighbour's name is probably Paul.", "My neighbour's name is probably Paul."),
    ("Probably my aunt is 70.", "Probably my aunt is 70."),
    ("My boss is Ann, I think.", "I think my boss is Ann."),
    ("I reckon I weigh 80 kilos.", "I reckon I weigh 80 kilos."),
    ("I suppose our gas meter is in the cellar.", "I suppose our gas meter is in the cellar."),
]
CERTAIN = [  # said in no doubt, or as an opinion
    ("I think cats are great.", "Cats are great."),
    ("I think the mayor is Olaf Brandt.", "The mayor is Olaf Brandt."),
    ("I don't think my boss is Ann.", "I don't think my boss is Ann."),
    ("I am sure my boss is Ann.", "My boss is Ann."),
    ("I often think of my aunt.", "I often think of my aunt."),
]
NOTHING = [
    "I guess I will move to Bern.",
    "I'll probably be late.",
    "I guess so.",
    "Probably my car would win.",
]


@pytest.mark.parametrize(("message", "text"), [*KEPT, *CERTAIN])
def test_what_is_thought_is_kept_as_thought(message: str, text: str) -> None:
    assert [each.text for each in candidates(Said(message))] == [text]


@pytest.mark.parametrize("message", NOTHING)
def test_a_plan_in_doubt_states_nothing(message: str) -> None:
    assert list(statements(message)) == []


def test_of_a_pronoun_is_kept_what_it_means_in_the_same_doubt() -> None:
    told = "My sister Jana lives in Ulm. I think she works at the zoo. She is probably 30."
    assert [each.text for each in candidates(Said(told))] == [
        "My sister Jana lives in Ulm.",
        "I think my sister Jana works at the zoo.",
        "My sister Jana is probably 30.",
    ]


@pytest.mark.parametrize(
    ("messages", "known"),
    [
        (["My boss is Ann.", "I think my boss is Ben."], ["My boss is Ann.", "I think my boss is Ben."]),
        (["My boss is Ann.", "My boss is Ben, I think."], ["My boss is Ann.", "I think my boss is Ben."]),
        (["I live in Rome.", "I believe I live in Bonn."], ["I live in Rome.", "I believe I live in Bonn."]),
        (["I think my boss is Ann.", "My boss is Ben."], ["My boss is Ben."]),
        (["I think my boss is Ann.", "My boss is Ann."], ["My boss is Ann."]),
        (
            ["I think my neighbour's name is Paul.", "My neighbour's name is Peter."],
            ["My neighbour's name is Peter."],
        ),
        (["I think my aunt is 70.", "My aunt likes tea."], ["I think my aunt is 70.", "My aunt likes tea."]),
        (["My aunt is probably 70.", "My aunt is 71."], ["My aunt is 71."]),
        (["I think my boss is Ann.", "I think my boss is Ben."], ["I think my boss is Ben."]),
        (["I think my boss is Ann.", "I meant Ben."], ["My boss is Ben."]),
        (["I drive a Skoda.", "I think I sold my Skoda."], ["I drive a Skoda.", "I think I sold my Skoda."]),
    ],
)
def test_what_is_certain_stands_and_takes_the_place_of_what_is_thought(
    messages: list[str], known: list[str]
) -> None:
    assert remembered(*messages) == known


def test_what_is_thought_says_nothing_new_beside_the_same_that_is_certain() -> None:
    assert change("My boss is Ann.", "I guess my boss is Ann.") == "same"
    assert change("I guess my boss is Ann.", "My boss is Ann.") == "value"


async def test_what_is_thought_of_the_world_is_kept_so_in_ones_own_memory() -> None:
    said = "I think the pool opens at nine."
    claim = Claim("The pool opens at nine.", said, "fact", "world")
    known = passage(1, "The pool opens at eight.", kind="fact", space="user:1")
    curation = await RuleCurator(SilentReader()).curate(
        claim, Weighed("unknown", 1.0), [Candidate(known, 0.8, 1.0, 0.0, 0.8, 1)]
    )
    assert (curation.action, curation.text) == ("add", said)


def test_what_is_thought_answers_without_a_headline() -> None:
    said = "I think my boss is Ann."
    assert how_it_gives(said, asked_for("Who is my boss?")) == "plainly"
    assert that_holds("Ann", said, "Who is my boss?") == ""
    assert that_holds("Ann", "My boss is Ann.", "Who is my boss?") == "Ann"


def test_what_is_certain_is_quoted_before_what_is_thought_since() -> None:
    texts = ["My boss is Ann.", "I think my boss is Ben."]
    told = [Quote(source(n, text, kind="fact"), text, 0.9) for n, text in enumerate(texts, start=1)]
    quotes = with_what_changed_since(told, told, asked_for("Who is my boss?"))
    assert [(quote.text, quote.is_earlier) for quote in quotes] == [(texts[0], False), (texts[1], False)]


@pytest.mark.parametrize(("message", "text"), KEPT)
def test_what_is_thought_does_not_change_itself(message: str, text: str) -> None:
    assert change(text, text) == "same"
    assert doubt(text) is not None
    assert without_doubt(without_doubt(text)) == without_doubt(text)


@pytest.mark.parametrize("hostile", ["I think ", "not sure, ", "is probably ", "my a ", " ", ", i think"])
def test_a_long_text_is_in_no_doubt(hostile: str) -> None:
    assert doubt(hostile * (30_000 // len(hostile))) is None


def test_of_two_things_that_are_told_no_other_is_doubted_than_the_one() -> None:
    assert doubt("My aunt is 70 and is probably in Genk.") is None
    assert doubt("My favourite word is probably.") is None
