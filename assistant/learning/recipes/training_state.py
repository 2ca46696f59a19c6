"""A training run's state in one file, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

_FACTS = "facts"


def write_checkpoint(file: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Replaces the file, after everything has reached the disk. facts: what JSON can hold."""
    new = file.with_name(file.name + ".new")
    content = save(
        {n: t.detach().cpu().contiguous() for n, t in tensors.items()}, {_FACTS: json.dumps(facts)}
    )
    with new.open("wb") as output:
        output.write(content)
        output.flush()
        os.fsync(output.fileno())
    new.replace(file)


def read_checkpoint(file: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and facts as they were written. Raises OSError or ValueError when there are none."""
    try:
        with safe_open(file, "pt") as content:
            names = content.keys()
            return {name: content.get_tensor(name) for name in names}, json.loads(content.metadata()[_FACTS])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{file} is not a checkpoint") from error
    except Exception as error:  # safetensors raises a bare Exception of its own
        raise OSError(f"{file} cannot be read: {error}") from error


def optimizer_tensors(
    optimizer: torch.optim.Optimizer, names: Mapping[nn.Parameter, str]
) -> dict[str, Tensor]:
    """An Adam's moments and counts, by parameter name."""
    return {
        f"optimizer.{kind}.{name}": value
        for parameter, name in names.items()
        for kind, value in optimizer.state[parameter].items()
    }


def restore_optimizer(
    optimizer: torch.optim.Optimizer, names: Mapping[nn.Parameter, str], tensors: Mapping[str, Tensor]
) -> None:
    """Gives an Adam back what `optimizer_tensors` took from it."""
    for parameter, name in names.items():
        for kind in ("step", "exp_avg", "exp_avg_sq"):
            value = tensors[f"optimizer.{kind}.{name}"]
            optimizer.state[parameter][kind] = value.to(parameter.device)
