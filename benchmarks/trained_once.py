"""A candidate that is trained once and met by corpora of growing size.

No training sees the corpus but for the lessons' passages, and a passage's vector does not hang on what else
is there. So where each corpus begins with the one before it, its round may take over the training and the
vectors of the round before: it comes to the same, and what was taken over is added to what it took.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from assistant.learning.recipes.retriever.apart import train_apart
from stores.search.encoder_versions import TRAINED

_COLUMNS = "version_id, space, encoder_version, vector"


class TrainedOnce:
    """The training and the vectors of the rounds of one side and seed."""

    def __init__(self, folder: Path, train: Callable[..., Path] = train_apart) -> None:
        """folder: made anew. train: see `train_apart`."""
        self._folder = folder
        self.discard()
        folder.mkdir(parents=True)
        self._made, self._vectors, self._train = folder / "candidate", folder / "vectors.db", train
        self.seconds: dict[str, float] = {}  # of each phase, what was taken over took

    def discard(self) -> None:
        """Deletes what was kept."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def train(self, workplace: Path, *lessons: Any, **options: Any) -> Path:
        """As `train_apart`; after the first time what that made."""
        if not self._made.exists():
            shutil.copytree(self._train(workplace, *lessons, **options), self._made)
        return Path(shutil.copytree(self._made, workplace / "candidate", dirs_exist_ok=True))

    def keep_vectors(self, database: Path, up_to: int) -> None:
        """Those of the candidate, of passage versions up to this id."""
        self._vectors.unlink(missing_ok=True)
        with closing(sqlite3.connect(database)) as sql:
            sql.execute("ATTACH ? AS kept", (str(self._vectors),))
            sql.execute(
                f"CREATE TABLE kept.vectors AS SELECT {_COLUMNS} FROM passage_vectors "
                "WHERE encoder_version LIKE ? AND version_id <= ?",
                (f"{TRAINED}-%", up_to),
            )
            sql.commit()

    def give_vectors(self, database: Path) -> int:
        """What was kept, to a corpus that begins with the passages of the one before; returns how many."""
        if not self._vectors.exists():
            return 0
        with closing(sqlite3.connect(database)) as sql:
            sql.execute("ATTACH ? AS kept", (str(self._vectors),))
            given = sql.execute(
                f"INSERT INTO passage_vectors ({_COLUMNS}) SELECT {_COLUMNS} FROM kept.vectors"
            )
            sql.commit()
            return given.rowcount


def newest_passage(database: Path) -> int:
    """The highest id of a passage version; 0 where there is none."""
    with closing(sqlite3.connect(database)) as sql:
        (newest,) = sql.execute("SELECT coalesce(max(id), 0) FROM passage_versions").fetchone()
    return int(newest)
