"""From the key to the journal, a message passes few calls of ours: a reader can hold all of them in mind.

Counted are the calls that stand between them: each called the next one, or handed the message on to it, as to
a task, to a thread, or by the screen library. What a call does beside that is not counted.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context, ContextVar, copy_context
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from plain_fixtures import counting, talk
from screen_fixtures import assistant_in, on_screen
from textual.message import Message
from textual.message_pump import MessagePump

import assistant
from assistant.cli import cli
from assistant.invocation import Invocation
from stores.conversation.journal import Accepted, Journal

OURS = tuple(str(Path(assistant.__file__).parent.parent / room) for room in ("assistant", "agents", "stores"))
CAT = "My cat is called Ada."

_handed_on: ContextVar[tuple[str, ...]] = ContextVar("handed_on", default=())


def path() -> tuple[str, ...]:
    """The calls of ours that led here, the first one first."""
    frame, here = sys._getframe(1), list[str]()
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(OURS):
            here.append(code.co_qualname)
        frame = frame.f_back  # type: ignore[assignment]
    return (*_handed_on.get(), *reversed(here))


def _with_path(context: Context | None) -> Context:
    context = context.copy() if context is not None else copy_context()
    context.run(_handed_on.set, path())
    return context


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The paths of all messages that the journal accepts."""
    loop = asyncio.BaseEventLoop
    create_task, call, submit = loop.create_task, loop.call_soon_threadsafe, ThreadPoolExecutor.submit
    post, dispatch = MessagePump.post_message, MessagePump._dispatch_message
    accept, found = Journal.accept, list[tuple[str, ...]]()

    def creates(self: Any, todo: Coroutine[Any, Any, Any], *, context: Any = None, **more: Any) -> Any:
        return create_task(self, todo, context=_with_path(context), **more)

    def calls(self: Any, callback: Callable[..., Any], *args: Any, context: Any = None) -> Any:
        return call(self, callback, *args, context=_with_path(context))

    def submits(self: Any, work: Callable[..., Any], *args: Any, **more: Any) -> Future[Any]:
        return submit(self, _with_path(None).run, work, *args, **more)

    def posts(self: MessagePump, message: Message) -> bool:
        message.__dict__.setdefault("path", path())
        return post(self, message)

    async def dispatches(self: MessagePump, message: Message) -> None:
        before = _handed_on.set(message.__dict__.get("path", ()))
        try:
            await dispatch(self, message)
        finally:
            _handed_on.reset(before)

    def accepts(self: Journal, *args: Any, **more: Any) -> Accepted:
        found.append((*path(), accept.__qualname__))
        return accept(self, *args, **more)

    monkeypatch.setattr(loop, "create_task", creates)
    monkeypatch.setattr(loop, "call_soon_threadsafe", calls)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", submits)
    monkeypatch.setattr(MessagePump, "post_message", posts)
    monkeypatch.setattr(MessagePump, "_dispatch_message", dispatches)
    monkeypatch.setattr(Journal, "accept", accepts)
    return found


async def test_from_the_key_on_the_screen(tmp_path: Path, paths: list[tuple[str, ...]]) -> None:
    async with on_screen(tmp_path, replies=[["I see."]]) as chat:
        await chat.sends(CAT)
        await chat.shows("I see.")
    (calls,) = paths
    assert len(calls[calls.index("Prompt._on_key") :]) <= 8, calls


def test_from_a_line_of_plain_mode(tmp_path: Path, paths: list[tuple[str, ...]]) -> None:
    with assistant_in(tmp_path, counting) as made:
        talk(made, CAT)
    (calls,) = paths
    assert len(calls[calls.index("PlainChat.run") :]) <= 9, calls


def test_from_a_command(
    tmp_path: Path, paths: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Invocation, "assistant", lambda self, **_more: assistant_in(tmp_path, counting))
    monkeypatch.setattr("assistant.commands.ask._has_input", lambda: False)
    CliRunner().invoke(cli, ["ask", CAT])
    (calls,) = paths
    assert len(calls[calls.index("command") :]) <= 7, calls
