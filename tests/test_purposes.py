"""A sentence that opens with the purpose that a question has tells the way."""

from __future__ import annotations

import pytest

from agents.purposes import (
    asked_in_heading,
    asks_for_a_way,
    is_topic,
    says_what_is_asked,
    speaks_for_a_way,
    way_to_it,
)
from agents.sentences import sentences

INSTALL = "To install Vouch and start the chat, run make chat in its folder."


def test_the_share_of_the_words_of_the_purpose() -> None:
    # asked: install; told: install, start, chat; the name says nothing here
    assert way_to_it("How do I install Vouch?", INSTALL) == pytest.approx(2 * 1 / (1 + 3))
    assert way_to_it("how can i leave", "To leave the chat, press Ctrl+D.") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Who installed Vouch?", INSTALL),  # asks for no way
        ("How do I install Vouch?", "Vouch is installed by make chat."),  # opens with no purpose
        ("How do I leave?", INSTALL),  # another purpose
        ("How do I reach the station?", "To the station, it is a walk of five minutes."),
        ("", ""),
    ],
)
def test_all_else_tells_no_way(question: str, sentence: str) -> None:
    assert way_to_it(question, sentence) == 0.0


def test_what_asks_for_a_way() -> None:
    assert asks_for_a_way("how to leave")
    assert asks_for_a_way("Which key opens help?")
    assert not asks_for_a_way("how old is it")
    assert not asks_for_a_way("I know how to leave")


@pytest.mark.parametrize(
    "topic", ["backup?", "dark theme", "export json", "stop answer", "other users", "exit codes", "PDF"]
)
def test_a_word_or_two_are_a_topic(topic: str) -> None:
    assert is_topic(topic)


@pytest.mark.parametrize(
    "message",
    [
        "my password",
        "Where?",
        "it works",
        "the boat",
        "Jana Dupont",
        "no, thursday",
        "4213",
        "delete everything about my boat",
        "Rex died.",
        "I moved",
        "",
        "a " * 5_000,
    ],
)
def test_what_is_of_somebody_or_says_more_is_no_topic(message: str) -> None:
    assert not is_topic(message)


def test_a_topic_is_met_by_the_purpose_of_a_sentence() -> None:
    backup = "To make a backup, run vouch backup vouch-monday.db."
    assert way_to_it("backup?", backup) == 1.0  # to make says little
    assert way_to_it("backup", "To restore a backup, run vouch restore.") == pytest.approx(2 / 3)
    assert way_to_it("my backup", backup) == 0.0


@pytest.mark.parametrize(
    "wish",
    [
        "delete a chat",
        "please export my memory",
        "I want to change the model",
        "switch off training",
        "no colour",
    ],
)
def test_an_order_to_a_program_asks_for_a_way(wish: str) -> None:
    assert asks_for_a_way(wish)


@pytest.mark.parametrize(
    "said",
    ["I deleted the chat", "Add milk and butter", "I want to learn Spanish", "Change the model, then."],
)
def test_other_wishes_and_statements_do_not(said: str) -> None:
    assert not asks_for_a_way(said)


@pytest.mark.parametrize(
    ("asked", "heading"),
    [
        ("how do i delete a chat", "Deleting a session"),
        ("upload a document", "How do I add a file?"),
        ("where are my files", "Where are my files?"),
        ("which shortcuts are there", "Which keys are there?"),
    ],
)
def test_a_heading_asks_the_same_in_other_words(asked: str, heading: str) -> None:
    assert asked_in_heading(asked, heading) == 1.0


@pytest.mark.parametrize(
    ("asked", "heading"),
    [
        ("Where do I live?", "Where are my files?"),
        ("Where are my keys?", "Which keys are there?"),  # of somebody's own, and the heading of nobody's
        ("how do I stop a nosebleed", "How do I stop an answer?"),
        ("", "Which keys are there?"),
        ("Which keys are there?", ""),
    ],
)
def test_a_heading_of_something_else_does_not(asked: str, heading: str) -> None:
    assert asked_in_heading(asked, heading) == 0.0


TEXT = "Press F1, which lists every key of Vouch. Ctrl+P opens the palette."


def spoken_for(
    question: str, *, title: str = "Questions › Which keys are there?", text: str = TEXT
) -> list[float]:
    """The log-odds of each sentence of a passage."""
    return [speaks_for_a_way(question, one, title=title, passage=text) for one in sentences(text)]


def test_a_heading_speaks_for_what_stands_right_below_it() -> None:
    first, second = spoken_for("which keys are there")
    assert first > 0.0 == second
    assert spoken_for("which keys are there", title="Which keys are there?") == [
        0.0,
        0.0,
    ]  # a page, no section


def test_a_way_tells_nobody_what_a_thing_is() -> None:
    title, text = "Chat › Sessions", "To see your sessions of Vouch, press F5. A session is one conversation."
    assert spoken_for("what is a session", title=title, text=text) == [0.0, 0.0]
    assert spoken_for("my sessions", title=title, text=text)[0] == 0.0  # of somebody's own
    assert spoken_for("how do I see sessions", title=title, text=text)[0] > 0


def test_what_is_asked_for_besides_takes_from_it() -> None:
    (whole, _), (less, _) = spoken_for("which keys are there"), spoken_for("which keys has a piano")
    assert whole > 2 * less


def test_what_is_written_of_vouch_does_not_answer_for_peoples_own_things() -> None:
    assert max(spoken_for("Where are my keys?")) < 0
    (told,) = spoken_for("where are my files", title="", text="Your files of Vouch are in one folder.")
    assert told == 0.0
    (of_a_house,) = spoken_for("Where are my keys?", title="", text="The keys hang in the hall.")
    assert of_a_house == 0.0


def test_a_sentence_about_vouch_says_all_that_is_asked() -> None:
    takes = "Vouch takes about 2 GB of disk space."
    assert says_what_is_asked("how much space does Vouch take", takes)
    assert not says_what_is_asked("how much time does Vouch take", takes)
    assert not says_what_is_asked(
        "how much space does the sofa take", "The sofa takes much space."
    )  # not of Vouch
    assert not says_what_is_asked("space?", takes)  # one word is soon held
