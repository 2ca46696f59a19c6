"""Questions for all that somebody has of a group: pets, siblings, languages, medicines, instruments."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta

import pytest
from agent_fakes import FixedEncoder, source
from test_own_statements import ToldSpace, found

from agents.asked_for import asked_for, how_it_gives
from agents.backends.extractive import WHERE_THE_OTHERS_ARE, ExtractiveChat
from agents.chat_interfaces import ReplyRequest, Source
from agents.own_statements import OwnStatements
from agents.quoting import Quoter
from agents.relations.groups import group_asked_for, tells_one
from agents.relations.mentions import may_give


@pytest.mark.parametrize(
    ("question", "group"),
    [
        ("what pets do I have?", "pets"),
        ("Which pets do we own?", "pets"),
        ("Do I have any pets?", "pets"),
        ("how many pets do i have", "pets"),
        ("What are my pets called?", "pets"),
        ("list my pets", "pets"),
        ("which languages do I speak?", "languages"),
        ("What languages can I speak?", "languages"),
        ("who are my siblings?", "siblings"),
        ("Do I have brothers or sisters?", "siblings"),
        ("what are the names of my children?", "children"),
        ("Do I have kids?", "children"),
        ("what medicines do I take?", "medicines"),
        ("which medication am I on?", "medicines"),
        ("which instruments do I play?", "instruments played"),
        ("What instruments do I own?", "instruments owned"),
        ("what are my hobbies?", "hobbies"),
        ("what sports do I do?", "sports"),
        ("What are my allergies?", "allergies"),
        ("which vehicles do we have?", "vehicles"),
        ("who are my friends?", "friends"),
        ("Who is in my family?", "family"),
        ("what pets does Anna have?", None),
        ("which languages does my sister speak?", None),
        ("which languages am I learning?", None),
        ("What is my cat called?", None),
        ("Are pets allowed?", None),
        ("which languages does Vouch speak?", None),
        ("What pets did I have?", None),
        ("Where are my children?", None),
        ("I have pets.", None),
    ],
)
def test_which_group_a_question_asks_for(question: str, group: str | None) -> None:
    assert [one.group for one in asked_for(question) if one.group] == ([group] if group else [])


@pytest.mark.parametrize(
    ("group", "statement"),
    [
        ("pets", "I have a cat called Mia."),
        ("pets", "My dog is called Rex."),
        ("pets", "we've got two budgies and a hamster"),
        ("pets", "Our old dog Rex sleeps all day."),
        ("pets", "I adopted a stray kitten last week."),
        ("pets", "Mia is my cat."),
        ("pets", "I have two pets: a snake and a newt."),
        ("pets", "I have no pets."),
        ("languages", "I speak French."),
        ("languages", "I can also speak a little Dutch."),
        ("languages", "My mother tongue is Basque."),
        ("languages", "Turkish is my native language."),
        ("languages", "I'm fluent in Portuguese."),
        ("siblings", "My sister Nell is a vet."),
        ("siblings", "I have a brother called Tom."),
        ("siblings", "Ida is my half-sister."),
        ("siblings", "I am an only child."),
        ("siblings", "My brother's name is Kees."),
        ("children", "Our son Emil is six."),
        ("children", "I have two daughters, Ada and Bea."),
        ("medicines", "I take ibuprofen every morning."),
        ("medicines", "I'm on metformin."),
        ("medicines", "I take 20 mg of lisinopril in the morning."),
        ("medicines", "I was prescribed Euthyrox."),
        ("medicines", "I take Euthyrox every morning."),
        ("medicines", "I use an inhaler."),
        ("instruments played", "I play the piano."),
        ("instruments played", "I'm learning the oboe."),
        ("instruments played", "I play bass in a band."),
        ("instruments owned", "I own a cello."),
        ("instruments owned", "My violin is from 1890."),
        ("hobbies", "My hobbies are chess and sailing."),
        ("hobbies", "I collect stamps."),
        ("sports", "I play tennis."),
        ("sports", "I go running on Sundays."),
        ("allergies", "I am allergic to walnuts."),
        ("allergies", "I have a nut allergy."),
        ("vehicles", "I drive a Skoda."),
        ("vehicles", "We have a camper van."),
        ("friends", "My best friend Ben lives in Ulm."),
        ("family", "My aunt Rosa lives in Genk."),
    ],
)
def test_what_tells_one_of_a_group(group: str, statement: str) -> None:
    assert tells_one(statement, group)


@pytest.mark.parametrize(
    ("group", "statement"),
    [
        ("pets", "My neighbour's dog barks all night."),
        ("pets", "I have to walk the dog of my aunt."),
        ("pets", "I have a friend who has a cat."),
        ("pets", "I have a dog allergy."),
        ("pets", "I bought dog food."),
        ("pets", "My dog died."),
        ("pets", "I no longer have a hamster."),
        ("pets", "I don't have a dog any more."),
        ("pets", "I used to have a rabbit."),
        ("pets", "I had a rabbit."),
        ("pets", "I want a dog."),
        ("pets", "Do I have a dog?"),
        ("pets", "I like cats."),
        ("languages", "I don't speak French."),
        ("languages", "I spoke with a French teacher."),
        ("languages", "I know a French baker."),
        ("languages", "I'm learning Welsh."),
        ("languages", "My sister speaks Greek."),
        ("siblings", "My sister's car is red."),
        ("siblings", "My friend has a brother."),
        ("siblings", "My sister-in-law is a vet."),
        ("medicines", "I take the bus to work."),
        ("medicines", "I take milk in my coffee."),
        ("medicines", "I take notes every day."),
        ("medicines", "I stopped taking metformin."),
        ("medicines", "I no longer take metformin."),
        ("instruments played", "I play tennis."),
        ("instruments played", "I play the lottery."),
        ("instruments played", "I own a cello."),
        ("instruments owned", "I play the piano."),
        ("sports", "I play the piano."),
        ("sports", "I run a bakery."),
        ("vehicles", "I have a car park permit."),
        ("friends", "My friend's cat is fat."),
        ("children", "My boss's daughter is ill."),
        ("pets", "My doctor's old dog is fat."),
        ("pets", "We have fish for dinner."),
        ("pets", "I have chicken for lunch."),
        ("pets", "I have dogs on my mind."),
        ("sports", "I run on coffee."),
    ],
)
def test_what_tells_none_of_it(group: str, statement: str) -> None:
    assert not tells_one(statement, group)


PETS = "what pets do I have?"


@pytest.mark.parametrize(
    ("statement", "how"),
    [
        ("I have a cat called Mia.", "plainly"),
        ("My wife says that we have a cat.", "by hearsay"),
        ("If I had a dog, I would call it Rex.", None),
        ("I might get a parrot.", None),
    ],
)
def test_how_it_is_told(statement: str, how: str | None) -> None:
    assert how_it_gives(statement, asked_for(PETS)) == how
    assert how is None or may_give(statement, asked_for(PETS)[0])


def told(number: int, text: str, *, day: int) -> Source:
    said = source(number, text, kind="fact")
    later = said.passage.created_at + timedelta(days=day)
    return replace(said, passage=replace(said.passage, created_at=later))


def quoted(question: str, *texts: str) -> list[tuple[str, bool]]:
    """What is quoted of facts told day by day, and whether as earlier."""
    sources = [told(number, text, day=number) for number, text in enumerate(texts, start=1)]
    best = Quoter(FixedEncoder({}), threshold=0.3, quotes=3).best_quotes(question, sources)
    return [(quote.text, quote.is_earlier) for quote in best]


def test_all_of_a_group_are_quoted_the_newest_first() -> None:
    kept = ["I have a cat called Mia.", "My dog is called Rex.", "I have a hamster.", "Our parrot is loud."]
    assert quoted(PETS, "I work at the zoo.", *kept) == [(text, False) for text in reversed(kept)]


@pytest.mark.parametrize(
    "end", ["My cat died.", "Mia died.", "Mia was run over.", "I gave Mia away.", "I no longer have a cat."]
)
def test_who_is_gone_is_left_out_where_others_are_there(end: str) -> None:
    assert quoted(PETS, "I have a cat called Mia.", "My dog is called Rex.", end) == [
        ("My dog is called Rex.", False)
    ]


@pytest.mark.parametrize("end", ["My cat died.", "Mia died."])
def test_where_the_only_one_is_gone_that_is_told(end: str) -> None:
    assert quoted(PETS, "I have a cat called Mia.", end) == [(end, False), ("I have a cat called Mia.", True)]


def first(question: str, *texts: str) -> list[str]:
    put = OwnStatements().put_first(question, found("A document."), ToldSpace(*texts))
    return [candidate.passage.text for candidate in put.candidates if candidate.given]


def test_all_of_a_group_go_first_and_what_says_that_one_is_gone() -> None:
    texts = [
        "I have a cat called Mia.",
        "My dog is called Rex.",
        "I like tea.",
        "I have a newt.",
        "Mia died.",
    ]
    assert sorted(first(PETS, *texts)) == sorted(text for text in texts if "tea" not in text)


def test_where_none_is_left_what_took_its_place_goes_first_beside_what_was_told() -> None:
    space = ToldSpace("I sold the Skoda.", "I like tea.")
    space.replaced = ["I drive a Skoda."]
    put = OwnStatements().put_first("What vehicles do I have?", found("A document."), space)
    assert {c.passage.text for c in put.candidates if c.given} == {"I sold the Skoda.", "I drive a Skoda."}


def test_of_very_many_the_newest_go_first_and_the_others_are_counted() -> None:
    texts = [f"I have a cat called Mia{number}." for number in range(12)]
    put = OwnStatements().put_first(PETS, found("A document."), ToldSpace(*texts))
    given = [candidate.passage.text for candidate in put.candidates if candidate.given]
    assert given == texts[:3:-1]
    assert put.not_put_first == 4


@pytest.mark.parametrize(
    "text",
    ["I have a " + "a " * 20_000, "my " * 20_000 + "cat", "I take " * 20_000, "what pets " * 5_000 + "?"],
)
@pytest.mark.parametrize("length", [299, 100_000])
def test_hostile_texts_are_read_fast(text: str, length: int) -> None:
    began = time.process_time()
    for group in ("pets", "medicines", "languages", "hobbies", "family"):
        tells_one(text[:length], group)
    group_asked_for(text[:length])
    assert time.process_time() - began < 20  # seconds: minutes where it is not linear


async def answered(question: str, *texts: str, left: int = 0) -> list[str]:
    """The lines of the answer from facts told day by day."""
    sources = tuple(told(number, text, day=number) for number, text in enumerate(texts, start=1))
    model = ExtractiveChat(Quoter(FixedEncoder({}), threshold=0.3, quotes=3))
    request = ReplyRequest((), question, question, sources, not_put_first=left)
    return "".join([piece async for piece in model.stream(request)]).splitlines()


@pytest.mark.parametrize(
    ("question", "told", "lines"),
    [
        (
            PETS,
            ["I have a cat called Mia.", "My wife says that we have a mouse.", "My dog is called Rex."],
            ["You said: “My dog is called Rex.” [3]", "You said: “I have a cat called Mia.” [1]"],
        ),
        (
            PETS,
            ["My wife says that we have a mouse."],
            ["Your wife says so: “My wife says that we have a mouse.” [1]"],
        ),
        (
            "who are my siblings?",
            ["My sister Nell is a vet.", "I have a brother called Tom.", "My neighbour has a brother."],
            ["You said: “I have a brother called Tom.” [2]", "You said: “My sister Nell is a vet.” [1]"],
        ),
        (
            "which languages do I speak?",
            ["I speak French.", "I'm learning Welsh.", "My mother tongue is Dutch."],
            ["You said: “My mother tongue is Dutch.” [3]", "You said: “I speak French.” [1]"],
        ),
        (
            "what medicines do I take?",
            ["I take metformin.", "I take the bus.", "I take aspirin.", "I stopped taking metformin."],
            ["You said: “I take aspirin.” [3]"],
        ),
        (
            "What instruments do I own?",
            ["I own a cello.", "I have a flute.", "I sold my cello."],
            ["You said: “I have a flute.” [2]"],
        ),
        ("Do I have any pets?", ["I have no pets."], ["You said: “I have no pets.” [1]"]),
        (
            PETS,
            ["I have a cat called Mia.", "I have a cat called Tom.", "My cat died."],
            [
                "You said: “My cat died.” [3]",  # which of them?
                "You said: “I have a cat called Tom.” [2]",
                "You said: “I have a cat called Mia.” [1]",
            ],
        ),
        (
            "who are my siblings?",
            ["My sister Nell is a vet.", "My sister Nell is no vet any more.", "My brother Tom sings."],
            ["You said: “My brother Tom sings.” [3]", "You said: “My sister Nell is a vet.” [1]"],
        ),
    ],
)
async def test_the_answer_names_what_was_said_of_each(
    question: str, told: list[str], lines: list[str]
) -> None:
    assert await answered(question, *told) == lines


async def test_how_many_more_there_are_is_told() -> None:
    lines = await answered(PETS, "I have a cat.", left=3)
    assert lines == ["You said: “I have a cat.” [1]", f"And 3 more: {WHERE_THE_OTHERS_ARE}."]
