"""What the built-in reader's summarizer claims."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.claim_interfaces import Claim, Said
from agents.claim_rules.statements import LONGEST_CLAIM, MOST_CLAIMS, MOST_STATEMENTS
from agents.interfaces import Exchange, Reader, Sorting
from agents.models.reader import OnnxReader
from agents.models.reader_files import WEIGHTS, prepare_reader
from agents.reader_summarizer import (
    NOTHING_FROM,
    NOTHING_FROM_IF_TOLD,
    WORLD_FROM,
    ReaderSummarizer,
    standalone,
)
from assistant.locations import find_locations

WORLD, PERSONAL, NOTHING = Sorting(1.0, 0.0, 0.0), Sorting(0.0, 1.0, 0.0), Sorting(0.0, 0.0, 1.0)


class SortingReader:
    """Sorts some sentences as it was told, and all others as of the world."""

    name = "sorting-1"

    def __init__(self, known: Mapping[str, Sorting] | None = None) -> None:
        self._known = known or {}
        self.sorted: list[str] = []

    def sort(self, sentences: Sequence[str]) -> list[Sorting]:
        self.sorted += sentences
        return [self._known.get(sentence, WORLD) for sentence in sentences]


def summarizer(known: Mapping[str, Sorting] | None = None) -> ReaderSummarizer:
    reader: Reader = SortingReader(known)  # type: ignore[assignment]
    return ReaderSummarizer(reader)


async def claims(message: str, known: Mapping[str, Sorting] | None = None, **around: object) -> list[Claim]:
    return await summarizer(known).summarize(Said(message, **around))  # type: ignore[arg-type]


def asked(question: str, answer: str = "I do not know.") -> tuple[Exchange, ...]:
    return (Exchange(question, question, answer),)


async def test_a_fact_of_the_world_comes_out_with_its_quote() -> None:
    (claim,) = await claims("Hi! By the way, the mill is old.")
    assert claim == Claim("The mill is old.", "By the way, the mill is old.", "fact", "world", False)


async def test_what_the_reader_takes_for_nothing_is_no_claim() -> None:
    assert await claims("The mill is old.", {"The mill is old.": NOTHING}) == []


async def test_what_the_user_wants_remembered_needs_the_reader_surer_that_it_is_nothing() -> None:
    doubtful = (NOTHING_FROM + NOTHING_FROM_IF_TOLD) / 2
    known = {"My locker is 214.": Sorting(0.0, 1 - doubtful, doubtful)}
    assert await claims("My locker is 214.", known) == []
    assert len(await claims("Remember that my locker is 214.", known)) == 1


async def test_unsure_is_of_the_user() -> None:
    less = WORLD_FROM - 0.01
    (claim,) = await claims("The mill is old.", {"The mill is old.": Sorting(less, 1 - less, 0.0)})
    assert claim.about == "user"


async def test_the_first_person_is_never_of_the_world() -> None:
    (claim,) = await claims("I live in Keld.")
    assert (claim.kind, claim.about) == ("fact", "user")


async def test_liking_is_a_preference_and_a_standing_wish_asks_no_reader() -> None:
    reader = SortingReader({"I hate crowds.": PERSONAL})
    found = await ReaderSummarizer(reader).summarize(Said("I hate crowds. Keep answers short."))  # type: ignore[arg-type]
    assert [(claim.kind, claim.about) for claim in found] == [("preference", "user")] * 2
    assert reader.sorted == ["I hate crowds."]


async def test_hearsay_is_marked() -> None:
    (claim,) = await claims("My friend says the mill is haunted.")
    assert (claim.text, claim.is_hearsay) == ("The mill is haunted.", True)


async def test_an_echo_is_no_claim_and_its_correction_is() -> None:
    shown = ("The Hollin bridge was built in 1887.",)
    assert await claims("The Hollin bridge was built in 1887.", recalled=shown) == []
    assert len(await claims("The Hollin bridge was built in 1888.", recalled=shown)) == 1


async def test_a_sentence_that_is_not_english_is_of_the_user_or_nothing() -> None:
    assert await claims("Die Mühle ist alt.") == []
    (claim,) = await claims("Ich wohne in Keld.")
    assert (claim.kind, claim.about) == ("fact", "user")


async def test_a_message_makes_a_few_claims_at_most() -> None:
    message = " ".join(f"The mill number {n} is old." for n in range(20))
    assert len(await claims(message)) == MOST_CLAIMS


async def test_all_that_users_say_of_themselves_in_a_paste_is_claimed() -> None:
    told = [f"My aunt number {n} is called Ida." for n in range(12)]
    world = [f"The mill number {n} is old." for n in range(12)]
    found = [claim.text for claim in await claims("\n\n".join([*world, *told]))]
    assert found == [*world[:MOST_CLAIMS], *told]


async def test_a_paste_without_end_makes_as_many_claims_as_statements_are_looked_at() -> None:
    message = "\n\n".join(f"My aunt number {n} is called Ida." for n in range(100))
    assert len(await claims(message)) == MOST_STATEMENTS


async def test_a_long_sentence_is_no_claim() -> None:
    assert await claims(f"The mill is {'very ' * (LONGEST_CLAIM // 5)}old.") == []


@pytest.mark.parametrize(
    ("text", "before", "expected"),
    [
        ("He is called Rex.", "I have a dog.", "My dog is called Rex."),
        ("It's in Leeds.", "I bought a house.", "My house is in Leeds."),
        ("She is a pilot.", "My sister Mia lives in Bergen.", "My sister Mia is a pilot."),
        ("Her shop is closed.", "My sister Mia lives in Bergen.", "My sister Mia's shop is closed."),
        ("Their house has a pool.", "My parents live in Spain.", "My parents' house has a pool."),
        ("It has 300 clocks.", "The Tarnwick museum opened in 1950.", "The Tarnwick museum has 300 clocks."),
        ("He repairs clocks.", "Karl lives in Keld.", "Karl repairs clocks."),
        ("It is small.", "I live in Keld.", "Keld is small."),
        ("He is tall.", "I met Paul and Karl.", None),
        ("He is tall.", "My sister Mia lives in Bergen.", None),
        ("She was rich.", "The mill was built by Nora Feld.", None),
        ("It is old.", "The company bought the mill.", None),
        ("It rained.", "Karl lives in Keld.", None),
        ("This is in Bergen.", "My sister Mia lives in Bergen.", None),
        ("It is old.", "", None),
        ("I avoid cats because I am allergic to them.", "", "I avoid cats because I am allergic to them."),
        ("I find it hard to sleep.", "", "I find it hard to sleep."),
        ("I work in IT.", "", "I work in IT."),
        ("My sister lost her keys.", "", "My sister lost her keys."),
    ],
)
def test_a_pointer_is_replaced_only_where_it_is_certain(text: str, before: str, expected: str | None) -> None:
    assert standalone(text, before, ()) == expected


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        (
            "It was built in 1891.",
            "When was the Hollin bridge built?",
            "The Hollin bridge was built in 1891.",
        ),
        ("It's 1891.", "When was the Hollin bridge built?", "The Hollin bridge was built in 1891."),
        ("It is run by Tom.", "Who runs the Keld library?", "The Keld library is run by Tom."),
        ("It's Arden.", "What is the capital of Velmaria?", "The capital of Velmaria is Arden."),
        ("It was Goethe.", "Who wrote Faust?", "Goethe wrote Faust."),
        ("He was born in Lima.", "Who is Paul Reyes?", "Paul Reyes was born in Lima."),
        ("It's 60 metres.", "Where is the well?", None),
        ("He was born in Lima.", "Where is the well?", None),
    ],
)
def test_a_pointer_without_a_sentence_before_it_means_what_was_asked(
    text: str, question: str, expected: str | None
) -> None:
    assert standalone(text, "", asked(question)) == expected


async def test_a_correction_that_says_itself_of_what_it_speaks_is_no_right_words_alone() -> None:
    earlier = asked("When was the Hollin bridge built?", "The Hollin bridge was built in 1887.")
    (claim,) = await claims("No, it was built in 1888.", earlier=earlier)
    assert claim.text == "The Hollin bridge was built in 1888."
    assert claim.quote == "No, it was built in 1888."
    assert await claims("No, wrong window.", earlier=earlier) == []
    assert await claims("No, it was built in 1888.") == []


async def test_right_words_are_kept_also_where_the_whole_seems_to_state_nothing() -> None:
    earlier = asked("The meeting is on Monday.")
    (claim,) = await claims("No, Thursday.", {"The meeting is on Thursday.": NOTHING}, earlier=earlier)
    assert (claim.text, claim.about) == ("The meeting is on Thursday.", "user")


async def test_what_was_put_right_in_the_same_sentence_is_left_out_and_the_quote_is_whole() -> None:
    (claim,) = await claims("The fair is on 3 May, I mean 4 May.")
    assert (claim.text, claim.quote) == ("The fair is on 4 May.", "The fair is on 3 May, I mean 4 May.")


async def test_what_a_rule_knows_to_be_given_needs_the_reader_surer_that_it_is_nothing() -> None:
    doubt = Sorting(0.2, 0.1, 0.7)
    said = "Mirthe works at the museum now."
    assert len(await claims(said, {said: doubt})) == 1
    assert await claims(said, {said: NOTHING}) == []
    assert await claims("The museum is big.", {"The museum is big.": doubt}) == []


async def test_a_chain_of_pointers_leads_back_to_its_beginning() -> None:
    found = await claims("My brother Karl lives in Keld. He repairs clocks. His shop is called Tick.")
    assert [claim.text for claim in found] == [
        "My brother Karl lives in Keld.",
        "My brother Karl repairs clocks.",
        "My brother Karl's shop is called Tick.",
    ]


QUESTIONS = st.sampled_from(
    ["When does it open?", "Who runs the mill?", "is it free?", "Could the mill be old?", "And on Sundays?"]
)


@settings(deadline=None)
@given(st.lists(QUESTIONS, max_size=6))
async def test_questions_make_no_claim(questions: list[str]) -> None:
    assert await claims(" ".join(questions)) == []


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200), st.text(max_size=50), st.text(max_size=50))
async def test_any_text_ends_in_claims_that_quote_it(message: str, question: str, recalled: str) -> None:
    found = await claims(message, earlier=asked(question, recalled), recalled=(recalled,))
    assert all(claim.quote in message and claim.text for claim in found)


async def test_the_real_reader_finds_facts_and_preferences(minilm_folder: Path) -> None:
    folder = prepare_reader(WEIGHTS, find_locations(os.environ).cache / "readers", tell=print)
    real = ReaderSummarizer(OnnxReader(folder, threads=1))
    message = (
        "Thanks! My locker number is 214. I prefer tea. The Hollin bridge was built in 1887. Good morning."
    )
    found = await real.summarize(Said(message))
    assert [(claim.kind, claim.about) for claim in found] == [
        ("fact", "user"),
        ("preference", "user"),
        ("fact", "world"),
    ]
