"""A stream with feedback and without, who says what in it, and what is counted of it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from agent_fakes import source

from agents.chat_interfaces import Source
from assistant.replay.feedback import Feedback
from assistant.replay.simulate import FeedbackKind
from assistant.turns.events import Chosen, Event, Finished
from benchmarks import second_pass
from benchmarks.second_pass import (
    AGAIN,
    BYSTANDER,
    ECHO,
    FIRST,
    NO_STATEMENT,
    NOT_ALONE,
    SORTED_OUT,
    Compared,
    Fate,
    Reply,
    Stream,
    askable,
    differing,
    fate_of,
    gains,
    play,
    reply_of,
    why_dropped,
)
from stores.claims import ToldTurn
from stores.clock import now
from stores.records import StatedClaim

CLAIM = "The old mill of Torvik was built in 1862."
ROOM = "My desk is next to the printer."


def feedback(kind: FeedbackKind, message: str = CLAIM, claim: str = CLAIM) -> Feedback:
    return Feedback(kind, message, claim, "When was the old mill built?", ("1862",), frozenset({"p"}))


def stated(text: str, **known: Any) -> StatedClaim:
    facts = {"state": "stored", "scope": "yours", "status": "unknown", "action": "add"} | known
    return StatedClaim(
        user_id=1,
        origin="turn",
        number=1,
        text=text,
        text_key=text,
        quote=text,
        kind="fact",
        about="world",
        created_at=now(),
        **facts,
    )


def told(message: str, *recalled: str) -> ToldTurn:
    return ToldTurn(1, 1, message, "", (), recalled)


def finished(answer: str, *cited: Source) -> Finished:
    return Finished(1, "done", answer, cited, (), 0.1)


# What a reply is counted as


def test_an_answer_below_the_fifth_passage_is_not_found() -> None:
    sources = [source(n, "nothing of it", space="shared") for n in range(1, 6)]
    sources.append(source(6, "It was built in 1862.", space="shared"))
    reply = reply_of(feedback("right"), sources, finished("I found nothing about that."))
    assert (reply.is_found, reply.is_right) == (False, False)


def test_an_answer_at_either_end_of_a_quote_is_seen() -> None:
    for quote in ("“It was built in 1862.” [1]", "“1862 saw it built.” [1]"):
        assert reply_of(feedback("right"), [], finished(quote)).is_right
    assert not reply_of(feedback("right"), [], finished("“It was built in 18620.” [1]")).is_right


def test_a_question_that_holds_its_answer_is_not_asked() -> None:
    holding = {"question": "Was the mill of “1862” built by two?", "answers": ["1862"]}
    other = {"question": "When was the mill built?", "answers": ["1862"]}
    assert askable([holding, other]) == [other]


def test_what_the_user_said_counts_as_found_but_not_as_shared() -> None:
    own = source(1, CLAIM, kind="fact", space="user:1")
    reply = reply_of(feedback("right"), [own], finished(f"1862. You said: “{CLAIM}” [1]", own))
    assert reply.is_right
    assert reply.is_found
    assert not reply.is_found_shared
    assert reply.quotes_own


# What became of feedback


def test_a_claim_is_the_one_that_says_it_and_the_others_are_asides() -> None:
    claims = [stated("It rained all day here."), stated(CLAIM, state="rejected", status="incorrect")]
    fate = fate_of(feedback("wrong"), claims, told(CLAIM))
    assert fate == Fate("wrong", "rejected", "incorrect", "add", asides=1, shared_writes=0)
    assert fate.is_claim


def test_only_what_was_written_to_the_shared_memory_is_a_write() -> None:
    confirmed = stated(CLAIM, state="confirmed", scope="shared", status="correct", action="nothing")
    assert fate_of(feedback("right"), [confirmed], told(CLAIM)).shared_writes == 0
    added = stated(CLAIM, scope="shared", status="correct")
    fate = fate_of(feedback("wrong"), [added], told(CLAIM))
    assert (fate.end, fate.shared_writes) == ("stored, shared", 1)


def test_a_shared_write_of_an_aside_counts_although_the_feedback_was_dropped() -> None:
    fate = fate_of(feedback("wrong"), [stated("It rains in Bergen.", scope="shared")], told("Why?"))
    assert fate == Fate("wrong", NO_STATEMENT, asides=1, shared_writes=1)
    assert not fate.is_claim


@pytest.mark.parametrize(
    ("message", "recalled", "why"),
    [
        (CLAIM, "The old mill of Torvik was built in 1862 by two brothers.", ECHO),
        (CLAIM, "The old mill of Torvik was built in 1870 by two brothers.", SORTED_OUT),
        ("Was the old mill of Torvik built in 1862?", "", NO_STATEMENT),
        ("That old mill of Torvik was built in 1862.", "", NOT_ALONE),
    ],
)
def test_the_step_that_let_it_go_is_told(message: str, recalled: str, why: str) -> None:
    assert why_dropped(feedback("right", message), told(message, recalled)) == why


# The streams


class FakePlayer:
    """Notes who says what, and always answers the same."""

    def __init__(self) -> None:
        self.said: list[tuple[int, int, str]] = []
        self.remembered: list[int] = []

    def play(
        self, user_id: int, session_id: int, message: str, *, watch: Callable[[Event], None]
    ) -> Finished:
        self.said.append((user_id, session_id, message))
        watch(Chosen((source(1, CLAIM, space="shared"),), "fake"))
        return Finished(len(self.said), "done", "1862.", (), (), 0.1)

    def remember(self, user_id: int, tell: object) -> None:
        self.remembered.append(user_id)

    def settle(self) -> None:
        pass


def played(monkeypatch: pytest.MonkeyPatch, *, gives_feedback: bool) -> tuple[FakePlayer, Stream]:
    player = FakePlayer()
    sessions = iter((11, 12, 13))
    assistant: Any = SimpleNamespace(
        player=player,
        journal=SimpleNamespace(
            user_id={"user": 1, "bystander": 2}.__getitem__, open_session=lambda user_id: next(sessions)
        ),
        claims=SimpleNamespace(
            of_turn=lambda user_id, turn_id: [stated(CLAIM)], told=lambda user_id, turn_id: told(CLAIM)
        ),
    )
    monkeypatch.setattr(second_pass, "shared_hash", lambda assistant: "the same")
    said = [feedback("right"), feedback("unrelated", ROOM, ROOM)]
    return player, play(assistant, said, gives_feedback=gives_feedback)


def test_feedback_is_said_after_each_first_answer_and_never_again(monkeypatch: pytest.MonkeyPatch) -> None:
    player, stream = played(monkeypatch, gives_feedback=True)
    question = feedback("right").question
    assert player.said == [
        (1, 11, question),
        (1, 11, CLAIM),
        (1, 11, question),
        (1, 11, ROOM),
        (1, 12, question),
        (1, 12, question),
        (2, 13, question),
        (2, 13, question),
    ]
    assert len(player.remembered) == 8
    assert [fate.kind for fate in stream.fates] == ["right", "unrelated"]
    assert {name: len(replies) for name, replies in stream.replies.items()} == {
        FIRST: 2,
        AGAIN: 2,
        BYSTANDER: 2,
    }


def test_without_feedback_only_the_questions_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    player, stream = played(monkeypatch, gives_feedback=False)
    assert {message for _, _, message in player.said} == {feedback("right").question}
    assert stream.fates == []


# The differences


def reply(is_right: bool) -> Reply:
    return Reply("yes" if is_right else "no", is_right, True, True, False)


def test_a_difference_is_paired_and_taken_by_kind() -> None:
    said = [feedback("right"), feedback("wrong"), feedback("wrong")]
    same = [reply(False), reply(True), reply(True)]
    other = [reply(True), reply(False), reply(True)]  # +1 after right feedback, -1 and 0 after wrong
    one = Stream({FIRST: same, AGAIN: other, BYSTANDER: same})
    two = Stream({FIRST: same, AGAIN: same, BYSTANDER: same})
    compared = Compared(said, one, two)
    found = gains(compared, seed=1)[f"{AGAIN}: with - without"]
    assert found["right"]["right"].mean == 1.0
    assert found["wrong"]["right"].mean == -0.5
    assert found["all"]["right"].mean == 0.0
    assert found["all"]["R@5"].low == found["all"]["R@5"].high == 0.0
    assert "unrelated" not in found
    assert differing(compared, AGAIN) == 2
    assert differing(compared, BYSTANDER) == 0
