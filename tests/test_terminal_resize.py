"""Another size of the terminal: what is open tells then what there is room for."""

from __future__ import annotations

from pathlib import Path

from cli_helpers import Vouch
from screen_fixtures import QUESTION, ChatOnScreen, on_screen
from textual.geometry import Size

SMALL, USUAL, LARGE = (40, 12), (80, 24), (200, 50)


async def resizes(chat: ChatOnScreen, size: tuple[int, int]) -> None:
    await chat.pilot.resize_terminal(*size)
    await chat.until(lambda: chat.screen.size == size)


LINES = "\n\n".join(
    f"Line {n} of an answer that is long enough to be broken on a narrow screen." for n in range(8)
)


def marked_rows(chat: ChatOnScreen) -> range:
    """Rows of the marked message that are in view."""
    conversation = chat.app.chat.conversation
    view = conversation.view_of(conversation.current)
    assert view is not None
    seen = view.region.intersection(conversation.region)
    return range(seen.y, seen.bottom) if seen.area else range(0)


async def test_the_marked_message_stays_in_view_whatever_the_size_becomes(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[LINES]] * 4, size=USUAL) as chat:
        for n in range(4):
            await chat.asks(f"Question {n}?")
        await chat.presses("escape")
        conversation = chat.app.chat.conversation
        await chat.until(lambda: conversation.has_focus)
        for _ in range(4):
            before = conversation.current
            await chat.presses("k")
            await chat.until(lambda before=before: conversation.current is not before)  # type: ignore[misc]
        marked = conversation.current
        for size in (SMALL, LARGE, USUAL, SMALL, (100, 30)):
            await resizes(chat, size)
            await chat.until(lambda: len(marked_rows(chat)) > 0, lambda: f"{size}:\n{chat.text}")  # noqa: B023
            await chat.pilot.pause(0.2)  # and nothing takes it away again
            assert len(marked_rows(chat)) > 0
            assert conversation.current is marked
            assert "to follow" not in chat.text


async def test_the_same_size_again_and_none_at_all_scroll_nothing(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[LINES]], size=USUAL) as chat:
        await chat.asks(QUESTION)
        await chat.presses("escape", "k")
        conversation = chat.app.chat.conversation
        await resizes(chat, SMALL)
        await chat.pilot.pause(0.2)
        conversation.scroll_end(animate=False)
        await chat.until(lambda: conversation.is_at_end)
        place = conversation.scroll_y
        for size in (Size(*SMALL), Size(0, 0), Size(*SMALL), Size(80, 0)):
            conversation.keep_in_view(size)
            await chat.pilot.pause(0.1)
        assert conversation.scroll_y == place


async def test_a_sentence_among_the_keys_goes_with_the_small_screen(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=SMALL) as chat:
        chat.app.chat.standing = "no reply model"
        chat.app.chat.tell("nothing to copy", stays=True)
        await chat.shows("nothing to copy")
        await resizes(chat, USUAL)
        await chat.shows("Enter send")
        assert chat.text.count("nothing to copy") == 1
        await resizes(chat, SMALL)
        await chat.shows("nothing to copy")
        chat.app.chat.tell("")
        await chat.shows("Enter send")  # how things stand takes the place of no keys


def test_a_terminal_without_a_size_is_painted_and_left_alone(tmp_path: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    with vouch.terminal("chat") as person:  # its pseudo-terminal has no size
        person.sees("Ask anything")
        person.types("/remember I like tea.\r")
        person.sees("Remembered")
        person.types("\x1b")
        person.sees("Reading")
        person.types("k")
        person.has_seen_all()
        painted = len(person.screen)
        person.waits(2.0)
        assert len(person.screen) - painted < 4000  # a screen that is painted without end is ten times that
        person.types("\x11")
        assert person.exit_code() == 0
