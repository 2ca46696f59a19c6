"""A message whose model was busy or away, in plain mode: tried again by itself, or when Enter is pressed."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from agent_fakes import FakeChat
from plain_fixtures import messages, talk
from screen_fixtures import ScriptedReplies, made_assistant, place_in

from agents.base.chat_interfaces import ReplyRequest
from assistant.settings.locations import Locations
from assistant.terminal.plain.chat import PlainReply
from assistant.turns.events import Busy, Event
from assistant.wiring.assistant import Assistant
from stores.base.errors import ModelBusy, ReplyCut, VouchError


@pytest.fixture
def place(tmp_path: Path) -> Locations:
    return place_in(tmp_path)


@pytest.fixture
def seconds_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, while a busy model is waited for."""
    monkeypatch.setattr("assistant.turns.host._TELLS_EVERY_SECONDS", 0.0)


def replying(place: Locations, *replies: list[str | VouchError]) -> closing[Assistant]:
    return closing(made_assistant(place, FakeChat(ScriptedReplies(replies).reply)))


def busy(seconds: float | None = None) -> ModelBusy:
    return ModelBusy("slow down", retry_after_seconds=seconds)


@pytest.mark.usefixtures("seconds_pass")
def test_a_busy_model_is_waited_for_and_asked_again(place: Locations) -> None:
    with replying(place, [busy(23)], [busy(2)], ["Yes."]) as assistant:
        told, session = talk(assistant, "Is it open?", echoes=False)
        assert told.partition("slow down)\n")[2] == (
            "(the model is busy: trying again in 23 s; Ctrl+C stops trying)\n"
            "(the model is busy: trying again in 13 s; Ctrl+C stops trying)\n"
            "(the model is busy: trying again in 3 s; Ctrl+C stops trying)\n"
            "Assistant: \n(failed: slow down)\n"
            "(the model is busy: trying again in 2 s; Ctrl+C stops trying)\n"
            "Assistant: Yes.\n\n"
        )
        assert messages(assistant, session) == ["Is it open?"] * 3


def test_ctrl_c_stops_trying(place: Locations, monkeypatch: pytest.MonkeyPatch) -> None:
    tell = PlainReply.watch

    def interrupted(self: PlainReply, event: Event) -> None:
        tell(self, event)
        if isinstance(event, Busy):
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(PlainReply, "watch", interrupted)
    with replying(place, [busy(5)], ["Yes."]) as assistant:
        told, session = talk(assistant, "Is it open?", "/retry", echoes=False)
        assert "(not tried again; /retry does)\n\nTurn 1 is answered again." in told
        assert told.count("Assistant: Yes.") == 1
        assert messages(assistant, session) == ["Is it open?"]


def test_a_pipe_does_not_wait(place: Locations) -> None:
    with replying(place, [busy(5)], ["Yes."]) as assistant:
        told, session = talk(assistant, "Is it open?", "", "And now?")
        assert "trying again" not in told
        assert messages(assistant, session) == ["Is it open?", "And now?"]
        assert "Enter" not in told


def test_a_reply_that_had_begun_is_not_asked_for_again(place: Locations) -> None:
    with replying(place, ["Half", busy(5)], [ReplyCut("it broke off")], ["Yes."]) as assistant:
        told, session = talk(assistant, "Is it open?", "", "Is it?", "", echoes=False)
        assert messages(assistant, session) == ["Is it open?", "Is it?"]
        assert "trying again" not in told


def test_who_waits_for_a_reply_is_told_so_until_its_first_word(
    place: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fiftieth of the time; a reply that has begun is not broken by a sentence."""
    monkeypatch.setattr("assistant.turns.host._TELLS_EVERY_SECONDS", 0.1)
    monkeypatch.setattr("assistant.terminal.plain.chat._TELLS_EVERY_SECONDS", 0.2)

    async def late(_request: ReplyRequest) -> AsyncIterator[str]:
        await asyncio.sleep(0.9)
        yield "It "
        await asyncio.sleep(0.9)
        yield "is."

    with closing(made_assistant(place, FakeChat(late))) as assistant:
        told, _ = talk(assistant, "Is it open?", echoes=False)
        assert re.search(
            r"Assistant: \(waiting for [^:]+: [\d.]+ s so far; Ctrl\+C stops it\)\nAssistant: ", told
        )
        assert told.endswith("\nAssistant: It is.\n\n")
        piped, _ = talk(assistant, "Is it open?")
        assert "so far" not in piped


@pytest.mark.parametrize("is_piped", [False, True])
def test_who_waits_for_documents_is_told_how_far_they_are(
    place: Locations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_piped: bool
) -> None:
    monkeypatch.setattr("assistant.terminal.engine.ingesting._TELLS_EVERY_SECONDS", 0.0)
    file = tmp_path / "notes.md"
    file.write_text("# Rules\n\nThe door is closed.\n", encoding="utf-8")
    with replying(place) as assistant:
        told, _ = talk(assistant, f"/ingest {file}", echoes=is_piped)
    progress = "" if is_piped else "File 1 of 1, passages so far: 1. Ctrl+C stops; what is done is kept.\n"
    assert told.endswith(f"{progress}{file}: 1 passage, 1 new\n\n")
    assert ("so far" in told) != is_piped
