"""A few dialogues over a knowledge base, in the form of CamRest."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np


class HashedEncoder:
    """A vector a text, by its hash."""

    version, dimension = "hashed", 384

    def encode_passages(self, texts: Sequence[str]) -> np.ndarray:  # type: ignore[type-arg]
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") for text in texts]
        drawn = np.array([np.random.default_rng(seed).standard_normal(384) for seed in seeds], np.float32)
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    encode_queries = encode_passages


def dialogue(number: int, place: str, food: str) -> dict[str, object]:
    """Of two turns: a place is asked for, then its phone."""
    kb = [{"name": place, "food": food, "phone": f"555_{number}"}, {"name": "old_inn", "food": "british"}]
    turns = [
        {"user": f"{food} food please", "system": f"{place} serves {food} food", "entities": [place, food]},
        {"user": "its phone ?", "system": f"it is 555_{number}", "entities": [f"555_{number}"]},
    ]
    return {"id": f"d{number}", "domain": "restaurant", "kb": kb, "turns": turns}


def write_dialogues(folder: Path) -> Path:
    """Four dialogues a part, over four places. Returns the folder of all sets."""
    own = folder / "camrest"
    own.mkdir()
    for split in ("train", "dev", "test"):
        with gzip.open(own / f"{split}.jsonl.gz", "wt") as file:
            for number in range(4):
                row = dialogue(number, f"place_{number}", ["thai", "greek"][number % 2])
                file.write(json.dumps(row) + "\n")
    with gzip.open(own / "kb_dataset.jsonl.gz", "wt") as file:
        for number in range(4):
            row = {"name": f"place_{number}", "food": ["thai", "greek"][number % 2], "phone": f"555_{number}"}
            file.write(json.dumps({"id": str(number), "domain": "restaurant", **row}) + "\n")
    return folder
