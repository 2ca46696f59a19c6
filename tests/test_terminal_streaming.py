"""What was written piece by piece reads as the whole does; how it is laid out and how often painted."""

from __future__ import annotations

from pathlib import Path

import pytest
from screen_fixtures import on_screen
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll

from assistant.terminal.conversation.answer_text import AnswerText
from assistant.terminal.conversation.message_view import MessageView
from assistant.terminal.conversation.prompt import FoldedPastes
from assistant.terminal.conversation.talk import Pace
from assistant.terminal.facts.messages import Message
from assistant.terminal.input.clipboard import code_blocks
from assistant.terminal.text.markdown_lines import lines_of, settled_length
from assistant.terminal.text.printable import printable

FIXTURES = {
    "headings": "# One\n\ntext\n\n## Two\n\nmore *text* and `code`",
    "lists": "- one\n  - inner\n- two\n\n1. first\n2. second\n\n   still second",
    "loose list": "- one\n\n- two\n\n- three\n\nAnd text.",
    "fences": "Before\n\n```python\ndef f():\n\n    return 1\n```\n\nafter\n\n~~~\n```\n~~~",
    "open fence": "Before\n\n```\nnever closed\n\nstill code",
    "table": "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nbelow",
    "joined": "می\u200cخواهم 👩\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 end \u200d",
    "quotes": "> said\n> more\n\n> again\n\nplain [1] and [2].",
}


class Written(App[None]):
    """One answer, written or whole."""

    def __init__(self, message: Message) -> None:
        super().__init__()
        self.message = message

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield MessageView(self.message)

    @property
    def text(self) -> str:
        strips = self.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)


async def written(pieces: list[str]) -> str:
    app = Written(Message("Assistant", "", state="writing"))
    async with app.run_test(size=(60, 60)) as pilot:
        view = app.query_one(MessageView)
        for piece in pieces:
            view.write(piece)
            await pilot.pause()
        view.message.state = "done"
        view.end()
        await pilot.pause()
        assert view.message.text == "".join(pieces)
        return app.text


async def whole(text: str) -> str:
    app = Written(Message("Assistant", text))
    async with app.run_test(size=(60, 60)) as pilot:
        await pilot.pause()
        return app.text


@pytest.mark.parametrize("name", FIXTURES)
async def test_streamed_text_equals_rendered_text(name: str) -> None:
    text = FIXTURES[name]
    assert await written(list(text)) == await whole(text)


async def test_no_word_of_a_long_answer_is_lost(tmp_path: Path) -> None:
    words = [f"word{n}" for n in range(1_500)]
    paragraphs = "\n\n".join(" ".join(words[at : at + 50]) for at in range(0, len(words), 50))
    pieces = [paragraphs[at : at + 700] for at in range(0, len(paragraphs), 700)]
    async with on_screen(tmp_path, replies=[pieces], size=(120, 40)) as chat:
        await chat.asks("one")
        shown = chat.app.chat.conversation._views[-1].query_one(AnswerText)
        lines = shown.lines_at(shown.content_size.width)
        assert " ".join(line.plain for line in lines).split() == words


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("one\n\ntwo\n\nthree\n", "one\n\ntwo\n\n"),
        ("one\n\ntwo\n\nthree", "one\n\n"),  # the last line may go on to be anything
        ("one\n#", ""),  # "#tag" would be a further word of it
        ("one\n# ", ""),
        ("one\n\n- item\n", "one\n\n"),
        ("one\n\n```\n\ntwo\n\nthree\n", "one\n\n"),  # within a fence
        ("> two\n\n> three\n", "> two\n\n"),
        ("- two\n\n  goes on\n", ""),
        ("short", ""),
        ("", ""),
    ],
)
def test_a_block_is_settled_when_another_one_begins(text: str, settled: str) -> None:
    assert text[: settled_length(text)] == settled


def plain(text: str, width: int) -> list[str]:
    return [line.plain.rstrip() for line in lines_of(text, width)]


def test_a_line_of_a_paragraph_stays_a_line() -> None:
    nearest = "I am not sure. The nearest I have:\none: first [1]\ntwo: second [2]"
    assert [line.plain for line in lines_of(nearest, 60)] == nearest.split("\n")


