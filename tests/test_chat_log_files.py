"""Exports that are made to be too much, or that are damaged: little is held, and what is wrong is told."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import tracemalloc
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.library.chat_logs import exports, formats, llm_database
from assistant.library.chat_logs.exports import read_chat_log
from assistant.library.chat_logs.formats import NO_WORDS
from assistant.library.chat_logs.values import LONGEST, moment
from stores.base.errors import UnreadableDocument


def log_database(file: Path, rows: int, *, response: str, conversation: str = "'v'") -> Path:
    """A database of llm, whose values are made by these expressions."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(
            "CREATE TABLE responses (id TEXT, model TEXT, prompt TEXT, datetime_utc TEXT, "
            f"conversation_id TEXT AS ({conversation}), response TEXT AS ({response}))"
        )
        connection.executemany(
            "INSERT INTO responses(id, model, prompt) VALUES (?, 'm', 'p')",
            [(f"{number:03}",) for number in range(rows)],
        )
        connection.commit()
    return file


# Databases


def test_a_database_that_makes_up_long_answers_is_held_in_little(tmp_path: Path) -> None:
    file = log_database(tmp_path / "logs.db", 60, response="hex(zeroblob(2000000))")  # 240 MB in all
    tracemalloc.start()
    [session] = read_chat_log(file)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 60_000_000
    assert len(session.turns) == 19  # of a million characters each, and of what is said of the cut
    assert all(len(turn.answer) < LONGEST + 100 for turn in session.turns)


def test_a_database_with_more_than_any_file_holds_is_left_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm_database, "_MOST_CHARACTERS", 2_000)
    file = log_database(tmp_path / "logs.db", 9, response="hex(zeroblob(250))", conversation="id")
    sessions = read_chat_log(file)
    assert [next(sessions).key for _ in range(3)] == ["000", "001", "002"]
    with pytest.raises(UnreadableDocument, match="characters are in it"):
        next(sessions)


def test_a_conversation_of_a_database_ends_at_the_most_turns_and_the_next_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "_MOST_TURNS", 2)
    file = log_database(
        tmp_path / "logs.db", 5, response="'r'", conversation="CASE WHEN id < '003' THEN 'a' ELSE 'b' END"
    )
    told = [(session.key, [turn.key for turn in session.turns]) for session in read_chat_log(file)]
    assert told == [("a", ["000", "001"]), ("b", ["003", "004"])]


def test_a_database_whose_name_is_no_text_is_read(tmp_path: Path) -> None:
    plain = log_database(tmp_path / "plain.db", 1, response="'r'")
    file = tmp_path / os.fsdecode(b"caf\xe9 100%?.db")
    plain.rename(file)
    [session] = read_chat_log(file)
    assert [turn.message for turn in session.turns] == ["p"]


# JSON


def test_what_is_taken_is_not_copied_away_with_each_object() -> None:
    text = exports._Text(Path("file"), io.BytesIO(b" {} , {} "))
    assert text.next_character() == "{"
    held = text._text
    text.take_object()
    assert text.next_character() == ","
    text.skip()
    assert text.next_character() == "{"
    text.take_object()
    assert text._text is held
    assert text.next_character() == ""


@pytest.mark.parametrize("limit", ["_MOST_HELD", "_MOST_ROWS"])
def test_rows_of_json_that_are_too_many_are_to_come_from_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    file = tmp_path / "llm.json"
    file.write_text(json.dumps([{"id": str(n), "prompt": "p", "response": "r"} for n in range(5)]))
    assert len(list(read_chat_log(file))) == 5
    monkeypatch.setattr(exports, limit, 4)
    with pytest.raises(UnreadableDocument, match=r"logs\.db"):
        list(read_chat_log(file))


def test_a_reply_in_many_parts_is_cut_once(tmp_path: Path) -> None:
    parts = [{"sender": "assistant", "text": "x" * 600_000} for _ in range(3)]
    file = tmp_path / "claude.json"
    file.write_text(json.dumps({"uuid": "k", "chat_messages": parts}))
    [session] = read_chat_log(file)
    [turn] = session.turns
    assert turn.message == NO_WORDS
    assert len(turn.answer.replace("x", "")) < 100
    assert turn.answer.endswith("it was longer)")


# Archives


def test_a_damaged_archive_is_told(tmp_path: Path) -> None:
    content = json.dumps([{"uuid": "k", "chat_messages": []}] * 50)
    packed = archive(zipfile.ZIP_LZMA, content)
    middle = len("conversations.json") + 30 + 20  # behind the header of the file in it
    named = archive(zipfile.ZIP_DEFLATED, content).replace("ü".encode(), b"\xff\xff")
    for number, damaged in enumerate((packed[:middle] + b"\xff" * 9 + packed[middle + 9 :], named)):
        file = tmp_path / f"{number}.zip"
        file.write_bytes(damaged)
        with pytest.raises(UnreadableDocument, match="cannot be unpacked"):
            list(read_chat_log(file))


def archive(method: int, content: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", method) as packed:
        packed.writestr("conversations.json", content)
        packed.writestr("ü", "")
    return written.getvalue()


# Moments


@pytest.mark.parametrize(
    "value",
    ["0001-01-01", "0001-01-01T00:00:00+14:00", "1969-12-31T23:59:59Z", "9999-01-01", -1, -6e10, 2.6e11],
)
def test_a_moment_that_some_time_zone_cannot_show_is_none(value: object) -> None:
    assert moment(value) is None


def test_a_moment_is_told_in_utc() -> None:
    assert moment("2026-03-04T05:06:07+02:00") == datetime(2026, 3, 4, 3, 6, 7, tzinfo=UTC)
    assert moment(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert moment("9998-12-31T00:00:00") == datetime(9998, 12, 31, tzinfo=UTC)
    assert moment(True) is None
