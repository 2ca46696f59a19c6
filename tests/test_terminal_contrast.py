"""Every word can be read in each theme: what is written stands out from what it is written on.

The ratio is that of WCAG 2: (lighter + 0.05) / (darker + 0.05), of relative luminances.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from screen_fixtures import QUESTION, ChatOnScreen, on_screen

LEAST = 4.5
ANSWER = (
    "# Heading\n\nIt **opens** at *10:00* [1], not [9?], says `July` and [a page](https://example.org).\n\n"
    "> quoted\n\n```python\ndef opens(day):  # a comment\n    return f'at {10}'\n```\n\n"
    "| day | hour |\n|---|---|\n| Saturday | 10 |"
)


def luminance(red: int, green: int, blue: int) -> float:
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (red / 255, green / 255, blue / 255)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    darker, lighter = sorted((luminance(*one), luminance(*other)))
    return (lighter + 0.05) / (darker + 0.05)


def faint_words(chat: ChatOnScreen) -> Iterator[str]:
    """Words on the screen that are too like what they stand on; lines and bars are no words."""
    for strip in chat.screen._compositor.render_strips():
        for segment in strip:
            style = segment.style
            if style is None or not any(character.isalnum() for character in segment.text):
                continue
            if style.color is None or style.bgcolor is None or style.color.triplet is None:
                continue
            assert style.bgcolor.triplet is not None
            found = ratio(style.color.triplet, style.bgcolor.triplet)
            if found < LEAST:
                yield f"{segment.text.strip()!r} {found:.1f}"


def test_the_ratio_of_black_and_white_is_21_and_of_the_same_1() -> None:
    assert ratio((0, 0, 0), (255, 255, 255)) == pytest.approx(21.0)
    assert ratio((9, 9, 9), (9, 9, 9)) == pytest.approx(1.0)


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
async def test_every_word_of_the_chat_can_be_read(tmp_path: Path, theme: str) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]], theme=theme, size=(120, 40)) as chat:
        await chat.asks(QUESTION)
        await chat.shows("Saturday")
        assert set(faint_words(chat)) == set()
        await chat.types("typed")
        await chat.presses("f2")
        await chat.shows("used from")
        assert set(faint_words(chat)) == set()
        await chat.presses("escape", "escape")
        await chat.presses("f1")
        await chat.shows("In the prompt")
        assert set(faint_words(chat)) == set()
