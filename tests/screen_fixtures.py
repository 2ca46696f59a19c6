"""The chat on a screen that nobody sees: a real assistant over a fresh database, with scripted replies.

async with on_screen(tmp_path, replies=[["Yes."]]) as chat:
    await chat.sends("Is it open?")
    await chat.shows("Yes.")
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

from agent_fakes import FakeChat, FixedEncoder
from store_fixtures import document, fresh_database
from textual.pilot import Pilot
from textual.screen import Screen

from agents.base.chat_interfaces import ReplyRequest
from assistant.settings.config import AnswerSettings, MemorySettings, RerankingSettings, Settings
from assistant.settings.locations import Locations
from assistant.terminal.actions.drafts import Drafts
from assistant.terminal.app.app import ChatApp
from assistant.terminal.engine.engine import Desk, SessionChoice
from assistant.terminal.input.keys import keymap
from assistant.wiring.assistant import Assistant
from stores.base.errors import VouchError
from stores.base.passages import SHARED
from stores.conversation.glance import glance

WAITS_SECONDS = 90.0  # generous: only what never comes fails by it
HOLD = "\0hold"  # in a reply: nothing further until `chat.go_on()`
HANDBOOK = "The reading room opens at 10:00 on Saturdays."
QUESTION = "When does the reading room open on Saturdays?"
ANSWER = "It opens at 10:00 on Saturdays [1]."


class ScriptedReplies:
    """Replies in their order, each a list of pieces; an error among them is raised there."""

    def __init__(self, replies: Sequence[Sequence[str | VouchError]]) -> None:
        self._replies = list(replies)
        self._goes_on = False

    async def reply(self, _request: ReplyRequest) -> AsyncIterator[str]:
        for piece in self._replies.pop(0) if self._replies else ["Nothing more."]:
            if isinstance(piece, VouchError):
                raise piece
            if piece == HOLD:
                self._goes_on = False
                while not self._goes_on:  # noqa: ASYNC110 - set by another thread
                    await asyncio.sleep(0.01)
            else:
                yield piece

    def go_on(self) -> None:
        self._goes_on = True


class ChatOnScreen:
    """What a person at the screen does and sees."""

    def __init__(self, app: ChatApp, pilot: Pilot[int], replies: ScriptedReplies, place: Locations) -> None:
        self.app, self.pilot, self.place = app, pilot, place
        self.go_on = replies.go_on

    @property
    def prompt(self) -> str:
        return self.app.chat.prompt.text

    @property
    def screen(self) -> Screen[object]:
        return self.app.screen

    @property
    def text(self) -> str:
        """The screen as its rows, without what stands blank at their ends."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    async def presses(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def opens(self, kind: type[Screen[Any]], *keys: str) -> None:
        """Keys, and the screen that they lead to."""
        await self.presses(*keys)
        await self.until(
            lambda: isinstance(self.screen, kind), lambda: f"{keys} open no {kind.__name__}:\n{self.text}"
        )

    async def goes_back(self) -> None:
        """Esc, and the chat."""
        await self.presses("escape")
        await self.until(lambda: self.screen is self.app.chat)

    async def reads(self) -> None:
        """Out of the prompt, into the conversation."""
        await self.presses("escape")
        await self.until(lambda: self.app.chat.conversation.has_focus)

    async def begins_session(self) -> None:
        await self.presses("ctrl+n")
        await self.until(lambda: not self.app.chat.conversation.messages)

    async def types(self, text: str) -> None:
        """What arrives as keys."""
        await self.pilot.press(*(_KEY_NAMES.get(character, character) for character in text))

    async def sends(self, text: str) -> None:
        """A message, put into the prompt and sent."""
        await self.until(lambda: self.app.screen is self.app.chat)
        self.app.chat.prompt.put(text)
        await self.pilot.press("enter")

    async def asks(self, text: str) -> None:
        """A message, and waits until its answer is whole."""
        chat = self.app.chat
        known = len(chat.conversation.messages)
        await self.sends(text)
        await self.until(lambda: len(chat.conversation.messages) > known and chat.talk.is_idle)

    async def shows(self, text: str) -> None:
        """Waits until this stands on the screen."""
        await self.until(lambda: text in self.text, lambda: f"{text!r} is not on the screen:\n{self.text}")

    async def until(
        self, holds: Callable[[], bool], told: Callable[[], str] = lambda: "it never came"
    ) -> None:
        ends = time.monotonic() + WAITS_SECONDS
        while not holds():
            assert time.monotonic() < ends, told()
            await self.pilot.pause(0.01)
        await self.pilot.pause()

    async def is_ready(self) -> None:
        await self.until(lambda: bool(self.app.chat.desk.slash_commands) and self.app.chat.talk._is_ready)


