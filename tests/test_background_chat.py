"""A chat model's requests for what follows a turn, and an answer that begins meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping

import pytest
from agent_fakes import FakeChat

from assistant.background.chat_model import BackgroundChat
from assistant.background.priority import AnswersFirst
from assistant.background.steps import BackgroundSteps
from stores.base.errors import ModelUnreachable


class SlowChat(FakeChat):
    """Counts the requests that were begun, and those that were dropped; replies when it may."""

    def __init__(self) -> None:
        super().__init__(lambda request: (_ for _ in ()), name="slow")  # type: ignore[arg-type,return-value]
        self.begun = self.dropped = 0
        self.may_reply, self.was_dropped = asyncio.Event(), asyncio.Event()

    async def structured(self, messages: object, schema: object) -> dict[str, object]:
        self.begun += 1
        try:
            await self.may_reply.wait()
        except asyncio.CancelledError:
            self.dropped += 1
            self.was_dropped.set()
            raise
        return {"request": self.begun}


async def few_steps() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def asking(chat: BackgroundChat) -> asyncio.Task[Mapping[str, object]]:
    return asyncio.create_task(chat.structured((), {}))


async def test_a_request_waits_for_the_answer_that_is_given() -> None:
    chat, answers_first = SlowChat(), AnswersFirst()
    chat.may_reply.set()
    with answers_first.answering():
        asked = asking(BackgroundChat(chat, answers_first))
        await few_steps()
        assert chat.begun == 0
    assert await asked == {"request": 1}


async def test_a_request_gives_way_to_an_answer_and_is_asked_anew_behind_it() -> None:
    chat, answers_first = SlowChat(), AnswersFirst()
    asked = asking(BackgroundChat(chat, answers_first))
    for number in (1, 2):  # and again
        await few_steps()
        assert chat.begun == number
        with answers_first.answering():
            await few_steps()
            assert (chat.begun, chat.dropped) == (number, number)
    chat.may_reply.set()
    assert await asked == {"request": 3}


async def test_an_answer_announced_by_another_thread_counts() -> None:
    chat, answers_first = SlowChat(), AnswersFirst()
    asked = asking(BackgroundChat(chat, answers_first))
    await few_steps()
    is_answered, loop = threading.Event(), asyncio.get_running_loop()

    def person() -> None:
        with answers_first.announced(loop):
            is_answered.wait(60)

    sending = asyncio.create_task(asyncio.to_thread(person))
    await asyncio.wait_for(chat.was_dropped.wait(), 60)
    chat.may_reply.set()
    await few_steps()
    assert chat.begun == 1
    is_answered.set()
    await sending
    assert await asked == {"request": 2}


async def test_a_failure_and_a_cancelling_come_through() -> None:
    chat, answers_first = SlowChat(), AnswersFirst()

    class Broken(SlowChat):
        async def structured(self, messages: object, schema: object) -> dict[str, object]:
            raise ModelUnreachable("it is down")

    with pytest.raises(ModelUnreachable):
        await BackgroundChat(Broken(), answers_first).structured((), {})
    asked = asking(BackgroundChat(chat, answers_first))
    await few_steps()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert (chat.begun, chat.dropped) == (1, 1)


async def test_where_one_is_always_answered_patience_ends_and_nothing_is_broken_off() -> None:
    chat, answers_first = SlowChat(), AnswersFirst(patience=0.05)
    chat.may_reply.set()
    with answers_first.answering():
        assert await asyncio.wait_for(asking(BackgroundChat(chat, answers_first)), 5) == {"request": 1}
        await asyncio.wait_for(BackgroundSteps(answers_first).run(lambda: None), 5)
    assert (chat.begun, chat.dropped) == (1, 0)
