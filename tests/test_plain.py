"""Lines break between words."""

from __future__ import annotations

import pytest

from assistant.terminal.word_wrap import WordWrap


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["one two three"], "one two\nthree"),
        (["one ", "two ", "three"], "one two\nthree"),
        (["12345678 x"], "12345678\nx"),  # the space would stand in the last column
        (["1234567 x"], "1234567\nx"),
        (["a\nb"], "a\nb"),
        (["123456789012"], "123456789012"),  # no place to break
        (["日本 日本"], "日本 \n日本"),  # each is two columns wide: 4 + 1 + 4
        (["日本 日"], "日本 日"),  # 4 + 1 + 2
        (["e\u0301e\u0301e\u0301e\u0301 abc"], "e\u0301e\u0301e\u0301e\u0301 abc"),  # a mark has no column
    ],
)
def test_lines_break_between_words(monkeypatch: pytest.MonkeyPatch, pieces: list[str], expected: str) -> None:
    monkeypatch.setenv("COLUMNS", "8")
    written: list[str] = []
    wrap = WordWrap(written.append)
    for piece in pieces:
        wrap.say(piece)
    assert "".join(written) == expected
