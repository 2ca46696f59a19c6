"""What is typed behind a command that names a turn."""

from __future__ import annotations

import pytest

from assistant.terminal.input.typed_ids import turn_and_text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("", (None, "")),
        ("7", (7, "")),
        ("7 my cat  is called Zed", (7, "my cat  is called Zed")),
        ("my 7 cats", (None, "my 7 cats")),
        ("7th of May", (None, "7th of May")),
        ("99999999999 bottles", (None, "99999999999 bottles")),  # more than a turn's number can be
    ],
)
def test_a_number_in_front_names_the_turn(typed: str, meant: tuple[int | None, str]) -> None:
    assert turn_and_text(typed) == meant
