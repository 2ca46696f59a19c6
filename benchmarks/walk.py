"""A walk through the screens, drawn by the screens themselves: SVG pictures for the README and the manual.

    python -m benchmarks.twenty_rounds DATA --work DIR --seeds 1 --domains covidqa --rounds 3 --questions 250
    python -m benchmarks.walk --trained DIR/seed-1/store --out docs/screens
    python -m benchmarks.walk    # the pictures of a first day alone, and of a knowledge base

Nothing is made up: the assistant, its encoder and its reader are the real ones, over a new data directory,
and for training and comparing over a copy of one in which rounds were run. Only the terminal is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from textual.pilot import Pilot

from assistant.settings.config import LearningSettings, Settings
from assistant.settings.locations import Locations, find_locations
from assistant.terminal.actions.drafts import Drafts
from assistant.terminal.app.app import ChatApp
from assistant.terminal.engine.engine import Desk, SessionChoice
from assistant.terminal.input.keys import keymap
from assistant.wiring.assistant import Assistant

SIZE = (100, 30)
USER = "ann"
_MANUAL = Path(__file__).parents[1] / "docs" / "manual"
_PLACES = Path(__file__).parents[1] / "data" / "restaurants.jsonl"
_WAITS_SECONDS = 600.0  # ten answers are compared, at low priority beside whatever else runs
SETTINGS = Settings(learning=LearningSettings(in_chat=False))  # a round begins when `s` is pressed
_STEPS = re.compile(r"step [6-9]\d of")
_ASKED = (
    "What is the main cause of HIV-1 infection in children?",
    "How long does the virus survive on surfaces?",
    "Which patients are at higher risk of severe disease?",
    "What is the mean incubation period?",
    "How was the viral load measured?",
    "Which drug lowered mortality in mice?",
    "What do travel restrictions achieve?",
    "How many samples were positive?",
    "Which cells does the virus infect first?",
    "What did the model predict for the epidemic's peak?",
)


class Walk:
    """One program on a screen of its own."""

    def __init__(self, app: ChatApp, pilot: Pilot[int], out: Path) -> None:
        self.app, self._pilot, self._out = app, pilot, out

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    async def presses(self, *keys: str) -> None:
        """Keys, one after the other."""
        await self._pilot.press(*keys)
        await self._pilot.pause()

    async def says(self, message: str) -> None:
        """A message, and its answer awaited."""
        chat = self.app.chat
        known = len(chat.conversation.messages)
        chat.prompt.put(message)
        await self.presses("enter")
        await self.until(lambda: len(chat.conversation.messages) > known and chat.talk.is_idle)

    async def shows(self, words: str) -> None:
        """Waits until this stands on the screen."""
        await self.until(lambda: words in self.text)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits. Raises TimeoutError where it never comes."""
        ends = time.monotonic() + _WAITS_SECONDS
        while not holds():
            if time.monotonic() > ends:
                raise TimeoutError(self.text)
            await self._pilot.pause(0.05)
        await self._pilot.pause()

    async def draws(self, name: str) -> None:
        """Keeps the screen as a picture that fetches nothing."""
        await self._pilot.pause(0.3)
        drawn = self.app.export_screenshot(title="vouch")
        self._out.mkdir(parents=True, exist_ok=True)
        (self._out / f"{name}.svg").write_text(without_fetching(drawn), encoding="utf-8")


def without_fetching(svg: str) -> str:
    """A picture without the fonts that the library has it fetch; the reader's own monospaced one is used."""
    return re.sub(r"@font-face\s*\{.*?\}\s*", "", svg, flags=re.DOTALL)


