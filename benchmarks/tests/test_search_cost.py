"""The search cost benchmark itself: a store made before is searched as one made just now."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np

from benchmarks.synthetic_store import Synthetic, build


def test_the_queries_are_the_same_whether_the_store_was_made_now_or_before(tmp_path: Path) -> None:
    (tmp_path / "squad").mkdir()
    with gzip.open(tmp_path / "squad" / "passages_train.jsonl.gz", "wt", encoding="utf-8") as lines:
        for number in range(9):
            lines.write(
                json.dumps({"text": f"The room of number {number} opens at ten in the morning."}) + "\n"
            )
    making, before = Synthetic(tmp_path, 7), Synthetic(tmp_path, 7)
    (tmp_path / "store").mkdir()
    build(tmp_path / "store", making, 3)
    near = making.near(5)
    assert (near == before.near(5)).all()
    assert not np.allclose(near, before.vectors(5))
    assert not np.allclose(near, Synthetic(tmp_path, 8).near(5))
