"""A memory is read in the message that says it, while nothing of that was taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from agent_fakes import passage

from assistant.turns.provenance import beside_their_messages
from stores.versions.provenance import MessageBehind


def said_in(text: str, *messages: str, kind: str = "fact", space: str = "user:1", holds: bool = True) -> str:
    def behind(user_id: int, versions: Sequence[int]) -> Mapping[int, Sequence[MessageBehind]]:
        return {version: [MessageBehind(message, holds) for message in messages] for version in versions}

    (marked,) = beside_their_messages([passage(7, text, kind=kind, space=space)], 1, behind)
    return marked.said_in


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("My locker is 214.", ["Hi! My locker is 214. What is yours?"]),
        ("Mia is 9.", ["actually mia is  9"]),
        ("I'm here.", ["I’m here!"]),
        ("我住在波恩", ["其实我住在波恩市"]),
    ],
)
def test_a_memory_is_read_in_the_newest_message_that_says_it(text: str, messages: list[str]) -> None:
    assert said_in(text, "Older, in other words.", *messages) == messages[-1]
    assert said_in(text, *messages, holds=False) == ""


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("I have cats: Tom and Jerry.", ["I have three cats: Tom, Jerry and Kit.", "I no longer have Kit."]),
        ("My sister Jana lives in Bonn.", ["My sister Jana lives in Ulm.", "She lives in Bonn."]),
        ("The fair is on 4 May.", ["The fair is on 3 May, I mean 4 May."]),
        ("I have a cat.", ["I have a catalogue."]),
        ("My locker is 214.", []),  # the message was forgotten
        ("I have a cat. I no longer have a dog.", ["I have a cat", "I no longer have a dog."]),
    ],
)
def test_what_stands_in_none_is_read_by_itself(text: str, messages: list[str]) -> None:
    assert said_in(text, *messages) == ""


@pytest.mark.parametrize(("kind", "space"), [("message", "user:1"), ("note", "user:1"), ("fact", "shared")])
def test_only_the_memories_of_a_user_are_looked_at(kind: str, space: str) -> None:
    assert said_in("My locker is 214.", "My locker is 214.", kind=kind, space=space) == ""


def test_a_memory_that_was_written_by_hand_stays_as_it_is() -> None:
    one = passage(7, "My locker is 214.", kind="fact", space="user:1")
    assert beside_their_messages([one], 1, lambda user_id, versions: {}) == [one]