@asynccontextmanager
async def opened(data: Path, out: Path) -> AsyncIterator[Walk]:
    """The program over a data directory."""
    live = find_locations(os.environ)
    place = Locations(data=data, settings=data / "settings.toml", cache=live.cache, state=data / "state")
    place.create_directories()

    @contextmanager
    def opens(tell: Callable[[str], None]) -> Iterator[Assistant]:
        assistant = Assistant(SETTINGS, place, offline=True, tell=tell)
        try:
            yield assistant
        finally:
            assistant.close()

    desk = Desk(opens, user=USER)
    app = ChatApp(
        desk,
        Drafts(place.state, place.data, USER),
        SessionChoice(),
        theme="textual-dark",
        follows=True,
        changed_keys=keymap({}, send_with="enter"),
    )
    try:
        async with app.run_test(size=SIZE) as pilot:
            walk = Walk(app, pilot, out)
            await walk.until(lambda: app.chat.talk.is_idle and bool(desk.slash_commands))
            yield walk
    finally:
        await asyncio.to_thread(desk.close)


async def first_day(folder: Path, out: Path) -> None:
    """First start with the manual read, a question, why, what is learned, memory."""
    async with opened(folder, out) as walk:
        await walk.draws("1-first-start")
        await walk.says("How do I undo something you learned?")
        await walk.draws("2-answer")
        await walk.presses("f2")
        await walk.shows("judged")
        await walk.draws("3-why")
        await walk.presses("f2")
        await walk.says("My sister Mia moved to Porto in May. I am allergic to nuts.")
        await walk.shows("Learned")
        await walk.draws("4-learned")
        await walk.says("Where does Mia live?")
        await walk.draws("5-remembered")
        await walk.presses("f3")
        await walk.shows("Porto")
        await walk.draws("6-memory")
        await walk.presses("escape", "f9")
        await walk.shows("asking.md")
        await walk.presses("down", "down")
        await walk.draws("11-documents")


async def over_places(folder: Path, out: Path) -> None:
    """A conversation over a knowledge base."""
    async with opened(folder, out) as walk:
        for message in (
            "/kb restaurants",
            "a cheap italian place",
            "what about something expensive in the west?",
            "and the phone number of Bellini's?",
            "what is the address?",
            "something thai in the north",
            "what is its postcode?",
            "does it have a garden?",
            "I liked Kiku best of all.",
            "then rather the one I liked best",
        ):
            await walk.says(message)
        await walk.draws("10-knowledge-base")


async def trained(folder: Path, out: Path) -> None:
    """Rounds of training, one that runs, and answers before and after."""
    async with opened(folder, out) as walk:
        for question in _ASKED:
            await walk.says(question)
        await walk.presses("f4")
        await walk.shows("Rounds")
        await walk.shows("refused")
        await walk.draws("7-training")
        await walk.presses("c")
        await walk.shows("Before and after")
        await walk.until(lambda: "Esc leaves off" not in walk.text)
        await walk.draws("9-before-and-after")
        await walk.presses("escape", "s")
        await walk.until(lambda: bool(_STEPS.search(walk.text)))
        await walk.draws("8-running")
        await walk.presses("s")


def read_manual(folder: Path) -> None:
    """As `make chat` does, but from a folder of the user's own, whose path tells nothing of this machine."""
    shutil.copytree(_MANUAL, Path.home() / "manual")
    _vouch(folder, "ingest", "--shared", str(Path.home() / "manual"))


def _vouch(folder: Path, *words: str) -> None:
    command = [sys.executable, "-m", "assistant.cli", *words]
    subprocess.run([*command, "--data", str(folder), "--user", USER, "--quiet"], check=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the pictures."""
    parser = argparse.ArgumentParser(prog="walk")
    parser.add_argument("--trained", type=Path, help="a data directory in which rounds were run")
    parser.add_argument("--out", type=Path, default=Path("docs/screens"))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as new:
        os.environ.setdefault("XDG_CACHE_HOME", str(find_locations(os.environ).cache.parent))
        os.environ["HOME"] = f"{new}/home"
        read_manual(Path(new) / "new")
        asyncio.run(first_day(Path(new) / "new", options.out))
        _vouch(Path(new) / "places", "kb", "add", "restaurants", str(_PLACES))
        asyncio.run(over_places(Path(new) / "places", options.out))
        if options.trained is None:
            return
        shutil.copytree(options.trained, Path(new) / "trained")
        asyncio.run(trained(Path(new) / "trained", options.out))


if __name__ == "__main__":
    main()
