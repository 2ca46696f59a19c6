"""The files of the two readers that come with Vouch, ready to be served.

reader.safetensors, reader.json of a training -> training.reader.export -> folder
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agents.models.exported_folders import Description
from stores.base.errors import VouchError

SMALL = Path(__file__).parent / "weights" / "small_reader"
LARGE = Path(__file__).parent / "weights" / "large_reader"
DESCRIPTION_FILE = "reader.json"
HEADS = ("judge", "spans", "verify", "sort", "relate")


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
