"""Search in collections that have learned: what was found is compared with the question under their adapters.

    found by the plain vectors and by words -> of each passage in an adapted collection, the cosine under its
      adapter, in place of the plain one -> mixed as before

So an index holds plain vectors alone, and no vector of another collection changes. A passage without a vector
under its collection's adapter, as one that was just read, is compared as in any other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stores.base.errors import VouchError
from stores.search.adapted_vectors import AdaptedVectors
from stores.vectors.exact import read_vectors

if TYPE_CHECKING:
    from agents.models.encoders.adapted_encoder import AdaptedEncoder, Adapter
    from stores.base.passages import Passage

FILE = "adapters.json"  # of a candidate's folder: by collection, the name of a file
_AT_ONCE = 64  # passages


@dataclass(frozen=True)
class Adapted:
    """The adapters that answer, by the keys of their collections; none of them is needed to search."""

    adapters: Mapping[str, Adapter]
    vectors: AdaptedVectors
    encoder: Callable[[], AdaptedEncoder]
    is_read: Callable[[str], bool] = lambda question: True  # whether the adapters know its language
    failed: Callable[[VouchError], None] = lambda error: None  # is told why it is searched without them

    @property
    def versions(self) -> dict[str, str]:
        """Of the adapters, by collection."""
        return {key: adapter.version for key, adapter in self.adapters.items()}

    def cosines(self, question: str, passages: Mapping[int, Passage]) -> dict[int, float]:
        """Of those that stand in an adapted collection, by version id."""
        asked = [i for i, passage in passages.items() if passage.kind == "document"]
        if not self.adapters or not asked or not self.is_read(question):
            return {}
        stored = self.vectors.of(asked, self.versions)
        if not stored:
            return {}
        try:
            asked_under = self.encoder().encode_query(question, [self.adapters[key] for key in stored])
        except VouchError as error:
            self.failed(error)
            return {}
        found: dict[int, float] = {}
        for vector, of_key in zip(asked_under, stored.values(), strict=True):
            cosines = read_vectors(list(of_key.values()), len(vector)) @ vector
            found.update(zip(of_key, cosines.tolist(), strict=True))
        return found

    def encode_missing(self, tell: Callable[[], None] = lambda: None, *, most: int | None = None) -> int:
        """Encodes what has no vector under its collection's adapter; returns how many.

        tell: is called after a few. most: so many, about.
        """
        done = 0
        for key, adapter in self.adapters.items():
            left = None if most is None else max(0, most - done)
            missing = self.vectors.missing(key, adapter.version, most=left)
            for start in range(0, len(missing), _AT_ONCE):
                some = missing[start : start + _AT_ONCE]
                vectors = self.encoder().encode_passages_under([text for _, text in some], adapter)
                self.vectors.store(key, adapter.version, [version_id for version_id, _ in some], vectors)
                done += len(some)
                tell()
        return done


def read_adapters(folder: Path, *, encoder_version: str) -> dict[str, Adapter]:
    """By collection, those of a candidate's folder. Raises `DamagedAdapter`."""
    from agents.models.encoders.adapted_encoder import Adapter, DamagedAdapter

    try:
        files = json.loads((folder / FILE).read_text(encoding="utf-8"))
        named = {str(key): folder / Path(str(file)).name for key, file in files.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise DamagedAdapter(f"{folder / FILE} cannot be read") from error
    return {key: Adapter.read(file, encoder_version=encoder_version) for key, file in named.items()}
