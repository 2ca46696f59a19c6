"""What became knowledge is not said a second time by the message it came from."""

from __future__ import annotations

from dataclasses import replace

from agent_fakes import FixedReader, candidate

from agents.languages.message_sorting import MessageSorter
from assistant.turns.settled import stating_first, without_settled


def texts(*messages: str, settled: dict[int, list[str]]) -> list[str]:
    candidates = [candidate(rank, text, kind="message") for rank, text in enumerate(messages, start=1)]
    return [c.passage.text for c in without_settled(candidates, settled)]


def test_a_message_that_became_a_fact_is_gone() -> None:
    assert texts("My locker is 214.", "It rains.", settled={1: ["My locker is 214."]}) == ["It rains."]


def test_the_rest_of_a_message_stays() -> None:
    said = "Hello there! My locker is 214. I like the green one."
    assert texts(said, settled={1: ["My locker is 214."]}) == ["Hello there! I like the green one."]


def test_of_two_quotes_the_longer_goes_first() -> None:
    said = "I like tea. I like tea with milk."
    assert texts(said, settled={1: ["I like tea", "I like tea with milk."]}) == []


def test_no_half_of_a_sentence_is_left() -> None:
    said = "My cat is Ada, and, well. I live in Porto, and my sister Nadia, who is a nurse, lives in Faro."
    assert texts(said, settled={1: ["My cat is Ada", "I live in Porto"]}) == [
        "I live in Porto, and my sister Nadia, who is a nurse, lives in Faro."
    ]


def test_words_of_two_sentences_settle_both() -> None:
    assert texts("Hm. 0.4 is for Fenja. 0.8 is mine.", settled={1: ["0.4 is for Fenja. 0.8 is mine."]}) == [
        "Hm."
    ]


def test_another_message_of_the_same_words_stays() -> None:
    assert texts("It rains.", "It rains.", settled={1: ["It rains."]}) == ["It rains."]


def test_a_document_of_the_same_words_stays() -> None:
    found = candidate(1, "The database is locked.")
    assert without_settled([found], {}) == (found,)


def test_ranks_stay_what_they_were() -> None:
    candidates = [candidate(1, "It rains.", kind="message"), candidate(2, "It snows.", kind="message")]
    [left] = without_settled(candidates, {1: ["It rains."]})
    assert left.found_rank == 2


def test_messages_that_state_nothing_go_behind_the_rest() -> None:
    order = [
        candidate(1, "Where is the key?", kind="message"),
        candidate(2, "The key is in the drawer.", kind="message"),
        candidate(3, "Is a key of steel?"),  # of a document
        replace(candidate(4, "What opens it?", kind="message"), given=2.0),
    ]
    ordered = stating_first(order, MessageSorter(FixedReader()))
    assert [c.found_rank for c in ordered] == [2, 3, 4, 1]


def test_only_the_messages_before_a_dozen_others_are_sorted() -> None:
    reader = FixedReader()
    order = [
        candidate(rank, f"Why {rank}?", kind="message" if rank > 12 else "document") for rank in range(1, 30)
    ]
    assert stating_first(order, MessageSorter(reader)) == order
