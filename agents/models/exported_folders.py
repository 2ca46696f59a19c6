"""What the exported folders of encoder, reader and cross-encoder have in common.

    folder: model.onnx, tokenizer.json, a description -> files as they were written -> a session that serves

A folder is made once (`exports`, in a process of its own) and verified whenever it is loaded.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, get_origin, get_type_hints

from agents.models.exporter_process import alone_in
from stores.base.errors import VouchError

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it keeps a number of this machine, and sends, from 1.32 on
import onnxruntime

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
FORMAT = 1  # of an exported folder; another number is exported anew


class DamagedFolder(Protocol):
    """Makes the error for a folder that is not as it was written."""

    def __call__(self, folder: Path, reason: str) -> VouchError:
        """The error; it is not raised here."""


@dataclass(frozen=True, kw_only=True)
class Description:
    """What a file in an exported folder says of the folder. Each model adds facts of its own."""

    FILE: ClassVar[str]
    TOKENIZER: ClassVar[str] = TOKENIZER_FILE
    damaged: ClassVar[DamagedFolder]

    version: str
    model_bytes: int
    model_sha256: str
    tokenizer_sha256: str
    largest_difference: float  # of what comes out, between torch and what is served
    format: int = FORMAT

    @classmethod
    def of(cls, folder: Path, **facts: Any) -> Self:
        """A description of files that were just written, and have not been compared with the original."""
        model, tokenizer = (folder / MODEL_FILE).read_bytes(), (folder / cls.TOKENIZER).read_bytes()
        return cls(
            **facts,
            model_bytes=len(model),
            model_sha256=hashlib.sha256(model).hexdigest(),
            tokenizer_sha256=hashlib.sha256(tokenizer).hexdigest(),
            largest_difference=0.0,
        )

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The description of a folder whose files are there and have their sizes."""
        try:
            found = json.loads((folder / cls.FILE).read_text(encoding="utf-8"))
            if found["format"] != FORMAT:
                raise ValueError(f"its format is {found['format']}, not {FORMAT}")
            description = cls(**found)
            model_bytes = (folder / MODEL_FILE).stat().st_size
            if not (folder / cls.TOKENIZER).is_file():
                raise FileNotFoundError(f"{cls.TOKENIZER} is missing")
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise cls.damaged(folder, str(error)) from error
        malformed = description.malformed()
        if malformed:
            raise cls.damaged(folder, f"{malformed} in {cls.FILE} is malformed")
        if model_bytes != description.model_bytes:
            raise cls.damaged(folder, f"{MODEL_FILE} has {model_bytes} bytes, not {description.model_bytes}")
        return description

    @classmethod
    def is_there(cls, folder: Path) -> bool:
        """Whether `read` would find a whole folder."""
        try:
            cls.read(folder)
        except VouchError:
            return False
        return True

    def malformed(self) -> str | None:
        """A field whose value is of another type than it should be."""
        kinds = get_type_hints(type(self))
        for field in fields(self):
            kind = kinds[field.name]
            if type(getattr(self, field.name)) is not (get_origin(kind) or kind):
                return field.name
        return None

    def write(self, folder: Path) -> None:
        """Makes this the folder's description."""
        text = json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"
        (folder / self.FILE).write_text(text, encoding="utf-8")

    def read_files(self, folder: Path) -> tuple[bytes, bytes]:
        """Model and tokenizer, as they were when they were exported."""
        try:
            model, tokenizer = (folder / MODEL_FILE).read_bytes(), (folder / self.TOKENIZER).read_bytes()
        except OSError as error:
            raise self.damaged(folder, str(error)) from error
        # 0.06 s for 90 MB: weights damaged at rest would otherwise load and give wrong results.
        if hashlib.sha256(model).hexdigest() != self.model_sha256:
            raise self.damaged(folder, f"{MODEL_FILE} has changed since it was exported")
        if hashlib.sha256(tokenizer).hexdigest() != self.tokenizer_sha256:
            raise self.damaged(folder, f"{self.TOKENIZER} has changed since it was exported")
        return model, tokenizer


@contextmanager
def loading(folder: Path, what: str, unavailable: type[VouchError]) -> Iterator[None]:
    """Tells in one way whatever goes wrong while model and tokenizer are made of verified files."""
    try:
        yield
    except Exception as error:  # both libraries raise bare Exceptions of their own
        raise unavailable(
            f"The exported {what} in {folder} does not load: {error}",
            hint="Delete that folder, and check that onnxruntime and tokenizers are up to date.",
        ) from error


def open_session(model: bytes, *, threads: int) -> Any:
    """A session on the CPU. threads: how many cores its runs may use together, 0 for all.

    Where they are named, each run has one of them: runs are made beside each other (`concurrent_runs`).
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1 if threads else 0
    options.log_severity_level = 3  # errors only: warnings would be written over the screen
    # Waiting threads sleep: as fast here, and other work on the cores is not held up.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@contextmanager
def exporting_into(
    cache_dir: Path, what: str, unavailable: type[VouchError], *, tell: Callable[[str], None]
) -> Iterator[None]:
    """The only process that exports into this folder, which is made if need be.

    what: "encoder" or another model. tell: is given a sentence when there is another process to wait for.
    """
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with alone_in(cache_dir, tell, what=f"the {what}"):
            yield
    except OSError as error:
        raise unavailable(
            f"The {what} cannot be kept in {cache_dir}: {error}",
            hint="Check the folder's permissions and free space.",
        ) from error
