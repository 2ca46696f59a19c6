"""What was written piece by piece reads as the whole does; and where a long answer is divided."""

from __future__ import annotations

from pathlib import Path

import pytest
from screen_fixtures import on_screen
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown

from assistant.terminal.screens import message_view
from assistant.terminal.screens.copying import code_blocks
from assistant.terminal.screens.folded_paste import FoldedPastes
from assistant.terminal.screens.message_view import MessageView
from assistant.terminal.screens.messages import Message
from assistant.terminal.screens.printable import as_markdown, printable
from assistant.terminal.screens.streaming import cut_behind_blocks

FIXTURES = {
    "headings": "# One\n\ntext\n\n## Two\n\nmore *text* and `code`",
    "lists": "- one\n  - inner\n- two\n\n1. first\n2. second\n\n   still second",
    "loose list": "- one\n\n- two\n\n- three\n\nAnd text.",
    "fences": "Before\n\n```python\ndef f():\n\n    return 1\n```\n\nafter\n\n~~~\n```\n~~~",
    "open fence": "Before\n\n```\nnever closed\n\nstill code",
    "table": "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nbelow",
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
    app = Written(Message("Assistant", ""))
    async with app.run_test(size=(60, 60)) as pilot:
        view = app.query_one(MessageView)
        for piece in pieces:
            await view.write(piece)
            await pilot.pause()
        await view.end()
        await pilot.pause()
        assert view.message.text == "".join(pieces)
        return app.text


async def whole(text: str) -> str:
    app = Written(Message("Assistant", text))
    async with app.run_test(size=(60, 60)) as pilot:
        await pilot.pause()
        return app.text


@pytest.mark.parametrize("name", FIXTURES)
async def test_streamed_text_equals_rendered_text(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_view, "_PART_CHARACTERS", 20)  # divided wherever it can be
    text = FIXTURES[name]
    assert await written(text.split(" ")[:1] + [f" {word}" for word in text.split(" ")[1:]]) == await whole(
        text
    )


async def test_an_answer_cut_at_each_character_equals_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_view, "_PART_CHARACTERS", 20)
    text = "# One\n\n- a\n- b\n\n```\nx\n```\n\nThe **end** [1]."
    assert await written(list(text)) == await whole(text)


async def test_no_word_is_lost_where_a_long_answer_is_divided(tmp_path: Path) -> None:
    words = [f"word{n}" for n in range(1_500)]
    paragraphs = "\n\n".join(" ".join(words[at : at + 50]) for at in range(0, len(words), 50))
    pieces = [paragraphs[at : at + 700] for at in range(0, len(paragraphs), 700)]
    async with on_screen(tmp_path, replies=[pieces], size=(120, 40)) as chat:
        await chat.asks("one")
        parts = [part.source for part in chat.app.chat.conversation._views[-1].query(Markdown)]
        assert len(parts) > 1
        assert "".join(parts) == paragraphs


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("one\n\ntwo\n\nthree\n", 10),  # behind the blank line: "one\n\ntwo\n\n"
        ("one\n\ntwo\n\nthree", None),  # the last line may go on to be anything
        ("one\n\ntwo\n\n- item\n", None),
        ("one\n\ntwo\n\n2. item\n", None),
        ("one\n\n```\n\ntwo\n\nthree\n", None),  # within a fence
        ("one\n\n> two\n\n> three\n", None),
        ("one\n\n- two\n\n  goes on\n", None),
        ("short\n\nthis\n", None),
    ],
)
def test_an_answer_is_divided_only_between_blocks(text: str, cut: int | None) -> None:
    assert cut_behind_blocks(text, 8) == cut


def test_what_would_steer_a_terminal_is_taken_out() -> None:
    assert printable("a\x1b[31mb\x07\tc\r\nd\x9be\u202ef") == "a[31mb    c\ndef"


def test_an_invented_number_is_struck_out() -> None:
    assert as_markdown("so [1], not [9?].") == "so [1], not ~~[9]~~."


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
