"""The files of vectors that never change: what describes them, and whether they are as they were written."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stores.vectors.exact import Vectors
from stores.vectors.log import damaged

FORMAT = 1

DESCRIPTION, ENTRIES = "description.json", "entries"

FLAT, INVERTED, ROUNDED = "vectors.f32", "index.faiss", "vectors.f16"

ENTRY_TYPE = np.dtype([("id", "<i8"), ("checksum", "<u4")])


def checksums(vectors: Vectors) -> npt.NDArray[np.int64]:
    """(N,): by which a vector is known again."""
    plain = np.ascontiguousarray(vectors, dtype="<f4")
    return np.fromiter((zlib.crc32(row) for row in plain), dtype=np.int64, count=len(plain))


def read_description(folder: Path) -> dict[str, Any]:
    """What the folder says of itself. Raises `StoreUnavailable` where it was not written like this."""
    try:
        facts = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        checksum = facts.pop("checksum")
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(folder / DESCRIPTION, "it is not there, or not whole") from error
    if checksum != facts_checksum(facts):
        raise damaged(folder / DESCRIPTION, "it is not what was written")
    return dict(facts)


def facts_checksum(facts: dict[str, Any]) -> int:
    """Differs when the facts of a description do."""
    return zlib.crc32(json.dumps(facts, sort_keys=True).encode())


def check_size(folder: Path, name: str, description: dict[str, Any]) -> int:
    """The size of a file, which is that of its description. Raises `StoreUnavailable` otherwise."""
    expected: int = description["files"][name]["bytes"]
    try:
        found = (folder / name).stat().st_size
    except FileNotFoundError as error:
        raise damaged(folder / name, "it is not there") from error
    if found != expected:
        raise damaged(folder / name, f"{found:,} bytes instead of {expected:,}")
    return expected


def read_checked(folder: Path, name: str, description: dict[str, Any]) -> bytes:
    """The content of a file, as it was written. Raises `StoreUnavailable` otherwise."""
    check_size(folder, name, description)
    content = (folder / name).read_bytes()
    if zlib.crc32(content) != description["files"][name]["checksum"]:
        raise damaged(folder / name, "it is not what was written")
    return content


def read_mapped(
    folder: Path, name: str, description: dict[str, Any], number: str, shape: tuple[int, int]
) -> Any:
    """A file of numbers in this shape, read when they are asked for. Raises `StoreUnavailable`."""
    size = check_size(folder, name, description)
    if size != shape[0] * shape[1] * np.dtype(number).itemsize:
        raise damaged(folder / name, f"{size:,} bytes do not hold {shape[0]:,} vectors")
    if not size:
        return np.empty(shape, dtype=number)  # nothing to map
    return np.memmap(folder / name, dtype=number, mode="r", shape=shape)
