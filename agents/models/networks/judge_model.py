"""A language model or cross-encoder that says whether a passage helps to answer a question.

    folder of the model, folder of adapters -> Policy over "no" and "yes" -> p(yes) by the temperature

A folder whose model sorts texts into classes is a cross-encoder, and reads question and passage as a pair.

Adapters are kept as `adapters.safetensors` beside `judge.json`, which has what it takes to load them. Without
any the model judges as it comes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from agents.models.networks.label_model import LabelModel, Policy, Question
from agents.models.networks.pair_model import PairModel, is_pair_model
from stores.base.errors import UnknownModel, VouchError

LABELS = "no", "yes"
WEIGHTS, DESCRIPTION = "adapters.safetensors", "judge.json"
ASKED = "Question: {}\nDoes it help to answer the question?"
MOST_TOKENS = 384  # of a prompt; a passage has 200 words or so
_LONGEST_QUESTION = 100  # words
_TOGETHER = 8  # prompts in one pass


class UnknownAdapters(VouchError):
    """Adapters that the model cannot be loaded with."""

    def __init__(self, folder: Path, problem: object) -> None:
        super().__init__(
            f"The adapters in {folder} cannot be used: {problem}",
            hint="`vouch train --recipe judge --back` goes back to those before.",
        )


@dataclass(frozen=True)
class JudgeDescription:
    """What `judge.json` says of the adapters beside it."""

    base: str  # which model they are of, see `base_version`
    rank: int = 16
    first_layer: int = 0  # from where on there are adapters
    temperature: float = 1.0  # T, above 0, fitted on lessons that nothing was trained on

    @staticmethod
    def read(folder: Path) -> JudgeDescription:
        """Raises `UnknownAdapters`."""
        try:
            found = JudgeDescription(**json.loads((folder / DESCRIPTION).read_text(encoding="utf-8")))
            if not (found.temperature > 0 and found.rank >= 1 and found.first_layer >= 0):
                raise ValueError(f"a number of {DESCRIPTION} is out of its range")
        except (OSError, ValueError, TypeError) as error:
            raise UnknownAdapters(folder, error) from error
        return found


class JudgeModel:
    """Scores passages. Loads in seconds to minutes."""

    def __init__(
        self,
        base: Path,
        adapters: Path | None = None,
        *,
        begins_with: JudgeDescription | None = None,
        seed: int = 0,
    ) -> None:
        """adapters: their folder. begins_with: the form of new ones, which change nothing yet.

        Raises `UnknownModel`, or `UnknownAdapters` where they are damaged or of another model.
        """
        self.name = base_version(base)
        described = JudgeDescription.read(adapters) if adapters is not None else begins_with
        if described is not None and described.base != self.name:
            raise UnknownAdapters(adapters or base, f"they are of {described.base}, not of {self.name}")
        self.description = described or JudgeDescription(self.name, rank=0)
        rank, first = self.description.rank, self.description.first_layer
        how: dict[str, Any] = {"rank": rank, "first_layer": first, "most_tokens": MOST_TOKENS, "seed": seed}
        try:
            self.labels: Policy = (
                PairModel(base, **how) if is_pair_model(base) else LabelModel(base, LABELS, form=ASKED, **how)
            )
        except (
            OSError,
            ValueError,
            LookupError,
            AttributeError,
            ImportError,
            RuntimeError,
            SafetensorError,
        ) as error:
            first_line = str(error).strip().partition("\n")[0][:200]
            raise UnknownModel(
                f"The model {base} cannot be loaded: {first_line}",
                hint="It must be a causal language model with layers as Llama has them, or a cross-encoder, "
                "in safetensors and without code of its own.",
            ) from error
        if adapters is not None:
            try:
                self.labels.restore(load_file(adapters / WEIGHTS))
            except (OSError, KeyError, RuntimeError, SafetensorError) as error:
                raise UnknownAdapters(adapters, error) from error
            self.name += f" {hashlib.sha256((adapters / WEIGHTS).read_bytes()).hexdigest()[:12]}"

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """p(yes) of each passage, 0 to 1, in their order."""
        return table(self.labels, [asked(question, passage) for passage in passages]).div(
            self.description.temperature
        ).softmax(1)[:, 1].tolist()  # fmt: skip

    def count_tokens(self, question: str, passages: Sequence[str]) -> int:
        """How many tokens are read to score them."""
        return self.labels.count_tokens([asked(question, passage) for passage in passages])


@torch.no_grad()
def table(labels: Policy, items: Sequence[Question]) -> Tensor:
    """log pi of many items without gradients, in batches: (N, C)."""
    batches = [labels.logp(items[at : at + _TOGETHER]) for at in range(0, len(items), _TOGETHER)]
    return torch.cat(batches) if batches else torch.zeros(0, len(LABELS))


def asked(question: str, passage: str) -> Question:
    """What is asked of a passage; each text is one line, so that none looks like another part."""
    short = " ".join(question.split()[:_LONGEST_QUESTION])
    return Question(short, " ".join(passage.split()))


def base_version(folder: Path) -> str:
    """Names a model by its configuration and the sizes of its files; its weights are not read.

    Raises `UnknownModel` where there is none.
    """
    files = sorted((file.name, file.stat().st_size) for file in folder.glob("*.safetensors"))
    try:
        known = (folder / "config.json").read_bytes() + json.dumps(files).encode()
    except OSError as error:
        raise UnknownModel(f"There is no model in {folder}: {error.strerror}") from error
    return f"{folder.resolve().name[:40]}-{hashlib.sha256(known).hexdigest()[:12]}"


def write_adapters(folder: Path, trained: Mapping[str, Tensor], description: JudgeDescription) -> None:
    """Into a folder that is there."""
    save_file({name: each.detach().cpu().contiguous() for name, each in trained.items()}, folder / WEIGHTS)
    (folder / DESCRIPTION).write_text(json.dumps(asdict(description), indent=1) + "\n", encoding="utf-8")
