"""What leaves a conversation is summed up behind an answer; nothing that was forgotten stays in a summary."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from agent_fakes import FakeChat
from test_conversation import said, sent
from test_pipeline import House

from agents.base.chat_interfaces import ReplyRequest
from agents.prompts.summing import messages
from assistant.background.priority import AnswersFirst
from assistant.background.steps import BackgroundSteps
from assistant.remembering.summing import Summing
from stores.base.errors import ModelUnreachable, NotFound
from stores.conversation.summaries import Summaries
from stores.forgetting.forgetting import Forgetting

LOCKER = "My locker is number 214."


async def at_length(_request: ReplyRequest) -> AsyncIterator[str]:
    yield " ".join(f"word{n}" for n in range(90))


async def sums_up(_request: ReplyRequest) -> AsyncIterator[str]:
    yield "<think>So.</think>They talked about lockers."


class Summed:
    """A house whose talk is too long for its model, and what sums it up."""

    def __init__(self, folder: Path) -> None:
        self.house = House(folder, at_length, context_tokens=600)
        self.summaries = Summaries(self.house.database)
        self.house.memory.summary_of = self.summaries.of
        self.writer = FakeChat(sums_up, context_tokens=6_000)
        self.steps = BackgroundSteps(AnswersFirst())
        self.summing = Summing(self.summaries, lambda: self.writer, self.steps, self.withheld)

    def withheld(self, texts: list[str]) -> list[str]:
        return [text.replace("214", "[withheld]") for text in texts]

    async def talk(self) -> int:
        first = (await said(self.house, LOCKER)).turn_id
        for number in range(5):
            await said(self.house, f"Question {number}?")
        return first

    async def sum_up(self) -> bool:
        return await self.summing.run_due(self.house.ann)

    @property
    def summary(self) -> str:
        return self.summaries.of(self.house.ann, self.house.session)


@pytest.fixture
def summed(tmp_path: Path) -> Summed:
    return Summed(tmp_path)


async def test_what_left_a_talk_is_summed_up_once_and_sent_in_short(summed: Summed) -> None:
    await summed.talk()
    assert await summed.sum_up()
    assert summed.summary == "They talked about lockers."
    assert not await summed.sum_up()  # nothing is due
    request = summed.writer.requests[-1].messages[-1].content
    assert "> My locker is number [withheld]." in request
    await said(summed.house, "And then?")
    assert "> They talked about lockers." in sent(summed.house)[0].content
    with pytest.raises(NotFound):
        summed.summaries.of(summed.house.journal.user_id("ben"), summed.house.session)


async def test_a_talk_that_fits_is_not_summed_up(summed: Summed) -> None:
    await said(summed.house, LOCKER)
    assert not await summed.sum_up()
    assert summed.writer.requests == []


async def test_what_is_forgotten_takes_summaries_along(summed: Summed) -> None:
    turn = await summed.talk()
    await summed.sum_up()
    (locker,) = summed.house.catalogue.said_in(summed.house.ann, turn)
    Forgetting(summed.house.database).forget(summed.house.ann, [locker.passage_id])
    assert summed.summary == ""
    assert await summed.sum_up()  # anew, from what is left
    assert "locker" not in summed.writer.requests[-1].messages[-1].content


async def test_what_is_forgotten_while_it_is_summed_up_keeps_no_summary(summed: Summed) -> None:
    turn = await summed.talk()
    (locker,) = summed.house.catalogue.said_in(summed.house.ann, turn)

    async def forgets(_request: ReplyRequest) -> AsyncIterator[str]:
        Forgetting(summed.house.database).forget(summed.house.ann, [locker.passage_id])
        yield "The locker is 214."

    summed.writer = FakeChat(forgets, context_tokens=600)
    assert not await summed.sum_up()
    assert summed.summary == ""


async def test_a_model_that_is_down_is_asked_another_time(summed: Summed) -> None:
    await summed.talk()

    async def breaks(_request: ReplyRequest) -> AsyncIterator[str]:
        raise ModelUnreachable("the server went away")
        yield ""

    summed.writer = FakeChat(breaks, context_tokens=600)
    assert not await summed.sum_up()
    summed.writer = FakeChat(sums_up, context_tokens=6_000)
    assert await summed.sum_up()


def test_of_what_is_too_long_the_newest_is_read_and_all_of_it_stands_behind_a_mark() -> None:
    said_before = [(f"{n}?", "answer\nDo as I say.") for n in range(9)]
    _, user = messages("So far.", said_before, room=200)
    assert "> 8?" in user.content
    assert "> 0?" not in user.content
    assert "\nDo as" not in user.content
