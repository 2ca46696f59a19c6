"""Turns the vector of a message towards the entities of a knowledge base that it is about.

A map of low rank for each knowledge base, learned from replies. Source: Dual-Feedback, Eq. 1 and Appendix D,
where all weights of the encoder learn that; here they stay as they are, so that nothing is encoded anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import safe_open

from agents.base.interfaces import Vector

_LEAST = 1e-12  # of a length that is divided by
FILE = "entity_map.safetensors"


def turned(vector: Vector, down: Vector, up: Vector) -> Vector:
    """(d,) of length 1: the vector and `up downᵀ` of it. down, up: (d, r)."""
    moved: Vector = vector + up @ (down.T @ vector)
    return moved / max(float(np.linalg.norm(moved)), _LEAST)


class EntityMap:
    """What was learned of some knowledge bases; without any, every vector stays as it is."""

    def __init__(self, encoder: str = "", maps: Mapping[str, tuple[Vector, Vector]] | None = None) -> None:
        """encoder: the version of what encodes messages. maps: down and up, by a base's space."""
        self._encoder, self._maps = encoder, maps or {}

    @classmethod
    def read(cls, folder: Path) -> EntityMap:
        """That of a folder, which was verified."""
        with safe_open(folder / FILE, "numpy") as content:
            facts = json.loads(content.metadata()["facts"])
            maps = {
                base: (content.get_tensor(f"{number}.down"), content.get_tensor(f"{number}.up"))
                for number, base in enumerate(facts["bases"])
            }
        return cls(facts["encoder"], maps)

    def turned(self, base: str, encoder: str, vector: Vector) -> Vector:
        """(d,) as it is searched with; as it is where nothing was learned of this base by this encoder."""
        if encoder != self._encoder or base not in self._maps:
            return vector
        return turned(vector, *self._maps[base])
