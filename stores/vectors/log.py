"""What changed in an index since it was built: a log that one process writes and any process reads.

    log    = record*
    record = sort, number of ids, dimension, checksum of the content, checksum of these four
             ids (64 bits each), and for an upsert the vectors (32-bit floats, row by row)

One call is one record, synced before the call returns: a reader sees a change whole or not at all. A
record that a kill cut short is the last, ends the reading, and is overwritten by the next.
"""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from stores.base.errors import DamagedIndex, StoreUnavailable
from stores.vectors.exact import Vectors

_HEADER = struct.Struct("<4sIIII")  # sort, ids, dimension, content's checksum, this header's checksum
_UPSERT, _REMOVE = b"VUP1", b"VRM1"

Ids = npt.NDArray[np.int64]  # (N,)


@dataclass(frozen=True)
class VectorChange:
    """Versions that became findable by these vectors, or unfindable."""

    version_ids: Ids
    vectors: Vectors | None  # (N, D); None: they were removed


class VectorLog:
    """The changes in one file, each read once."""

    def __init__(self, file: Path, dimension: int, *, writes: bool) -> None:
        """Opens what `create_log` made. Raises `OSError`."""
        self._file, self._dimension = file, dimension
        self._read_up_to = 0
        self._whole_up_to = 0  # where the next record goes
        self._descriptor = os.open(file, os.O_RDWR if writes else os.O_RDONLY)

    def unread(self) -> list[VectorChange]:
        """The changes since the last reading, in order. Raises `StoreUnavailable` when the log is damaged."""
        found: list[VectorChange] = []
        size = os.fstat(self._descriptor).st_size
        while (record := self._record_at(self._read_up_to, size)) is not None:
            change, self._read_up_to = record
            found.append(change)
        self._whole_up_to = max(self._whole_up_to, self._read_up_to)
        return found

    def append(self, change: VectorChange) -> None:
        """Makes a change durable. To be called by the one writer, who has read all there is.

        Raises `StoreUnavailable` when it cannot be written; nothing of it is then kept.
        """
        record = _encode(change, self._dimension)
        try:
            os.ftruncate(self._descriptor, self._whole_up_to)  # what a kill left unfinished
            _write_all(self._descriptor, record, self._whole_up_to)
            os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, self._whole_up_to)
            raise StoreUnavailable(
                f"{self._file}: cannot be written ({error})", hint="Free some disk space and try again."
            ) from error
        self._whole_up_to += len(record)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _record_at(self, start: int, size: int) -> tuple[VectorChange, int] | None:
        """The record that starts here and where it ends; None when there is no whole one."""
        begun = start + _HEADER.size
        if size < begun:
            return None
        header = os.pread(self._descriptor, _HEADER.size, start)
        if not any(header):  # a file that grew before its content came
            return None
        sort, count, dimension, checksum, header_checksum = _HEADER.unpack(header)
        if (
            header_checksum != zlib.crc32(header[:-4])
            or sort not in (_UPSERT, _REMOVE)
            or dimension != self._dimension
        ):
            raise damaged(self._file, f"no record at byte {start}")
        width = 8 + (4 * dimension if sort == _UPSERT else 0)
        end = begun + count * width
        if end > size:
            return None
        content = _read_all(self._descriptor, begun, end)
        if len(content) < end - begun:  # cut back while it was read
            return None
        if zlib.crc32(content) != checksum:
            if end == size:
                return None
            raise damaged(self._file, f"the record at byte {start} is not what was written")
        ids = np.frombuffer(content, dtype="<i8", count=count).astype(np.int64)
        vectors = None
        if sort == _UPSERT:
            vectors = np.frombuffer(content, dtype="<f4", offset=8 * count).reshape(count, dimension)
        return VectorChange(ids, vectors), end


def create_log(file: Path) -> None:
    """An empty log, durable but for its name in the folder."""
    with file.open("xb") as opened:
        os.fsync(opened.fileno())


def damaged(place: Path, reason: str) -> DamagedIndex:
    """The error for a file of an index that is not as it was written."""
    return DamagedIndex(
        f"{place}: the index is damaged ({reason})",
        hint="The index is derived: `vouch doctor` fills it again.",
    )


def _encode(change: VectorChange, dimension: int) -> bytes:
    content = np.ascontiguousarray(change.version_ids, dtype="<i8").tobytes()
    if change.vectors is not None:
        content += np.ascontiguousarray(change.vectors, dtype="<f4").tobytes()
    sort = _REMOVE if change.vectors is None else _UPSERT
    facts = struct.pack("<4sIII", sort, len(change.version_ids), dimension, zlib.crc32(content))
    return facts + struct.pack("<I", zlib.crc32(facts)) + content


def _write_all(descriptor: int, content: bytes, start: int) -> None:
    left = memoryview(content)
    while left:
        written = os.pwrite(descriptor, left, start)
        left, start = left[written:], start + written


def _read_all(descriptor: int, start: int, end: int) -> bytes:
    parts = []
    while start < end and (part := os.pread(descriptor, end - start, start)):
        parts.append(part)
        start += len(part)
    return b"".join(parts)
