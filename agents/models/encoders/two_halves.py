"""An encoder of two halves, whose cosine is the weighted mean of both cosines.

    text -> (√(1-w) · first half, √w · second half), unit length

So every store, index and search works as with one model. A query chooses anew what share each half has of its
products: English ones meet the first half alone. The first half is what is trained; the second stays
as it is. The packaged first half knows English, the packaged second sixteen languages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from agents.base.interfaces import Encoder, Vectors
from agents.languages.signs import Languages
from agents.models.encoders.two_sided import TwoSidedEncoder

OTHER_SHARE = 0.6  # of queries in other languages; chosen on the dev part of data/languages
ENGLISH_SHARE = 0.0  # of English ones; with more of it the fused search finds less (docs/experiments.md)
_LEAST = 1e-12  # of a length that is divided by
_CONTENT = "-[0-9a-f]{12}"  # ends the version of each half
_VERSION = re.compile(rf"(?P<first>.+{_CONTENT})\.(?P<second>.+{_CONTENT})\.(?P<percent>\d\d)")


class TwoHalves:
    """Two encoders as one."""

    def __init__(
        self, first: Encoder, second: Encoder, share: float, languages: Languages | None = None
    ) -> None:
        """share: w, the second half's share of a cosine, above 0 and below 1; in hundredths.

        languages: tells which queries are English: these are asked of the first half alone, all others with
        `OTHER_SHARE` of the second. Without languages every query is asked as passages are made.
        """
        self.first, self.second = first, second
        self.languages = languages
        self._percent = round(100 * share)
        if not 0 < self._percent < 100:
            raise ValueError(f"a half's share must be between 0.01 and 0.99, not {share}")

    @property
    def version(self) -> str:
        """Both versions and the share."""
        return f"{self.first.version}.{self.second.version}.{self._percent:02d}"

    @property
    def dimension(self) -> int:
        return self.first.dimension + self.second.dimension

    def with_first(self, first: Encoder) -> TwoHalves:
        """The same with another first half, as one that was trained."""
        return TwoHalves(first, self.second, self._percent / 100, self.languages)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(N, D): what is asked. The product with a passage is a weighted mean of both cosines."""
        return self.beside(self.first.encode_queries(texts), texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: what is searched."""
        shares = [self._share] * len(texts)
        return self._joined(self.first.encode_passages(texts), self.second.encode_passages(texts), shares)

    def beside(self, first: Vectors, queries: Sequence[str]) -> Vectors:
        """(N, D): the vectors of a first half with what the second makes of the same queries."""
        shares = [self._share] * len(queries)
        if self.languages is not None:
            shares = [ENGLISH_SHARE if self.languages.is_english(query) else OTHER_SHARE for query in queries]
        return self._joined(first, self.second.encode_queries(queries), shares)

    @property
    def _share(self) -> float:
        return self._percent / 100

    def _joined(self, first: Vectors, second: Vectors, shares: Sequence[float]) -> Vectors:
        """shares: of each text, the second half's share s of its products with passages.

        A passage holds (√(1-w) · a, √w · b). A query of ((1-s) / √(1-w) · c, s / √w · d) meets it with
        (1-s) a·c + s b·d; at s = w it is made as the passage is, and of unit length.
        """
        share = np.float32(self._share)
        of_each = np.array(shares, dtype=np.float32)[:, None]
        return np.concatenate(
            [(1 - of_each) / np.sqrt(1 - share) * first, of_each / np.sqrt(share) * second], axis=1
        )


def first_half(encoder: Encoder) -> Encoder:
    """What can be trained of an encoder: its first half, or the whole of one that has none."""
    if isinstance(encoder, TwoSidedEncoder):
        return TwoSidedEncoder(first_half(encoder.passages), first_half(encoder.queries))
    return encoder.first if isinstance(encoder, TwoHalves) else encoder


def with_first_half(encoder: Encoder, first: Encoder) -> Encoder:
    """The encoder with another first half; that one alone where it has no halves."""
    return encoder.with_first(first) if isinstance(encoder, TwoHalves) else first


def halves_of(version: str) -> tuple[str, str, float] | None:
    """First and second version and the share that a version names; None for an encoder without halves."""
    found = _VERSION.fullmatch(version)
    return (found["first"], found["second"], int(found["percent"]) / 100) if found else None


def first_version(version: str) -> str:
    """The version of the half that can be trained."""
    halves = halves_of(version)
    return halves[0] if halves else version


def with_first_version(version: str, first: str) -> str:
    """A version with another first half."""
    halves = halves_of(version)
    return first + version.removeprefix(halves[0]) if halves else first


def first_halves(stored: Mapping[int, bytes], dimension: int) -> dict[int, bytes]:
    """The first half of stored vectors, of unit length again; as they are where that is all of them.

    stored: vectors as the database keeps them, 32 bits a component. dimension: of the first half.
    """
    return {key: _first(vector, dimension) for key, vector in stored.items()}


def _first(stored: bytes, dimension: int) -> bytes:
    vector = np.frombuffer(stored, dtype="<f4")
    if len(vector) == dimension:
        return stored
    first = vector[:dimension]
    return (first / max(float(np.linalg.norm(first)), _LEAST)).astype("<f4").tobytes()
