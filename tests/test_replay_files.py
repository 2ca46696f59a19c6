"""The folder of a replay and its lines: what is somebody's own stays, and a kill tears nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_replay_player import hash_of

from assistant.replay.storage.folder import check_folder, forget_replay, run_name
from assistant.replay.storage.line_file import LineFile, encoded
from stores.base.errors import StoreUnavailable, WrongUsage

PLAN = {"answers": "own", "format": 2, "methods": ["frozen", "luf:strict+hard"], "seeds": [1, 2]}


def write(folder: Path, name: str, content: str = "mine") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("report.json", "mine"),
        ("runs/luf-seed-1/steps.jsonl", "{}"),
        (".git", "mine"),
        ("lock", "mine"),  # to lock it would empty it
        ("plan.new", "my plan"),
        ("plan.json", '["format", "methods", "seeds"]'),
        ("plan.json", '{"format": 1, "methods": ["a"], "seeds": ["1/../../.."]}'),
        ("replies.jsonl", "mine"),
        ("lock/a", "mine"),
    ],
)
def test_a_folder_with_something_of_ones_own_is_refused(tmp_path: Path, name: str, content: str) -> None:
    write(tmp_path, name, content)
    before = hash_of(tmp_path)
    with pytest.raises(WrongUsage, match="holds other things than a replay, such as ") as raised:
        check_folder(tmp_path)
    assert name.split("/")[0] in raised.value.message
    forget_replay(tmp_path)
    assert hash_of(tmp_path) == before


def test_a_folder_that_is_empty_holds_a_replay_or_the_beginning_of_one_is_taken(tmp_path: Path) -> None:
    check_folder(tmp_path)
    check_folder(tmp_path / "none")
    (tmp_path / "model" / "state").mkdir(parents=True)
    write(tmp_path, "lock", "")
    for written in ("", '{"ans', json.dumps(PLAN)):
        write(tmp_path, "plan.new", written)
        check_folder(tmp_path)
    write(tmp_path, "report.json")
    write(tmp_path, "plan.json", json.dumps(PLAN))
    check_folder(tmp_path)


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_folder: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", denied)
    with pytest.raises(StoreUnavailable, match="cannot be read: Permission denied"):
        check_folder(tmp_path)


def test_a_replay_is_forgotten_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, "plan.json", json.dumps(PLAN))
    own = ("runs/a.txt", "runs/my-seed-1/steps.jsonl", "runs/luf-seed-1/store/a", "store/a", "notes.txt")
    within = f"runs/{run_name('luf:strict+hard', 2)}"
    for name in (*own, f"{within}/notes.txt"):
        write(tmp_path, name)
    kept = ("plan.json", "lock")
    write(tmp_path, "lock")
    for name in ("steps.jsonl", "store/vouch.db", "store.making/vouch.db", "trained/a"):
        write(tmp_path, f"{within}/{name}")
        write(tmp_path, f"runs/frozen-seed-1/{name}")
    write(tmp_path, "report.json")
    forget_replay(tmp_path)
    left = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert left == {*own, *kept, f"{within}/notes.txt"}
    assert not (tmp_path / "runs" / "frozen-seed-1").exists()


def test_what_cannot_be_deleted_ends_it(tmp_path: Path) -> None:
    """Else the figures of then would be taken for those of the replay that begins."""
    write(tmp_path, "plan.json", json.dumps(PLAN))
    (tmp_path / "runs" / "frozen-seed-1" / "steps.jsonl").mkdir(parents=True)
    with pytest.raises(OSError, match=r"steps\.jsonl"):
        forget_replay(tmp_path)


# Its lines


@pytest.mark.parametrize("torn", [b'{"torn": ', b'{"b": 2}', b"\xff\xfe\n", b"[" * 9_000 + b"\n"])
def test_a_torn_line_is_not_there_and_the_next_one_is_whole(tmp_path: Path, torn: bytes) -> None:
    file = LineFile(tmp_path / "f")
    file.append({"b": 1, "a": "ä"})
    with (tmp_path / "f").open("ab") as opened:
        opened.write(torn)
    again = LineFile(tmp_path / "f")
    assert again.lines == [{"b": 1, "a": "ä"}]
    again.append([2])
    assert (tmp_path / "f").read_bytes() == b'{"a": "\xc3\xa4", "b": 1}\n[2]\n'


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="cannot be read: Is a directory"):
        LineFile(tmp_path)


def test_the_same_content_is_the_same_bytes() -> None:
    rows: Sequence[Any] = [{"x": 1, "y": [1.5, None]}, {"y": [1.5, None], "x": 1}]
    assert encoded(rows[0]) == encoded(rows[1]) == json.dumps(rows[0]).encode() + b"\n"
