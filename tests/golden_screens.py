"""Scenes of the screens beside the golden ones in tests/goldens, at 80x24 and in dark.

    await check_scene(chat, Scene("help", opens=help_page))

A file holds the words of a scene and its styles: one line a style, with the colours, the attributes, a
digest of the cells that have it, and the first words that do. Nothing there changes from run to run: the
clock stands still, each step of a turn takes as long, and no cursor blinks.

VOUCH_WRITE_SCREENS=1 writes them anew; look at what changed before keeping it.
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.segment import Segment
from rich.style import Style
from screen_fixtures import ChatOnScreen, on_screen
from textual.scrollbar import ScrollBar
from textual.widgets import Input, TextArea

from stores.base.clock import time_by
from stores.base.errors import VouchError

GOLDENS = Path(__file__).parent / "goldens"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MATCHES_WITHIN_SECONDS = 60.0  # generous: only a screen that never becomes its golden one fails by it
_WORDS_SHOWN = 40
_ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse", "strike")

Act = Callable[[ChatOnScreen], Awaitable[None]]


async def _nothing(_chat: ChatOnScreen) -> None:
    """For scenes that need no more."""


async def to_the_prompt(chat: ChatOnScreen) -> None:
    """Out of whatever is open, by the key that goes back."""
    prompt = chat.app.chat.prompt
    for _ in range(8):
        if chat.screen is chat.app.chat and prompt.has_focus:
            return
        before = (chat.screen, chat.app.focused)
        await chat.presses("escape")
        await chat.until(lambda before=before: (chat.screen, chat.app.focused) != before)  # type: ignore[misc]
    raise AssertionError(f"Esc does not lead back to the prompt:\n{chat.text}")


@dataclass(frozen=True)
class Scene:
    """What is done to have it on the screen, and to be back at the prompt."""

    name: str
    opens: Act = _nothing
    leaves: Act = to_the_prompt


async def check_scene(chat: ChatOnScreen, scene: Scene) -> None:
    """The scene is the golden one."""
    await _stop_blinking(chat)
    await scene.opens(chat)
    await _stop_blinking(chat)
    await _assert_golden(chat, scene.name)
    await scene.leaves(chat)


@asynccontextmanager
async def at_noon(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, replies: Sequence[Sequence[str | VouchError]] = ()
) -> AsyncIterator[ChatOnScreen]:
    """The chat where it is always noon and each step takes 0.1 s."""
    moments = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(moments) / 10)
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "UTC")
        time.tzset()
        changed.setattr("assistant.turns.turn_in_progress.time", clock)
        with time_by(lambda: NOON):
            async with on_screen(folder, replies=replies) as chat:
                yield chat
    time.tzset()


async def _stop_blinking(chat: ChatOnScreen) -> None:
    for screen in chat.app.screen_stack:
        for field in screen.query("Input, TextArea").results():
            if isinstance(field, Input | TextArea):
                field.cursor_blink = False
    await chat.pilot.pause()


async def _assert_golden(chat: ChatOnScreen, name: str) -> None:
    """Waits until the screen is the golden one, since what is painted comes in parts."""
    file = GOLDENS / f"{name}.txt"
    if os.environ.get("VOUCH_WRITE_SCREENS"):
        await chat.pilot.pause(0.6)
        lines = ["@@ words", *words_of(chat), "@@ styles", *styles_of(chat)]
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    golden = read_golden(file)
    ends = time.monotonic() + MATCHES_WITHIN_SECONDS
    while (words_of(chat), styles_of(chat)) != golden and time.monotonic() < ends:
        await chat.pilot.pause(0.02)
    for known, found in zip(golden, (words_of(chat), styles_of(chat)), strict=True):
        differs = "\n".join(difflib.unified_diff(known, found, "golden", "screen", lineterm=""))
        assert not differs, f"{name}:\n{differs}"


@dataclass(frozen=True)
class _Piece:
    """Words or blanks of one style, where they stand."""

    row: int
    column: int
    width: int
    text: str
    style: Style


def words_of(chat: ChatOnScreen) -> list[str]:
    """The rows, without what stands blank at their ends."""
    rows = [""] * chat.app.size.height
    for piece in _pieces(chat):
        rows[piece.row] += piece.text
    return [row.rstrip() for row in rows]


def styles_of(chat: ChatOnScreen) -> list[str]:
    """A line a style, in the order in which they come on the screen."""
    places: dict[str, list[tuple[int, int, int]]] = {}
    shown: dict[str, str] = {}
    for piece in _pieces(chat):
        style, is_blank = piece.style, piece.text.isspace()
        told = _told(style, is_blank=is_blank)
        places.setdefault(told, []).append((piece.row, piece.column, piece.width))
        if not is_blank and len(known := shown.get(told, "")) < _WORDS_SHOWN:
            shown[told] = f"{known} {piece.text}".strip()[:_WORDS_SHOWN]
    return [f"{_digest(where)} {told:<40} {shown.get(told, '')}".rstrip() for told, where in places.items()]


def _pieces(chat: ChatOnScreen) -> Iterator[_Piece]:
    """The screen from its top left corner; bars, which tell how much there is besides, are blank."""
    compositor = chat.screen._compositor
    bars = [
        region for widget, (region, _) in compositor.visible_widgets.items() if isinstance(widget, ScrollBar)
    ]
    for row, strip in enumerate(compositor.render_strips()):
        column = 0
        for segment in Segment.simplify(strip):
            for text in re.findall(r" +|[^ ]+", segment.text):
                width = Segment(text).cell_length
                is_bar = any(bar.contains(column, row) for bar in bars)
                style = Style.null() if is_bar else segment.style or Style.null()
                yield _Piece(row, column, width, " " * width if is_bar else text, style)
                column += width


def _told(style: Style, *, is_blank: bool) -> str:
    """Of blanks, only what they stand on can be seen."""
    on = style.bgcolor.name if style.bgcolor is not None else "default"
    written = style.color.name if style.color is not None else "default"
    attributes = [name for name in _ATTRIBUTES if getattr(style, name)]
    if is_blank and "reverse" not in attributes:
        return f"on {on}" + (" underline" if "underline" in attributes else "")
    return " ".join([written, "on", on, *attributes])


def _digest(places: Sequence[tuple[int, int, int]]) -> str:
    return hashlib.sha256(repr(places).encode()).hexdigest()[:8]


def read_golden(file: Path) -> tuple[list[str], list[str]]:
    """The words of a golden scene and its styles."""
    words, _, styles = file.read_text(encoding="utf-8").removeprefix("@@ words\n").partition("@@ styles\n")
    return words.splitlines(), styles.splitlines()
