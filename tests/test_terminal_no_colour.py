"""With NO_COLOR no colour reaches the terminal, and what colour would tell is told by other means."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, Vouch
from rich.style import Style
from screen_fixtures import QUESTION, ChatOnScreen, on_screen
from textual.widgets import Input

from assistant.terminal.app.app import WithoutColour

_SGR = re.compile(r"\x1b\[([\d;:]*)m")
_COLOURS = re.compile(r"(?:[34]8|[34][0-7]|9[0-7]|10[0-7])(?:[;:]|$)")  # the numbers that begin a colour


def styled(chat: ChatOnScreen, words: str) -> list[Style]:
    """The styles of the pieces in which such words stand."""
    return [
        segment.style
        for strip in chat.screen._compositor.render_strips()
        for segment in strip
        if words in segment.text and segment.style is not None
    ]


def test_what_is_no_colour_stays() -> None:
    from rich.segment import Segment
    from textual.color import Color

    meta = {"@click": "open"}
    style = Style(color="red", bgcolor="#102030", bold=True, reverse=True, link="https://a.org", meta=meta)
    (bare,) = WithoutColour().apply([Segment("word", style)], Color(0, 0, 0))
    assert bare.style is not None
    assert (bare.style.color, bare.style.bgcolor) == (None, None)
    assert (bare.style.bold, bare.style.reverse, bare.style.dim) == (True, True, None)
    assert (bare.style.link, bare.style.meta) == ("https://a.org", meta)


@pytest.mark.slow
def test_no_colour_reaches_the_terminal(tmp_path: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    vouch.run("ingest", "--shared", vouch.write("handbook.md", HANDBOOK))
    vouch.set('[terminal]\ntheme = "ansi-dark"\n')
    vouch.environment["NO_COLOR"] = "1"
    with vouch.terminal("chat") as person:
        person.sees("Ask anything")
        person.types(f"{QUESTION}\r")
        person.sees("House rules")
        person.types("\x1bOR")  # F3
        person.sees("Esc back")
        person.types("\x11")
        assert person.exit_code() == 0
    sent = set(_SGR.findall(person.screen))
    assert any(numbers.startswith(("1", "7")) for numbers in sent), sent  # bold or reverse
    assert [numbers for numbers in sent if _COLOURS.search(numbers)] == []


def test_an_empty_no_colour_takes_no_colour_away(tmp_path: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    vouch.environment["NO_COLOR"] = ""
    with vouch.terminal("chat") as person:
        person.sees("Ask anything")
        person.types("\x11")
        assert person.exit_code() == 0
    assert [numbers for numbers in _SGR.findall(person.screen) if _COLOURS.search(numbers)]


async def test_without_colour_the_marked_row_and_what_is_selected_are_reversed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with on_screen(tmp_path, replies=[["At ten."]]) as chat:
        await chat.asks(QUESTION)
        await chat.presses("f5")
        await chat.shows("1 turn")
        assert not any(style.color or style.bgcolor for style in styled(chat, ""))
        assert [style.reverse for style in styled(chat, "When does")] == [True]
        await chat.presses("slash")
        await chat.types("when")
        chat.screen.query_one(Input).action_home(select=True)
        await chat.until(lambda: any(style.reverse for style in styled(chat, "hen")))
