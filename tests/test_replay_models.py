"""The files of a replay that survive a kill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assistant.replay.storage.line_file import LineFile, encoded
from stores.base.errors import WrongUsage


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
