"""What is kept as a correction, and what is refused with an example."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_helpers import Vouch
from screen_fixtures import QUESTION, on_screen

from assistant.terminal.actions.teaching import says_something

NOTHING = [
    "", " ", "what", "What?", "how", "how to", "why not", "you", "it", "me", "yes", "Yes.", "no", "ok", "OK",
    "TEXT", "blue", "...", "?", "What is my name?", "who are you", "Is it Friday? Or when?", "help",
    "something",
]  # fmt: skip
SOMETHING = [
    "The room closes at four.",
    "Friday",
    "At four.",
    "1888",
    "4",
    "Marta",
    "It was built in 1888.",
    "What matters is the date.",
    "When it rains, the hall is closed.",
    "What is wrong? The room closes at four.",
    "Ich wohne in Bonn",
    "mittwochs um vier",
    "the blue one",
    "閉館は四時です",
]


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    return Vouch(tmp_path, minilm_folder.parent)


@pytest.mark.parametrize("text", NOTHING)
def test_what_says_nothing_by_itself_is_no_correction(text: str) -> None:
    assert not says_something(text)


@pytest.mark.parametrize("text", SOMETHING)
def test_what_says_something_is_a_correction(text: str) -> None:
    assert says_something(text)


def test_teach_of_a_bare_word_says_what_it_wants_and_keeps_nothing(vouch: Vouch) -> None:
    told = vouch.chat("Who waters the plants?", "/teach what", "/memory", code=2)
    assert (
        "Not kept: “what” says nothing by itself. "
        "Write what the answer should have been: /teach The room closes at four." in told
    )
    assert "correction" not in told
    assert "Kept, yours" not in told
    vouch.run("memory", "list", "--kind", "correction", code=1)


def test_feedback_of_a_bare_word_says_what_it_wants_and_keeps_nothing(vouch: Vouch) -> None:
    turn = str(vouch.run("ask", "--json", "Who waters the plants?", code=1).object["turn"])
    told = vouch.run("feedback", turn, "--teach", "what", code=2).err
    assert "“what” says nothing by itself" in told
    assert f'vouch feedback {turn} --teach "The room closes at four."' in told
    vouch.run("memory", "list", "--kind", "correction", code=1)


async def test_on_the_screen_a_bare_word_stays_in_the_prompt(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.asks(QUESTION)
        await chat.asks("/teach what")
        await chat.shows("/teach The room closes at four.")
        assert all(m.rating != "taught" for m in chat.app.chat.conversation.messages)
        await chat.presses("escape", "t")
        await chat.until(lambda: chat.app.chat.teaches is not None)
        await chat.types("what")
        await chat.presses("enter")
        await chat.shows("Not kept: it is no sentence. Write one.")
        assert chat.app.chat.teaches is not None
        assert chat.app.chat.prompt.text == "what"
        await chat.types(" matters is the date.")
        await chat.presses("enter")
        await chat.shows("Kept for turn 1, yours, as")
        assert chat.app.chat.teaches is None
