"""A sentence that opens with the purpose that a question has tells the way."""

from __future__ import annotations

import pytest

from agents.purposes import asks_for_a_way, way_to_it

INSTALL = "To install Vouch and start the chat, run make chat in its folder."


def test_the_share_of_the_words_of_the_purpose() -> None:
    # asked: install, vouch; told: install, vouch, start, chat; two of them are the same
    assert way_to_it("How do I install Vouch?", INSTALL) == pytest.approx(2 * 2 / (2 + 4))
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
