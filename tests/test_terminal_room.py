"""What the screens do with the room there is: nothing that matters is cut, and a wide screen is used."""

from __future__ import annotations

from pathlib import Path

from screen_fixtures import ANSWER, QUESTION, on_screen

from assistant.terminal.why.why_view import WhyView
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.two_sided_line import broken

LONG = (
    "Round 3 was refused: nDCG@10 lost 1.40 points on the held-out questions of October, "
    "which is more than the 1.00 points that are allowed. The live model stays as it is."
)


def squeezed(screen: str) -> str:
    return " ".join(screen.split())


def test_words_are_broken_between_words_and_a_long_word_within() -> None:
    assert broken("one two three", 7) == ["one two", "three"]
    assert broken("a abcdefgh b", 3) == ["a", "abc", "def", "gh", "b"]
    assert broken("", 5) == [""]
    assert broken("日本語 x", 4) == ["日本", "語 x"]


async def test_what_one_row_does_not_hold_is_told_whole_on_several(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        chat.app.chat.tell(LONG, stays=True)
        await chat.until(lambda: LONG in squeezed(chat.text))
        chat.app.chat.tell("short", stays=True)
        await chat.until(lambda: "The live model" not in chat.text)
        assert chat.app.chat.query_one("#status").size.height == 1
        chat.app.chat.heard_of_training(LONG)  # as a notice
        await chat.until(lambda: LONG in squeezed(chat.text))
        assert "^G w why" in chat.text
        chat.app.chat.session_title = "t" * 60
        chat.app.chat.show_header()
        await chat.shows(f"{'t' * 60} ")
        assert " shared ·" not in chat.text  # the counts give way first
        assert chat.text.splitlines()[0].endswith(" scripted")


async def test_where_it_is_cut_the_list_of_notices_tells_it_whole(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(80, 12), replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        chat.app.chat.heard_of_training(LONG)
        await chat.shows("Round 3 was refused")
        assert "…" in chat.text
        await chat.presses("ctrl+g", "n")
        await chat.until(lambda: isinstance(chat.screen, PageScreen))
        await chat.until(lambda: LONG in squeezed(chat.text.replace("│", " ")))
        await chat.presses("escape")
        await chat.sends("/notices")
        await chat.until(lambda: isinstance(chat.screen, PageScreen))


async def test_why_takes_its_share_of_a_wide_screen(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(100, 50), replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await chat.presses("f2")
        await chat.shows("used from")
        pane = chat.app.chat.query_one("#why", WhyView)
        for width, wide in ((100, 46), (160, 60), (200, 76)):
            await chat.pilot.resize_terminal(width, 50)
            await chat.until(lambda wide=wide: pane.outer_size.width == wide)  # type: ignore[misc]
        row = next(line for line in chat.text.splitlines() if "[1]  " in line and "shared" in line)
        assert "House rules" in row[200 - 76 :]  # on one row where there is room