_KEY_NAMES = {" ": "space", "/": "slash", "\n": "ctrl+j", ".": "full_stop", "?": "question_mark", "+": "plus"}


@asynccontextmanager
async def on_screen(
    folder: Path,
    *,
    user: str = "ann",
    replies: Sequence[Sequence[str | VouchError]] = (),
    size: tuple[int, int] = (80, 24),
    choice: SessionChoice = SessionChoice(),  # noqa: B008 - frozen
    theme: str = "textual-dark",
    follows: bool = True,
    send_with: str = "enter",
    keys: Mapping[str, str] | None = None,
    waits_for_ready: bool = True,
    opens_when: Callable[[], bool] = lambda: True,
    learns: bool = False,
    burst_seconds: float = 0.0,
) -> AsyncIterator[ChatOnScreen]:
    """The chat over the database in a folder, which is made with one shared passage when it is not there.

    opens_when: the assistant opens no earlier.
    """
    place = place_in(folder)
    script = ScriptedReplies(replies)

    @contextmanager
    def opens(tell: Callable[[str], None]) -> Iterator[Assistant]:
        while not opens_when():
            time.sleep(0.01)
        assistant = made_assistant(place, FakeChat(script.reply, name="scripted"), tell, learns=learns)
        try:
            yield assistant
        finally:
            assistant.close()

    desk = Desk(
        opens,
        user=user,
        glances=lambda session_id, turns: glance(place.data, user, session_id, turns=turns),
    )
    app = ChatApp(
        desk,
        Drafts(place.state, place.data, user),
        choice,
        theme=theme,
        follows=follows,
        changed_keys=keymap(keys or {}, send_with=send_with),
        burst_seconds=burst_seconds,
    )
    try:
        async with app.run_test(size=size) as pilot:
            chat = ChatOnScreen(app, pilot, script, place)
            if waits_for_ready:
                await chat.is_ready()
            yield chat
    finally:
        script.go_on()
        await asyncio.to_thread(desk.close)


def place_in(folder: Path) -> Locations:
    """Where an assistant keeps what it has, all below one folder."""
    return Locations(
        data=folder / "data",
        settings=folder / "settings.toml",
        cache=folder / "cache",
        state=folder / "state",
    )


async def _unasked(_request: ReplyRequest) -> AsyncIterator[str]:
    yield "not asked"


@contextmanager
def assistant_in(
    folder: Path, reply: Callable[[ReplyRequest], AsyncIterator[str]] = _unasked
) -> Iterator[Assistant]:
    """An assistant that loads no model, without a screen. reply: what its chat model says."""
    with closing(made_assistant(place_in(folder), FakeChat(reply))) as made:
        yield made


def made_assistant(
    place: Locations, chat: FakeChat, tell: Callable[[str], None] = print, *, learns: bool = False
) -> Assistant:
    """An assistant that loads no model."""
    place.create_directories()
    is_new = not (place.data / "vouch.db").exists()
    if is_new:
        fresh_database(place.data).close()
    settings = Settings(
        reranking=RerankingSettings(judge="scores"),
        answer=AnswerSettings(reader=False, generator=False),  # neither reads these vectors
        memory=MemorySettings(learn=learns),
    )
    assistant = Assistant(settings, place, tell=tell)
    assistant.search.__dict__["wanted_encoder"] = FixedEncoder(
        {}
    )  # in place of the one that would be exported
    assistant.models.__dict__["chat_model"] = chat
    if is_new:
        ann = assistant.stores.journal.user_id("ann")
        documents = assistant.stores.stored_documents
        plan = documents.plan(SHARED, [document("rules.md", HANDBOOK, title="House rules")])
        documents.store(
            plan,
            assistant.search.wanted_encoder.encode_passages(plan.texts_to_encode()),
            encoder_version=FixedEncoder.version,
            receipt_id=documents.open_receipt(ann, SHARED, "ingested rules.md"),
        )
    return assistant
