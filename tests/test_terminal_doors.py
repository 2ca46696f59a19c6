"""What had a key alone can be typed too: a title, the archive, privacy, what was learned, a block of code."""

from __future__ import annotations

from pathlib import Path

from screen_fixtures import ANSWER, QUESTION, on_screen
from test_terminal_sessions import REPLIES, on_shelf

from assistant.terminal.memory.privacy_screen import PrivacyScreen
from assistant.terminal.widgets.page_screen import PageScreen

CODE = "First answer [1].\n\n```\ncode one\n```\n\n```\ncode two\n```"


async def test_a_title_the_archive_and_privacy_can_be_typed_and_chosen_in_the_palette(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await chat.asks("about lockers")
        await chat.asks("/rename The cellar")
        await chat.until(lambda: chat.app.chat.session_title == "The cellar")
        await chat.shows(" The cellar")
        assert on_shelf(chat, "open") == ["The cellar"]
        rows = {row.title: row for row in chat.app.get_system_commands(chat.screen)}
        rows["/archive"].callback()
        await chat.until(lambda: on_shelf(chat, "archived") == ["The cellar"])
        await chat.asks("/archive")
        await chat.shows("Out of the archive: “The cellar”.")
        rows["/rename"].callback()
        await chat.until(lambda: chat.prompt == "/rename ")
        await chat.sends("/privacy")
        await chat.until(lambda: isinstance(chat.screen, PrivacyScreen))
        await chat.goes_back()


async def test_what_was_learned_and_each_block_of_code_can_be_asked_for(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], [CODE]]) as chat:
        await chat.sends("/learned")
        await chat.shows("no turn yet")
        await chat.asks(QUESTION)
        await chat.asks("And on Sundays?")
        for line, turn in (("/learned", 2), ("/learned 1", 1)):
            await chat.sends(line)
            await chat.until(lambda: isinstance(chat.screen, PageScreen))
            await chat.shows(f"Learned from turn {turn}")
            await chat.goes_back()
        await chat.sends("/learned 99")
        await chat.shows("you have no turn 99")
        for number, block in enumerate(("code one", "code two", "code one")):
            await chat.sends("/copy code")
            await chat.shows(f"copied block {number % 2 + 1} of 2")
            assert chat.app.clipboard == block
        await chat.sends("/copy")
        await chat.shows("copied the message")
        assert chat.app.clipboard.startswith("First answer")
