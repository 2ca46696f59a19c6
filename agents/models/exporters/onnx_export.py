"""What the exporters share: ONNX, a folder put in place whole, the comparison, and a quiet screen.

Each exporter is a process of its own, so that a chat never loads torch.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tokenizers import Tokenizer

from agents.models.exported_folders import TOKENIZER_FILE
from agents.models.exporter_process import PARTIAL_PREFIX
from stores.base.errors import VouchError
from stores.base.one_line import one_line
from stores.base.shortages import shortage
from stores.base.syncing import sync

if TYPE_CHECKING:
    from torch import nn


def write_onnx(
    model: nn.Module,
    file: Path,
    *,
    inputs: Sequence[str],
    outputs: Sequence[str],
    max_tokens: int,
    opset: int = 18,
) -> None:
    """A model of (B, L) whole numbers as ONNX, for any B and any L up to `max_tokens`.

    inputs, outputs: their names. The last input is the mask.
    """
    import torch

    ids = torch.ones(2, 8, dtype=torch.long)
    mask = torch.ones(2, 8, dtype=torch.long)
    mask[0, 5:] = 0
    shape = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=max_tokens)}
    program = torch.onnx.export(
        model,
        (*(ids.clone() for _ in inputs[1:]), mask),  # one tensor given twice would become one input
        dynamo=True,
        dynamic_shapes=tuple(shape for _ in inputs),
        input_names=list(inputs),
        output_names=list(outputs),
        opset_version=opset,
        verbose=False,
    )
    assert program is not None
    program.save(str(file), external_data=False)


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """An empty folder to write, which takes the target's place when all went well and else leaves nothing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=PARTIAL_PREFIX, dir=target.parent) as temporary:
        folder = Path(temporary) / "whole"
        folder.mkdir()
        yield folder
        put_in_place(folder, target)


def put_in_place(folder: Path, target: Path) -> None:
    """Syncs the folder and renames it; a damaged one that was there goes with the temporary folder."""
    for file in (*folder.iterdir(), folder):
        sync(file)
    if target.exists():
        target.rename(folder.with_name("replaced"))
    folder.rename(target)
    sync(target.parent)


def write_tokenizer(source: Path, folder: Path) -> None:
    """The tokenizer.json of a source as it is served: it neither pads nor cuts."""
    tokenizer = Tokenizer.from_file(str(source / TOKENIZER_FILE))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(folder / TOKENIZER_FILE))


def must_be_the_same(difference: float, most: float, *, name: str, unavailable: type[VouchError]) -> None:
    """Refuses an export whose results are further than `most` from those of the original."""
    if not difference <= most:  # put so that not-a-number fails as well
        raise unavailable(
            f"The export of {name} differs from the original by {difference:.1e}, "
            f"more than {most:.0e}; it was not kept"
        )


def said_by(error: BaseException) -> str:
    """What an error says, on one line."""
    return one_line(str(error)) or type(error).__name__


def exporting(export: Callable[[Callable[[str], None]], Path]) -> int:
    """Runs an exporter as a program. Returns the exit code.

    Progress and errors go to stderr in sentences, and the finished folder's path to stdout.
    export: is given what to tell the person who waits with.
    """
    # What torch and its helpers print, from Python or from C, is not for the person who waits.
    screen = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8", errors="replace")
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    warnings.simplefilter("ignore")
    try:
        folder = export(lambda sentence: print(sentence, file=screen))
    except VouchError as error:
        print(f"Error: {error.message}", file=screen)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - whatever it was, this is all that the parent will hear
        lacking = shortage(error)
        said = lacking.message if lacking else f"{type(error).__name__}: {said_by(error)}"
        print(f"Error: {said}", file=screen)
        return 1
    print(folder, file=answer, flush=True)
    return 0
