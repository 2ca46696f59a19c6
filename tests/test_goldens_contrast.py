"""Every word of the golden scenes stands out from what it is written on, in each look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_screens import GOLDENS, LOOKS, SIZES, read_golden
from test_terminal_contrast import LEAST, ratio

_STYLE = re.compile(r"[0-9a-f]{8} (?P<words>#\w{6}) on (?P<ground>#\w{6})\S* .*?(?P<first>  .*)")
_BOXES = {"dark": "#1e1e1e", "light": "#d8d8d8", "no-colour": "#1e1e1e"}  # of what stands before a veil
_VEILED = ("question", "palette", "earlier-prompts", "memory-edit")
_READABLE = [  # of the one left out, frames behind the veil have the colour of the box
    file for file in sorted(GOLDENS.glob("*.txt")) if file.stem != "training-question"
]


def faint_styles(file: Path, look: str) -> Iterator[str]:
    """What is too like its ground. Behind a question all is veiled on purpose: there only the box counts."""
    sections = read_golden(file)
    is_veiled = any(part in file.stem for part in _VEILED)
    for width, height in SIZES:
        for line in sections[f"{width}x{height} {look}"]:
            found = _STYLE.fullmatch(line)
            if found is None or not any(character.isalnum() for character in found["first"]):
                continue
            beside = is_veiled and len(found["first"].strip()) == 1  # a letter that is seen beside the box
            if beside or (is_veiled and found["ground"] != _BOXES[look]):
                continue
            if ratio(_rgb(found["words"]), _rgb(found["ground"])) < LEAST:
                yield f"{width}x{height}: {line}"


def _rgb(told: str) -> tuple[int, int, int]:
    return (int(told[1:3], 16), int(told[3:5], 16), int(told[5:7], 16))


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("file", _READABLE, ids=lambda file: file.stem)
def test_every_word_of_a_golden_scene_can_be_read(file: Path, look: str) -> None:
    assert list(faint_styles(file, look)) == []
