"""/undo waits until the last message is weighed, and asks before it takes back what came before that."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agent_fakes import FakeChat
from memory_on_screen import assistant_of
from screen_fixtures import ChatOnScreen, ScriptedReplies, made_assistant, on_screen

from agents.base.claim_interfaces import Claim, Curation, Said, Weighed
from agents.base.interfaces import Candidate
from agents.memory.classifier import Classifier
from assistant.remembering.weighing import Agents
from assistant.settings.config import MemorySettings
from assistant.settings.locations import Locations
from assistant.terminal.actions import weighed_first
from assistant.terminal.actions.weighed_first import Wait
from assistant.terminal.engine.slash_commands import SlashCommands
from assistant.terminal.widgets.questions import Question
from assistant.wiring.assistant import Assistant
from stores.base.errors import CannotUndo, ModelUnreachable
from stores.base.statement_links import NewLink
from stores.database.tables import StatedClaim

TEA, LOCKER, QUESTION = "I like tea.", "My locker number is 214.", "Is it open?"
TAUGHT_NOTHING = ["Your last message taught nothing.", f"Take back “{TEA}”? [y/N]"]


class HeldAgents:
    """Agents that find one claim in a message without a question mark, once they are let go on."""

    name = "held"

    def __init__(self) -> None:
        self.goes_on = threading.Event()
        self.failure: Exception | None = None

    async def summarize(self, said: Said) -> list[Claim]:
        while not self.goes_on.is_set():  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.01)
        if self.failure is not None:
            raise self.failure
        text = said.message
        return [] if "?" in text else [Claim(text, text, "fact", "user")]

    async def weigh(self, _claim: Claim, _evidence: Sequence[Candidate]) -> Weighed:
        return Weighed("unknown", 1.0, by="fake")

    async def curate(self, claim: Claim, *_: object) -> Curation:
        return Curation("add", text=claim.text)

    async def relate(self, *_: object) -> list[NewLink]:
        return []

    def weigh_for(self, assistant: Assistant) -> None:
        fakes: Any = self
        agents = Agents(fakes, fakes, Classifier(shared_from=0.9), fakes)
        assistant.turns.__dict__["_remembering_agents"] = agents


class Chat:
    """A session in which tea was remembered, and then something was said that is not weighed."""

    def __init__(self, assistant: Assistant, agents: HeldAgents) -> None:
        self.assistant, self.agents = assistant, agents
        self.answer: str | None = None  # to a question; None through a pipe
        self.user_id = assistant.stores.journal.user_id("ann")
        self.commands = self._commands(is_asked=True)
        list(self.commands.run(f"/remember {TEA}"))

    def through_a_pipe(self) -> None:
        here, self.commands = self.commands, self._commands(is_asked=False)
        self.commands.session_id, self.commands._here = here.session_id, here._here

    def _commands(self, *, is_asked: bool) -> SlashCommands:
        session_id = self.assistant.stores.journal.open_session(self.user_id)
        return SlashCommands(
            self.assistant,
            self.user_id,
            session_id,
            ask=lambda: self.answer,
            is_asked=is_asked,
            learn=lambda: self.assistant.turns.host.remember(self.user_id, lambda learned: None),
        )

    def says(self, message: str) -> None:
        self.assistant.turns.host.play(
            self.user_id, self.commands.session_id, message, watch=lambda event: None
        )

    def undo(self) -> list[str]:
        return list(self.commands.run("/undo"))

    @property
    def texts(self) -> list[str]:
        lines = self.assistant.stores.catalogue.lines(self.user_id, scope="yours", memories_only=True)
        return [line.text for line in lines]


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    place = Locations(
        data=tmp_path / "d", settings=tmp_path / "s", cache=tmp_path / "c", state=tmp_path / "e"
    )
    replies = ScriptedReplies([["Yes."], ["Yes."]])
    assistant = made_assistant(place, FakeChat(replies.reply, name="scripted"), learns=True)
    agents = HeldAgents()
    agents.weigh_for(assistant)
    yield Chat(assistant, agents)
    agents.goes_on.set()
    assistant.close()


def test_what_the_last_message_teaches_is_waited_for_and_undone(chat: Chat) -> None:
    chat.says(LOCKER)
    told = iter(chat.commands.run("/undo"))
    assert next(told) == "(waiting until your last message is checked; Ctrl+C leaves the wait)"
    chat.agents.goes_on.set()
    assert next(told) == f"Undone: added “{LOCKER}”."
    list(told)
    assert chat.texts == [TEA]


def test_what_goes_on_between_two_looks_is_waited_for(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message's job ends, and that of its claim begins, while jobs and claims are read."""
    claims, jobs = chat.assistant.stores.claims, chat.assistant.stores.claim_jobs
    of_turn, looks = claims.of_turn, 0

    def read_slowly(user_id: int, turn_id: int) -> list[StatedClaim]:
        nonlocal looks
        read, looks = of_turn(user_id, turn_id), looks + 1
        if looks == 2:  # the first is before the wait
            chat.agents.goes_on.set()
            while any(job.kind == "summarize" for job in jobs.waiting(user_id)):
                time.sleep(0.01)
        return read

    hold = threading.Event()
    weigh = chat.agents.weigh

    async def weigh_later(claim: Claim, evidence: Sequence[Candidate]) -> Weighed:
        while not hold.is_set():  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.01)
        return await weigh(claim, evidence)

    monkeypatch.setattr(claims, "of_turn", read_slowly)
    monkeypatch.setattr(chat.agents, "weigh", weigh_later)
    chat.says(LOCKER)
    threading.Timer(1, hold.set).start()
    assert chat.undo()[1] == f"Undone: added “{LOCKER}”."


