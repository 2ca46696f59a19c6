"""Rounds of learning kept one by one, so that a run of many goes on behind the last whole one.

store -> a round -> its row is added to the store -> copy of the store -> renamed -> the copy before goes
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROWS = "rows.jsonl"  # in the store: what was told of every round


class KeptRounds:
    """The store of a seed after its latest whole round, from which a killed run goes on."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self.store = place / "store"  # that is worked in

    def rows(self) -> list[dict[str, Any]]:
        """Of the rounds that were kept, the first of before them; none where nothing was kept."""
        latest = self._latest()
        if latest is None:
            return []
        return [json.loads(line) for line in (latest / ROWS).read_text(encoding="utf-8").splitlines()]

    def restore(self) -> None:
        """What was begun after the latest whole round is gone."""
        latest = self._latest()
        shutil.rmtree(self.store, ignore_errors=True)
        if latest is not None:
            shutil.copytree(latest, self.store)

    def keep(self, row: Mapping[str, Any]) -> None:
        """The store as it is now, with one more row."""
        with (self.store / ROWS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        before, making = self._latest(), self._place / "making"
        shutil.rmtree(making, ignore_errors=True)
        shutil.copytree(self.store, making)
        making.rename(self._place / f"after-{row['round']:03d}")
        if before is not None:
            shutil.rmtree(before)

    def _latest(self) -> Path | None:
        return max(self._place.glob("after-*"), default=None)
