"""One's own facts answer in a large memory, where neither words nor meaning find them among much else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from memory_house import loaded_parts

from assistant.settings.config import Settings
from assistant.settings.locations import Locations
from assistant.terminal.facts.answer_lines import why_lines
from assistant.terminal.facts.why import passage_page, why_facts
from assistant.wiring.assistant import Assistant
from stores.base.passages import SHARED, own_space
from stores.versions.changes import NewVersion, add_versions

_PEOPLE = "Anna Ben Carla David Elif Frank Gina Hugo Ines Jonas Klara Lars Mona Nils Olga Paul".split()
_TOWNS = "Ghent Leeds Turin Graz Porto Lyon".split()
_FILLERS = (
    "{0} lives in {1} and works at the harbour.",
    "{0} moved to {1} years ago.",
    "{0}'s wife is called Vera, and they have a dog called Rex.",
    "My colleague {0} works at the library of {1}.",
    "I met {0} for lunch in {1}.",
    "{0}'s birthday is in July, and we celebrate it in {1}.",
    "{0} speaks Danish and is learning Greek in {1}.",
    "I like the lentil soup that {0} cooks.",
)
TOLD = (
    "My brother says that I live in Oslo.",
    "My name is Robin.",
    "I moved to Brussels last month.",
    "I'm a translator at the town archive.",
    "We have a dog called Birba, she's a beagle.",
    "My wife's name is Marta.",
    "I was born on 4 May 1988.",
    "My aunt claims that I am 40.",
    "My neighbour thinks that my favourite film is Casablanca.",
    "My dentist appointment is on 3 December at 9:30.",
    "I have two cats, Mia and Tom.",
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Iterator[Assistant]:
    """Some 300 passages, half of them the user's own, and what the user told of themselves."""
    folder = tmp_path_factory.mktemp("big")
    places = Locations(
        data=folder / "data", settings=folder / "settings.toml", cache=folder, state=folder / "state"
    )
    made = Assistant(Settings(), places)
    loaded_parts(minilm_folder)(made)
    texts = [filler.format(*named) for filler in _FILLERS for named in product(_PEOPLE, _TOWNS)]
    texts = list(dict.fromkeys(texts))[::2]
    own = own_space(made.journal.user_id("robin"))
    with made.database.writing() as sql:
        for space, some in ((own, texts[::2]), (SHARED, texts[1::2]), (own, TOLD)):
            new = [NewVersion(text=text, kind="fact") for text in some]
            add_versions(sql, space, new, author="test", receipt_id=None)
    made.catch_up()
    yield made
    made.close()


def answer(memory: Assistant, question: str, *, user: str = "robin") -> str:
    user_id = memory.journal.user_id(user)
    session = memory.journal.open_session(user_id, is_private=True)
    return memory.player.play(user_id, session, question, watch=lambda event: None).answer


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Where do I live?", "I moved to Brussels last month."),
        ("Which town do I live in?", "I moved to Brussels last month."),
        ("What is my name?", "My name is Robin."),
        ("Where do I work?", "I'm a translator at the town archive."),
        ("What's my dog called?", "We have a dog called Birba, she's a beagle."),
        ("Who is my wife?", "My wife's name is Marta."),
        ("When is my birthday?", "I was born on 4 May 1988."),
        ("How old am I?", "I was born on 4 May 1988."),
        ("When is my dentist appointment?", "My dentist appointment is on 3 December at 9:30."),
        ("What are my cats called?", "I have two cats, Mia and Tom."),
    ],
)
def test_what_the_user_said_is_quoted_first(memory: Assistant, question: str, told: str) -> None:
    said = answer(memory, question)
    assert f"You said: “{told}” [1]" in said.splitlines()[0]


def test_hearsay_answers_as_such_where_nothing_else_does(memory: Assistant) -> None:
    said = answer(memory, "What is my favourite film?").splitlines()[0]
    assert said == (
        "Your neighbour thinks so: “My neighbour thinks that my favourite film is Casablanca.” [1]"
    )


def test_why_tells_what_was_given_by_rule(memory: Assistant) -> None:
    answer(memory, "Where do I live?")
    user_id = memory.journal.user_id("robin")
    turn = memory.journal.last_turn(user_id)
    assert turn.id is not None
    first, *rest = [line for line in why_lines(memory, user_id, turn) if "(meaning" in line]
    assert "given 2.00) +0  I moved to Brussels last month." in first
    assert not any("given" in line for line in rest)
    given, other, *_ = why_facts(memory, user_id, turn.id).rows
    assert (given.given, other.given) == (2.0, 0.0)
    _, page = passage_page(memory, user_id, given)
    assert ", given 2.00." in page


def test_nobody_elses_statements_answer(memory: Assistant) -> None:
    assert "Brussels" not in answer(memory, "Where do I live?", user="bob")
