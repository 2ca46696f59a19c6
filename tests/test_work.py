"""What screens look up beside everything else: a defect is reported, but not where its screen is gone."""

import asyncio

import pytest
from textual.app import App
from textual.css.query import NoMatches
from textual.screen import Screen

from assistant.terminal.widgets.work import Working


class Looking(Working, Screen[None]):
    """Shows what it looked up in a line that it does not have."""

    def __init__(self) -> None:
        super().__init__()
        self.found = asyncio.Event()

    async def look_up(self) -> None:
        """Waits for what is found, and would show it."""
        await self.found.wait()
        self.query_one("#header")


class Reporting(App[None]):
    """An app that keeps what it was to report."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[Exception] = []

    def fail(self, error: Exception) -> None:
        """A defect of ours."""
        self.failures.append(error)


@pytest.mark.parametrize("is_left", [False, True])
async def test_a_missing_line_is_a_defect_unless_its_screen_was_taken_down(is_left: bool) -> None:
    app = Reporting()
    async with app.run_test() as pilot:
        screen = Looking()
        await app.push_screen(screen)
        todo = asyncio.create_task(screen._told_of(screen.look_up()))
        await pilot.pause()
        if is_left:
            await app.pop_screen()
        screen.found.set()
        await todo
    assert [type(failure) for failure in app.failures] == ([] if is_left else [NoMatches])


async def test_what_comes_while_all_is_left_is_not_shown() -> None:
    app = Reporting()
    async with app.run_test() as pilot:
        screen = Looking()
        await app.push_screen(screen)
        todo = asyncio.create_task(screen._told_of(screen.look_up()))
        await pilot.pause()
    screen.found.set()
    await todo
    assert app.failures == []
