"""What had a key alone can be typed too: a title, the archive, privacy, what was learned, a block of code."""

from __future__ import annotations

from pathlib import Path

from memory_on_screen import remembered
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen
from test_terminal_sessions import REPLIES, on_shelf

from assistant.terminal.memory.privacy_screen import PrivacyScreen
from assistant.terminal.widgets.page_screen import PageScreen

CODE = "First answer [1].\n\n```\ncode one\n```\n\n```\ncode two\n```"


async def test_a_title_that_is_typed_stands_in_the_header(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await chat.asks("about lockers")
        await chat.shows(" about lockers")
        await chat.asks("/rename The cellar")
        await chat.until(lambda: chat.app.chat.session_title == "The cellar")
        await chat.shows(" The cellar")
        assert on_shelf(chat, "open") == ["The cellar"]
        await chat.asks("/rename")
        await chat.shows("Write its title: /rename")
        assert on_shelf(chat, "open") == ["The cellar"]


async def test_the_palette_begins_a_title_and_archives_at_once(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await chat.asks("about lockers")
        rows = {row.title: row for row in chat.app.get_system_commands(chat.screen)}
        rows["/archive"].callback()
        await chat.shows("Archived: “about lockers”.")
        await chat.until(lambda: on_shelf(chat, "archived") == ["about lockers"])
        await chat.asks("/archive")
        await chat.shows("Out of the archive: “about lockers”.")
        rows["/rename"].callback()
        await chat.until(lambda: chat.prompt == "/rename ")


async def test_privacy_opens_over_the_chat_and_leads_back_to_it(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await remembered(chat, "I like tea.")
        await chat.sends("/privacy")
        await chat.until(lambda: isinstance(chat.screen, PrivacyScreen))
        await chat.shows("Only you can find: 1 note.")
        await chat.presses("escape")
        await chat.until(lambda: chat.screen is chat.app.chat)
        assert chat.prompt == ""


async def test_what_was_learned_opens_of_the_last_turn_and_of_one_that_is_named(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], [ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await chat.asks("And on Sundays?")
        await opens_page(chat, "/learned", "Learned from turn 2")
        await opens_page(chat, "/learned 1", "Learned from turn 1")
        await chat.sends("/learned 99")
        await chat.shows("there is no turn 99")
        await chat.sends("/learned soon")
        await chat.shows("name the turn by its number")
        assert chat.screen is chat.app.chat


async def opens_page(chat: ChatOnScreen, line: str, title: str) -> None:
    await chat.sends(line)
    await chat.until(lambda: isinstance(chat.screen, PageScreen))
    await chat.shows(title)
    await chat.shows("Nothing new:")
    await chat.presses("escape")
    await chat.until(lambda: chat.screen is chat.app.chat)


async def test_without_an_answer_nothing_was_learned(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.sends("/learned")
        await chat.shows("no turn yet")


async def test_each_block_of_code_is_copied_in_turn(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[CODE]]) as chat:
        await chat.asks("one")
        for number, block in enumerate(("code one", "code two", "code one")):
            await chat.sends("/copy code")
            await chat.shows(f"copied block {number % 2 + 1} of 2")
            assert chat.app.clipboard == block
        await chat.sends("/copy")
        await chat.shows("copied the message")
        assert chat.app.clipboard.startswith("First answer")
        await chat.sends("/copy table")
        await chat.shows("/copy code its next block of code")