def test_a_message_that_taught_nothing_is_told_and_what_came_before_is_asked_about(chat: Chat) -> None:
    chat.says(QUESTION)
    chat.agents.goes_on.set()
    chat.answer = "n"
    assert chat.undo()[1:] == [*TAUGHT_NOTHING, "Nothing was undone."]
    assert chat.texts == [TEA]
    chat.answer = "y"
    assert chat.undo()[-1] == f"Undone: added “{TEA}”."
    assert chat.texts == []


def leaves(wait: Wait) -> None:
    """Once it is on."""
    while not wait.is_on:
        time.sleep(0.01)
    wait.leave()


def test_who_leaves_the_wait_has_nothing_undone(chat: Chat) -> None:
    chat.says(LOCKER)
    leaving = threading.Thread(target=leaves, args=[chat.commands.wait], daemon=True)
    leaving.start()
    told = chat.undo()
    leaving.join()
    assert told[1] == "Nothing was undone: your last message is still being checked."
    assert told[2].endswith(f" takes back what was done before it: “{TEA}”.")
    assert told[2].startswith("/undo ")
    assert chat.texts == [TEA]


def test_it_waits_no_longer_than_a_while(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weighed_first, "WAITS_SECONDS", 0.2)
    chat.says(LOCKER)
    assert chat.undo()[1] == "Nothing was undone: your last message is still being checked."
    assert chat.texts == [TEA]


def test_what_was_written_behind_the_message_is_undone_at_once(chat: Chat) -> None:
    chat.says(LOCKER)
    list(chat.commands.run("/remember I like coffee."))
    assert chat.undo()[0] == "Undone: added “I like coffee.”."
    assert chat.texts == [TEA]


def test_a_message_whose_weighing_failed_is_told_and_asked_about(chat: Chat) -> None:
    chat.agents.failure = ModelUnreachable("the model is away")
    chat.agents.goes_on.set()
    chat.says(LOCKER)
    chat.assistant.turns.host.remember(chat.user_id, lambda learned: None)
    chat.assistant.turns.host.settle()
    chat.answer = "n"
    told = chat.undo()
    assert told[0].startswith("Your last message is not checked yet, again after ")
    assert told[1:] == [f"Take back “{TEA}”? [y/N]", "Nothing was undone."]


def test_through_a_pipe_it_refuses_with_the_number(chat: Chat) -> None:
    chat.says(QUESTION)
    chat.agents.goes_on.set()
    chat.through_a_pipe()
    with pytest.raises(CannotUndo) as refused:
        chat.undo()
    assert refused.value.message == "your last message taught nothing"
    number = chat.assistant.stores.knowledge.receipts(chat.user_id)[0].id
    assert refused.value.hint == f"/undo {number} takes back what was done before it: “{TEA}”."
    assert chat.texts == [TEA]


def test_where_nothing_is_learned_nothing_is_waited_for(chat: Chat) -> None:
    chat.says(QUESTION)  # its job is there
    chat.assistant.given.settings = replace(chat.assistant.given.settings, memory=MemorySettings(learn=False))
    assert chat.undo() == [f"Undone: added “{TEA}”."]


def test_ctrl_c_leaves_a_wait() -> None:
    def interrupted() -> bool:
        raise KeyboardInterrupt

    wait = Wait()
    assert not wait.until(interrupted, "waiting")
    assert not wait.is_on


# On the screen


async def waits(chat: ChatOnScreen, agents: HeldAgents, message: str) -> Callable[[], list[str]]:
    """Tea is remembered, the message said, and /undo typed; what is said to that is returned."""
    agents.weigh_for(assistant_of(chat))
    await chat.asks(f"/remember {TEA}")
    await chat.asks(message)
    await chat.sends("/undo")
    await chat.shows("waiting until your last message is checked · Esc leaves the wait")
    return lambda: chat.app.chat.conversation.messages[-1].text.split("\n")


async def test_on_the_screen_esc_leaves_the_wait_and_what_came_before_is_asked_about(tmp_path: Path) -> None:
    agents = HeldAgents()
    async with on_screen(tmp_path, replies=[["Yes."]], learns=True) as chat:
        said = await waits(chat, agents, QUESTION)
        await chat.presses("escape")
        await chat.until(lambda: chat.app.chat.talk.is_idle)
        assert said()[0] == "Nothing was undone: your last message is still being checked."
        assert "Esc leaves the wait" not in chat.text
        assert chat.app.chat.prompt.has_focus
        await chat.sends("/undo")
        agents.goes_on.set()
        await chat.until(lambda: isinstance(chat.screen, Question))
        assert "Your last message taught nothing." in chat.text
        await chat.presses("n")
        await chat.until(lambda: chat.app.chat.talk.is_idle)
        assert said()[-1] == "Nothing was undone."
