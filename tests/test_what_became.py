"""Who asks why something was not learned is told what became of their last message, from its record."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from agent_fakes import FixedEncoder
from test_pipeline import House, ten

from agents.backends.extractive import ExtractiveChat
from agents.query_augmenter import QueryAugmenter
from agents.quoting import Quoter
from agents.reranker import Reranker
from agents.responder import Responder
from agents.score_judge import ScoreJudge
from agents.what_became import asks_what_became
from assistant.turns.events import Finished
from assistant.turns.pipeline import TurnPipeline
from assistant.turns.what_became import BEING_WEIGHED, NOT_HERE, NOT_LEARNING, NOTHING_STATED, what_became
from stores.records import StatedClaim
from stores.waiting_jobs import WaitingJob, Why

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SAID = "My boat is Zed."


@pytest.mark.parametrize(
    "message",
    [
        "why did you say noted but not learn it?",
        "why didn't you learn that?",
        "Why did you not remember what I said?",
        "did you learn that?",
        "Did you remember it",
        "what did you learn from that?",
        "why was nothing learned?",
        "why was that not learned?",
        "so why haven't you kept that?",
        "Have you learned what I just told you?",
        "why don't you remember this?",
        "What happened to what I said?",
        "why did you only say noted?",
    ],
)
def test_who_asks_what_became_of_their_words(message: str) -> None:
    assert asks_what_became(message)


@pytest.mark.parametrize(
    "message",
    [
        "Why did you say that the room is closed?",
        "Did you learn French?",
        "Do you remember my name?",
        "why does Vouch say noted",
        "How do you learn?",
        "Why did my boss not learn it?",
        "What did you learn about Lisbon?",
        "I learned that.",
        "did you " * 5_000,
        "",
    ],
)
def test_other_questions_ask_something_else(message: str) -> None:
    assert not asks_what_became(message)


def claim(state: str, reason: str = "") -> StatedClaim:
    return StatedClaim(
        id=4, user_id=1, turn_id=7, origin="turn", number=1, text=SAID, text_key="", quote=SAID, kind="fact",
        about="user", state=state, scope="yours", passage_id=12, grounds={"reason": reason}, created_at=NOW,
    )  # fmt: skip


def job(kind: str, subject: int, *, why: Why = "due", error: str = "") -> WaitingJob:
    return WaitingJob(9, kind, subject, 1, error, None, NOW, why)


@pytest.mark.parametrize(
    ("claims", "jobs", "told"),
    [
        ([claim("stored")], [], f"Learned, yours, as 12: “{SAID}”."),
        ([claim("confirmed")], [], f"It was known already: “{SAID}”."),
        (
            [claim("rejected", "passage 3 says otherwise")],
            [],
            f"Not taken in: “{SAID}”: passage 3 says otherwise.",
        ),
        ([claim("withdrawn")], [], f"It was taken back: “{SAID}”."),
        ([claim("pending")], [], f"“{SAID}”: {BEING_WEIGHED}"),
        ([], [job("summarize", 7)], f"“{SAID}”: {BEING_WEIGHED}"),
        (
            [],
            [job("summarize", 7, why="failed", error="no connection")],
            f"“{SAID}”: it could not be weighed yet (no connection), and is tried again.",
        ),
    ],
)
def test_what_became_is_told_from_the_record(
    claims: list[StatedClaim], jobs: list[WaitingJob], told: str
) -> None:
    assert what_became(SAID, 7, claims, jobs, learns=True) == told


def test_where_nothing_was_found_in_it_that_is_told_with_what_to_do() -> None:
    others = [job("summarize", 8)]  # of another turn
    told = what_became(SAID, 7, [], others, learns=True)
    assert told.startswith(f"I found nothing in “{SAID}” to learn")
    assert "/remember" in told
    assert what_became(SAID, 7, [], others, learns=False) == NOT_LEARNING


class Telling(House):
    """A house that records for each turn that it was asked about what became of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ten)
        model = ExtractiveChat(Quoter(FixedEncoder({}), threshold=0.5, quotes=3))
        self.pipeline = TurnPipeline(
            journal=self.journal,
            searching=self.pipeline._searching,
            augmenter=QueryAugmenter(),
            reranker=Reranker(ScoreJudge(), schedule="multi", budget=10, min_judged=1),
            responder=Responder(model, keep=3),
            cut=lambda text: [text],
            history_turns=4,
            became=lambda user_id, turn_id, message: f"{user_id} {turn_id} {message}",
        )

    async def ask(self, message: str) -> tuple[int, str]:
        finished = (await self.say(message))[-1]
        assert isinstance(finished, Finished)
        return finished.turn_id, finished.answer


async def test_it_is_told_of_the_last_message_that_stated_something(tmp_path: Path) -> None:
    house = Telling(tmp_path)
    assert (await house.ask("Did you learn that?"))[1] == NOTHING_STATED
    await house.ask("My mast is red.")
    turn, _ = await house.ask(SAID)
    await house.ask("When does the room open?")
    assert (await house.ask("Did you learn that?"))[1] == f"{house.ann} {turn} {SAID}"
    assert (await house.ask("Why didn't you learn it?"))[1] == f"{house.ann} {turn} {SAID}"


async def test_in_a_private_session_it_is_told_that_nothing_is_learned(tmp_path: Path) -> None:
    house = Telling(tmp_path)
    house.session = house.journal.open_session(house.ann, is_private=True)
    await house.ask(SAID)
    assert (await house.ask("Did you learn that?"))[1] == NOT_HERE
