"""What is not said in the user's own words is not marked as if it were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from agent_fakes import passage

from assistant.turns.reworded import with_reworded_marked


def is_reworded(text: str, *messages: str, kind: str = "fact", space: str = "user:1") -> bool:
    def behind(user_id: int, versions: Sequence[int]) -> Mapping[int, Sequence[str]]:
        return dict.fromkeys(versions, messages)

    (marked,) = with_reworded_marked([passage(7, text, kind=kind, space=space)], 1, behind)
    return marked.is_reworded


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("My locker is 214.", ["Hi! My locker is 214. What is yours?"]),
        ("Mia is 9.", ["actually mia is  9"]),
        ("I'm here.", ["I’m here!"]),
        ("我住在波恩", ["其实我住在波恩市"]),
        ("I have a cat. I no longer have a dog.", ["I have a cat", "I no longer have a dog."]),
    ],
)
def test_what_stands_in_a_message_is_in_the_users_words(text: str, messages: list[str]) -> None:
    assert not is_reworded(text, *messages)


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("I have cats: Tom and Jerry.", ["I have three cats: Tom, Jerry and Kit.", "I no longer have Kit."]),
        ("My sister Jana lives in Bonn.", ["My sister Jana lives in Ulm.", "She lives in Bonn."]),
        ("The fair is on 4 May.", ["The fair is on 3 May, I mean 4 May."]),
        ("I have a cat.", ["I have a catalogue."]),
        ("My locker is 214.", []),  # the message was forgotten
    ],
)
def test_what_stands_in_none_is_reworded(text: str, messages: list[str]) -> None:
    assert is_reworded(text, *messages)


@pytest.mark.parametrize(("kind", "space"), [("message", "user:1"), ("note", "user:1"), ("fact", "shared")])
def test_only_the_memories_of_a_user_are_looked_at(kind: str, space: str) -> None:
    assert not is_reworded("My locker is 214.", "Other words.", kind=kind, space=space)


def test_a_memory_that_was_written_by_hand_is_not_reworded() -> None:
    one = passage(7, "My locker is 214.", kind="fact", space="user:1")
    assert with_reworded_marked([one], 1, lambda user_id, versions: {}) == [one]
