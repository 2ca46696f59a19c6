"""Lines break between words, at a terminal and there alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_helpers import Vouch

from assistant.terminal.text.word_wrap import WordWrap


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
    wrap.say("\n")
    assert "".join(written) == f"{expected}\n"


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["a remem", "bered word"], "a \nremembered\nword"),  # it may be longer than what has come of it
        (["a re", "mem", "bered"], "a \nremembered"),
        (["1234567890", "1234567890", " a"], "1234567890\n1234567890\na"),  # longer than a row: at once
        (["123456789012345 a bcd"], "123456789012345 a \nbcd"),  # the terminal goes on in a row of its own
    ],
)
def test_a_word_that_comes_in_pieces_is_not_broken(
    monkeypatch: pytest.MonkeyPatch, pieces: list[str], expected: str
) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    written: list[str] = []
    wrap = WordWrap(written.append)
    for piece in pieces:
        wrap.say(piece)
    wrap.say("\n")
    assert "".join(written) == f"{expected}\n"


def test_a_piece_is_printed_at_once_where_its_word_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    written: list[str] = []
    WordWrap(written.append).say("It opens at te")
    assert "".join(written) == "It opens at te"


@pytest.mark.slow
def test_what_plain_mode_opens_with_breaks_between_words_at_a_terminal(
    tmp_path: Path, minilm_folder: Path
) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    vouch.environment["COLUMNS"] = "30"
    with vouch.terminal("chat", "--plain") as person:
        person.sees("Ctrl+D")
        person.sees("You: ")
        person.types("\x04")
        assert person.exit_code() == 0
    rows = [row.rstrip() for row in person.screen.replace("\r", "").split("\n")]
    assert rows[0] == "Plain mode, because of"
    assert all(len(row) <= 30 for row in rows if "\x1b" not in row), rows


@pytest.mark.slow
def test_an_answer_to_a_question_of_one_command_breaks_between_words_at_a_terminal(
    tmp_path: Path, minilm_folder: Path
) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    vouch.environment["COLUMNS"] = "30"
    with vouch.terminal("ask", "My locker number is 214.") as person:
        person.sees("takes it back.")
        assert person.exit_code() == 0
    rows = [row.rstrip() for row in person.screen.replace("\r", "").split("\n")]
    assert rows[:2] == ["Noted: My locker number is", "214."]
    assert all(len(row) <= 30 for row in rows), rows
