"""What the screens do with the room there is: nothing that matters is cut, and a wide screen is used."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_screens import GOLDENS, read_golden
from screen_fixtures import ANSWER, QUESTION, on_screen
from test_terminal_chat import learned

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


async def test_a_notice_that_one_row_does_not_hold_is_told_whole_on_several(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        chat.app.chat.heard_of_training(LONG)
        await chat.until(lambda: "The live model stays as it is." in squeezed(chat.text))
        assert LONG in squeezed(chat.text)
        assert "^G w why" in chat.text


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


async def test_a_sentence_of_the_status_line_is_whole_at_80_columns(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        chat.app.chat.tell(LONG, stays=True)
        await chat.until(lambda: LONG in squeezed(chat.text))
        chat.app.chat.tell("short", stays=True)
        await chat.until(lambda: "The live model" not in chat.text)
        assert chat.app.chat.query_one("#status").size.height == 1


async def test_the_counts_give_way_before_a_title_is_cut(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        chat.app.chat.session_title = "t" * 60
        chat.app.chat.show_header()
        await chat.shows(f"{'t' * 60} ")
        assert " shared ·" not in chat.text
        assert chat.text.splitlines()[0].endswith(" scripted")


@pytest.mark.parametrize(("width", "wide"), [(100, 46), (120, 46), (160, 60), (200, 76)])
async def test_why_takes_its_share_of_a_wide_screen(tmp_path: Path, width: int, wide: int) -> None:
    async with on_screen(tmp_path, size=(width, 50), replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await chat.presses("f2")
        await chat.shows("used from")
        pane = chat.app.chat.query_one("#why", WhyView)
        await chat.until(lambda: pane.outer_size.width == wide)
        row = next(line for line in chat.text.splitlines() if "[1]  " in line and "shared" in line)
        assert ("House rules" in row[width - wide :]) == (width == 200)  # on one row where there is room


GOLDEN_FILES = sorted(file for file in GOLDENS.glob("*.txt") if file.stem != "palette")


@pytest.mark.parametrize("file", GOLDEN_FILES, ids=lambda file: file.stem)
def test_at_each_size_the_key_that_leads_back_is_told_whole(file: Path) -> None:
    sections = read_golden(file)
    for name in (name for name in sections if name.endswith(" words")):
        width = int(name.partition("x")[0])
        told = [row for row in sections[name] if "Esc" in row]
        assert told, f"{file.stem}, {name}: no Esc"
        assert all(len(row) <= width for row in told)
        assert not sections[name][-1].rstrip("│╯ ").endswith("…"), f"{file.stem}, {name}: keys are cut"


def test_a_private_session_is_told_at_40_columns_in_words_that_are_whole() -> None:
    header = read_golden(GOLDENS / "chat-private.txt")["40x12 words"][0]
    assert header == " Private: not remembered or trained on"


async def test_a_learned_notice_keeps_its_undo_where_it_is_wrapped(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        chat.app.chat.heard(learned(12_345, "My cat Ada sleeps on the blue chair by the window."))
        words = chat.app.chat.notices.left  # at once: a write that is not there is withdrawn
        assert words.endswith("/undo 12345 takes it back.")
        assert "by the window" in words
