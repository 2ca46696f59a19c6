"""A candidate that encodes passages too: what is searched is encoded anew, beside what answers meanwhile.

    encode every passage with the candidate -> fill its index -> compare -> swap the pointer, or take all away

The vectors of a candidate have its own encoder version, so no search meets them before the swap; the version
before keeps its vectors for one step back. Killed at any point, what was encoded is kept and gone on with.
LUF does not say which side it trains; this is `update_side` both.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assistant.search.searching import Searching
from stores.learning.rounds import GoLive
from stores.search.encoder_versions import (
    ENCODER_ROLE,
    TRAINED,
    EncoderVersion,
    EncoderVersions,
    make_encoder_live,
)

RECIPE = ENCODER_ROLE  # under which its folder is kept
_FIRST_STEP = 16  # passages
_STEP_SECONDS = 0.3  # between two looks whether to wait or stop

Tell = Callable[..., None]


class BothSides:
    """Takes a candidate into use, or away."""

    def __init__(
        self,
        versions: EncoderVersions,
        *,
        searching: Callable[[Path], Searching],
        trained_from: str,
        discard_index: Callable[[str], object],
    ) -> None:
        """searching: by the candidate in this folder. trained_from: the version that the settings name.

        discard_index: deletes the index of an encoder version.
        """
        self._versions = versions
        self._searching = searching
        self._trained_from = trained_from
        self._discard_index = discard_index

    def version(self, folder: Path) -> str:
        return self._searching(folder).encoder.version

    def encode(self, folder: Path, tell: Tell) -> dict[str, Any]:
        """Encodes whatever is live and has no vector by the candidate, and fills its index if it has one.

        Returns what that took. tell: how many are done, of how many.
        """
        searching = self._searching(folder)
        version, began, done = searching.encoder.version, time.monotonic(), 0
        missing = self._versions.missing(version)
        newest_job = self._versions.newest_job()
        for step in searching.indexer.encode_everything(at_once=_FIRST_STEP, seconds=_STEP_SECONDS):
            done += step
            tell("encoding", passages=done, passages_in_all=max(missing, done))
        with searching.spaces.database.reading() as sql:
            index = searching.shared_index
            needs_index = index.is_wanted(sql) and not index.is_filled(sql)
        if needs_index:
            indexed = 0
            for step in index.fill(known_job=newest_job):
                indexed += step
                tell("indexing", passages=indexed)
        size = done * searching.encoder.dimension * 4
        return {"encoded": done, "seconds": round(time.monotonic() - began, 2), "vector_bytes": size}

    def going_live(self, folder: Path, kept_as: str) -> GoLive:
        """The swap, to be made in a transaction; it makes none while a live passage has no vector.

        kept_as: the version under which the folder is kept.
        """
        encoder = self._searching(folder).encoder
        new = EncoderVersion(encoder.version, f"{TRAINED}:{kept_as}", encoder.dimension, self._trained_from)
        return lambda sql: make_encoder_live(sql, new)

    def tidy(self) -> None:
        """Deletes the vectors and indexes of candidates that neither answer nor did so just before."""
        for version in self._versions.discard_vectors(beginning=f"{TRAINED}-"):
            self._discard_index(version)

    def folders_in_use(self) -> set[str]:
        """What the live encoder and the one before are kept as, if they were trained here."""
        both = (self._versions.live(), self._versions.previous())
        return {folder for known in both if known and (folder := known.kept_as)}
