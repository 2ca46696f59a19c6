"""Every word can be read in each theme: what is written stands out from what it is written on.

The ratio is that of WCAG 2: (lighter + 0.05) / (darker + 0.05), of relative luminances.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_screens import GOLDENS, read_golden
from screen_fixtures import ChatOnScreen

LEAST = 4.5


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


_STYLE = re.compile(r"[0-9a-f]{8} (?P<words>#\w{6}) on (?P<ground>#\w{6})\S* .*?(?P<first>  .*)")
_BOX = "#1e1e1e"  # the ground of what stands before a veil
_VEILED = ("question", "palette", "earlier-prompts", "memory-edit")


def faint_styles(file: Path) -> Iterator[str]:
    """What is too like its ground. Behind a question all is veiled on purpose: there only the box counts."""
    is_veiled = any(part in file.stem for part in _VEILED)
    for line in read_golden(file)[1]:
        found = _STYLE.fullmatch(line)
        if found is None or not any(character.isalnum() for character in found["first"]):
            continue
        beside = is_veiled and len(found["first"].strip()) == 1  # a letter that is seen beside the box
        if beside or (is_veiled and found["ground"] != _BOX):
            continue
        if ratio(_rgb(found["words"]), _rgb(found["ground"])) < LEAST:
            yield f"{file.stem}: {line}"


def _rgb(told: str) -> tuple[int, int, int]:
    return (int(told[1:3], 16), int(told[3:5], 16), int(told[5:7], 16))


def test_every_word_of_every_golden_scene_can_be_read() -> None:
    """In the scene that is left out, frames behind the veil have the colour of the box."""
    files = [file for file in GOLDENS.glob("*.txt") if file.stem != "training-question"]
    assert [line for file in files for line in faint_styles(file)] == []