def test_blocks_are_laid_out_as_lines() -> None:
    assert plain("# One\n\nand *two* `three`", 40) == ["One", "", "and two three"]
    assert plain("- one two three\n  - inner\n- four", 10) == ["• one two", "  three", "  ▪ inner", "• four"]
    assert plain("9. nine\n10. ten", 20) == [" 9. nine", "10. ten"]
    assert plain("> said\n>\n> more", 20) == ["▌ said", "▌", "▌ more"]
    assert plain("a  \nb\nc", 20) == ["a", "b", "c"]
    assert plain("```py\nx = 1\n\ny\n```", 20) == [" x = 1", "", " y"]
    assert plain("a\n\n---\n\n<b>c</b>", 5) == ["a", "", "─────", "", "<b>c<", "/b>"]


def test_formulas_stay_as_latex() -> None:
    assert plain(r"With \(a\,b\) and \[x_1\;\]: \*not slanted\* \(", 60) == [
        r"With \(a\,b\) and \[x_1\;\]: *not slanted* ("
    ]


def test_a_long_line_of_code_is_folded_and_nothing_of_it_hidden() -> None:
    assert (
        "".join(line.strip() for line in plain("```\n" + "abcdefghij" * 3 + "\n```", 12)) == "abcdefghij" * 3
    )


def test_a_table_fits_its_width_and_becomes_lines_where_there_is_hardly_any() -> None:
    table = "| name | what it is |\n|---|---:|\n| a | one two three |\n| bb | 4 |"
    assert plain(table, 40) == [
        "name     what it is",
        "────  ─────────────",
        "a     one two three",
        "bb                4",
    ]
    assert plain(table, 14) == [
        "name   what it",
        "            is",
        "────  ────────",
        "a      one two",
        "         three",
        "bb           4",
    ]
    assert plain(table, 8) == [
        "name: a",
        "what it",
        "is: one",
        "two",
        "three",
        "",
        "name: bb",
        "what it",
        "is: 4",
    ]


async def test_a_link_shows_its_address_first_and_what_the_mouse_selects_is_copied(tmp_path: Path) -> None:
    replies = [["See [here](https://example.org/a?b=1)."], ["One **two** three.\n\nFour five."]]
    async with on_screen(tmp_path, replies=replies) as chat:
        await chat.asks("one")
        shown = chat.app.chat.conversation._views[-1].query_one(AnswerText)
        place = shown.region.offset
        await chat.pilot.click(offset=(place.x + 2 + len("See h"), place.y))
        await chat.shows("https://example.org/a?b=1")
        await chat.presses("n")
        await chat.until(lambda: chat.screen is chat.app.chat)
        chat.app.chat.prompt.focus()  # which the click had left
        await chat.asks("two")
        shown = chat.app.chat.conversation._views[-1].query_one(AnswerText)
        x, y = shown.content_region.offset
        await chat.pilot.mouse_down(offset=(x + 4, y))
        await chat.pilot.hover(offset=(x + 3, y + 2))
        await chat.pilot.mouse_up(offset=(x + 3, y + 2))
        await chat.presses("ctrl+c")
        assert chat.app.clipboard == "two three.\n\nFour"


def test_painting_takes_a_third_of_the_time_at_most() -> None:
    pace = Pace()
    assert pace.wait_seconds == 0.1
    pace.painted(0.01)
    assert pace.wait_seconds == 0.1
    pace.painted(0.1)
    assert pace.wait_seconds == pytest.approx(0.2)
    pace.painted(10.0)
    assert pace.wait_seconds == 0.4  # it still goes on before anybody's eyes


def test_what_would_steer_a_terminal_is_taken_out() -> None:
    assert printable("a\x1b[31mb\x07\tc\r\nd\x9be\u202ef") == "a[31mb    c\ndef"


async def test_quoted_words_are_no_markdown() -> None:
    app = Written(Message("Assistant", "214. You said: “# *all* of_it”.\n\n- [1]", is_quoted=True))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert "   214. You said: “# *all* of_it”.\n\n   - [1]" in app.text


def test_blocks_of_code_are_found_without_their_fences() -> None:
    assert code_blocks("a\n```py\none\n\ntwo\n```\nb\n~~~\n```\n~~~\n") == ["one\n\ntwo", "```"]


def test_two_pastes_of_equal_length_have_marks_of_their_own() -> None:
    pastes = FoldedPastes()
    first, second = "a\n" * 20 + "a", "b\n" * 20 + "b"
    marks = [pastes.fold(first), pastes.fold(second), pastes.fold(first)]
    assert marks == ["[21 lines pasted]", "[21 lines pasted, 2]", "[21 lines pasted]"]
    assert pastes.unfold(f"{marks[0]} and {marks[1]}") == f"{first} and {second}"
    assert pastes.at("x [21 lines pasted] y", 1) is None
    assert pastes.at("x [21 lines pasted] y", 2) == (2, 19, first)
    assert pastes.at("x [21 lines pasted] y", 19) is None
