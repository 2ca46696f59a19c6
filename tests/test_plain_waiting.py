"""A message whose model was busy or away, in plain mode: tried again by itself, or when Enter is pressed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from agent_fakes import FakeChat
from screen_fixtures import ScriptedReplies, made_assistant
from test_plain_commands import messages, talk

from assistant.locations import Locations
from assistant.wiring import Assistant
from stores.errors import ModelBusy, ModelUnreachable, ReplyCut, VouchError


@pytest.fixture
def place(tmp_path: Path) -> Locations:
    return Locations(
        data=tmp_path / "data",
        settings=tmp_path / "settings",
        cache=tmp_path / "cache",
        state=tmp_path / "state",
    )


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was slept, in seconds."""
    seen: list[float] = []
    monkeypatch.setattr("assistant.terminal.plain_waiting.time.sleep", seen.append)
    return seen


def replying(place: Locations, *replies: list[str | VouchError]) -> closing[Assistant]:
    return closing(made_assistant(place, FakeChat(ScriptedReplies(replies).reply)))


def busy(seconds: float | None = None) -> ModelBusy:
    return ModelBusy("slow down", retry_after_seconds=seconds)


def test_a_busy_model_is_waited_for_and_asked_again(place: Locations, waited: list[float]) -> None:
    with replying(place, [busy(23)], [busy(2)], ["Yes."]) as assistant:
        told, session = talk(assistant, "Is it open?", echoes=False)
        assert waited == [10, 10, 3, 2]
        assert told.partition("slow down)\n")[2] == (
            "(the model is busy: tried again in 23 s; Ctrl+C stops trying)\n"
            "(the model is busy: tried again in 13 s; Ctrl+C stops trying)\n"
            "(the model is busy: tried again in 3 s; Ctrl+C stops trying)\n"
            "Assistant: \n(failed: slow down)\n"
            "(the model is busy: tried again in 2 s; Ctrl+C stops trying)\n"
            "Assistant: Yes.\n\n"
        )
        assert messages(assistant, session) == ["Is it open?"] * 3


def test_a_server_that_does_not_say_how_long_is_left_longer_each_time(
    place: Locations, waited: list[float]
) -> None:
    with replying(place, [busy()], [busy()], ["Yes."]) as assistant:
        talk(assistant, "Is it open?", echoes=False)
        assert waited == [5, 10]


def test_ctrl_c_stops_trying(place: Locations, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("assistant.terminal.plain_waiting.time.sleep", interrupted)
    with replying(place, [busy(5)], ["Yes."]) as assistant:
        told, session = talk(assistant, "Is it open?", "/retry", echoes=False)
        assert "(not tried again; /retry does)\n\nTurn 1 is answered again." in told
        assert told.count("Assistant: Yes.") == 1
        assert messages(assistant, session) == ["Is it open?"]


def test_a_pipe_does_not_wait(place: Locations, waited: list[float]) -> None:
    with replying(place, [busy(5)], ["Yes."]) as assistant:
        told, session = talk(assistant, "Is it open?", "", "And now?")
        assert waited == []
        assert messages(assistant, session) == ["Is it open?", "And now?"]
        assert "Enter" not in told


def test_a_reply_that_had_begun_is_not_asked_for_again(place: Locations, waited: list[float]) -> None:
    with replying(place, ["Half", busy(5)], [ReplyCut("it broke off")], ["Yes."]) as assistant:
        told, session = talk(assistant, "Is it open?", "", "Is it?", "", echoes=False)
        assert (waited, messages(assistant, session)) == ([], ["Is it open?", "Is it?"])
        assert "tries it again" not in told


def test_enter_tries_a_message_again_for_which_nobody_could_be_reached(place: Locations) -> None:
    away = ModelUnreachable("nobody answers")
    with replying(place, [away], [away], ["Yes."]) as assistant:
        told, session = talk(assistant, "//is it open?", "", "", "", echoes=False)
        assert told.count("(it waits: Enter tries it again)") == 2
        assert told.endswith("Assistant: Yes.\n\n")
        assert messages(assistant, session) == ["/is it open?"] * 3


def test_in_a_pipe_an_empty_line_tries_nothing_again(place: Locations) -> None:
    with replying(place, [ModelUnreachable("nobody answers")], ["Yes."]) as assistant:
        told, session = talk(assistant, "Is it open?", "")
        assert (messages(assistant, session), "waits" in told) == (["Is it open?"], False)
