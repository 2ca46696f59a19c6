"""Vectors kept between benchmark runs, so that a text is encoded once.

    python -m benchmarks.cached_encoder FOLDER PASSAGES.jsonl.gz... [--questions QUESTIONS.jsonl.gz...]

Encodes what is not in the folder yet: the passages as `vouch ingest` cuts them, and questions. Killed at any
point, it keeps what it had, and the same command goes on from there.

    FOLDER/<encoder version>/keys     SHA-256 of role and text, 32 bytes each
    FOLDER/<encoder version>/vectors  little-endian float32 in the same order
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from filelock import FileLock

from agents.base.interfaces import Encoder, Vectors
from agents.models.encoders.encoder import OnnxEncoder
from agents.models.encoders.prepared import prepare_encoder
from assistant.library.documents import PreparedDocument, read_documents
from stores.base.passages import searchable_text

_KEY_BYTES = 32
_AT_ONCE = 256


class CachedEncoder:
    """An encoder that looks up what it has encoded before; several processes may share a folder."""

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        self._encoder = encoder
        self._folder = folder / encoder.version
        self._folder.mkdir(parents=True, exist_ok=True)
        self._keys, self._vectors = self._folder / "keys", self._folder / "vectors"
        self._lock = FileLock(self._folder / "lock")
        self._places: dict[bytes, int] = {}  # of each key's vector
        self._read = 0  # how many keys of the file these are; one may stand there twice
        self._refresh()

    @property
    def version(self) -> str:
        """That of the encoder behind it."""
        return self._encoder.version

    @property
    def dimension(self) -> int:
        """D, the length of a vector."""
        return self._encoder.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: what is asked."""
        return self._encode("query", texts, self._encoder.encode_queries)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: what is searched."""
        return self._encode("passage", texts, self._encoder.encode_passages)

    def _encode(self, role: str, texts: Sequence[str], encode: Callable[[Sequence[str]], Vectors]) -> Vectors:
        keys = [hashlib.sha256(f"{role}\0{text}".encode("utf-8", "replace")).digest() for text in texts]
        if any(key not in self._places for key in keys):
            self._refresh()  # another process may have encoded them
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._places}
        if unknown:
            self._append(list(unknown), encode(list(unknown.values())))
        result = np.empty((len(keys), self.dimension), dtype=np.float32)
        if keys:
            stored = np.memmap(self._vectors, dtype="<f4", mode="r").reshape(-1, self.dimension)
            result[:] = stored[[self._places[key] for key in keys]]
        return result

    def _whole(self) -> int:
        """How many vectors are there with their keys; a killed writer may leave more of one."""
        sizes = [path.stat().st_size if path.exists() else 0 for path in (self._keys, self._vectors)]
        return min(sizes[0] // _KEY_BYTES, sizes[1] // (4 * self.dimension))

    def _refresh(self) -> None:
        with self._lock:
            whole = self._whole()
            if whole > self._read:
                with self._keys.open("rb") as file:
                    file.seek(self._read * _KEY_BYTES)
                    for place in range(self._read, whole):
                        self._places[file.read(_KEY_BYTES)] = place
                self._read = whole

    def _append(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        with self._lock:
            whole = self._whole()
            for path, size, content in (
                (self._vectors, 4 * self.dimension, vectors.astype("<f4").tobytes()),
                (self._keys, _KEY_BYTES, b"".join(keys)),
            ):
                with path.open("ab") as file:
                    file.truncate(whole * size)
                    file.write(content)
        self._refresh()


def _passage_texts(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        for document in read_documents(path):
            if not isinstance(document, PreparedDocument):
                raise document
            yield from (searchable_text(passage.title, passage.text) for passage in document.passages)


def _question_texts(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from (json.loads(line)["question"] for line in lines)


def _fill(texts: Iterator[str], encode: Callable[[Sequence[str]], Vectors], what: str) -> None:
    began, done = time.monotonic(), 0
    while batch := list(islice(texts, _AT_ONCE)):
        encode(batch)
        done += len(batch)
        print(f"{done} {what}, {done / (time.monotonic() - began):.0f}/s", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("passages", type=Path, nargs="*")
    parser.add_argument("--questions", type=Path, nargs="*", default=[])
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()

    exported = prepare_encoder(
        None,
        Path.home() / ".cache" / "vouch" / "encoders",
        tell=lambda s: print(s, file=sys.stderr),
        offline=True,
    )
    encoder = CachedEncoder(OnnxEncoder(exported, threads=arguments.threads), arguments.folder)
    _fill(_passage_texts(arguments.passages), encoder.encode_passages, "passages")
    _fill(_question_texts(arguments.questions), encoder.encode_queries, "questions")


if __name__ == "__main__":
    main()
