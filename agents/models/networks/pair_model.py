"""A policy over "no" and "yes": a cross-encoder, of which adapters and the head are trained.

    question and text as a pair -> body with adapters -> head -> log-probability of "no" and of "yes"

"yes" is the class that `useful_class` names, "no" all the others together; of a single logit z it is the
sigmoid. Adapters lie beside every product of the body, attention's and those behind it.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.base.control_tokens import ControlTokens
from agents.models.cross_encoder import useful_class
from agents.models.networks.causal_lm import CausalLm, keep_quiet
from agents.models.networks.label_model import Asked, Policy


def is_pair_model(folder: Path) -> bool:
    """Whether the model of a folder sorts texts into classes. Raises OSError or ValueError."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return any(str(name).endswith("ForSequenceClassification") for name in config.get("architectures") or ())


class PairModel(Policy):
    """By the logits of a cross-encoder; see `LabelModel` for what is given.

    What is too long loses its end, the longer of the two texts first. Raises OSError or ValueError.
    """

    def __init__(
        self, path: Path, *, rank: int = 16, first_layer: int = 0, most_tokens: int = 256, seed: int = 0
    ) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        keep_quiet()
        local: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        tokenizer = AutoTokenizer.from_pretrained(path, **local)
        network, report = AutoModelForSequenceClassification.from_pretrained(
            path, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **local
        )
        if report["missing_keys"]:
            raise ValueError(f"its weights lack {min(report['missing_keys'])}")
        if network.config.problem_type == "multi_label_classification":
            raise ValueError("it gives several labels at once")
        if tokenizer.pad_token_id is None:
            raise ValueError("its tokenizer pads with nothing")
        self._useful = useful_class(dict(network.config.id2label))
        self._most = min(most_tokens, tokenizer.model_max_length, positions(network))
        network.requires_grad_(False)
        if rank:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                network = _with_adapters(network, rank=rank, first_layer=first_layer)
        self.model = CausalLm(network.eval(), tokenizer)
        if torch.cuda.is_available():
            network.to("cuda")
        self._control = ControlTokens(tokenizer)

    def logp(self, items: Sequence[Asked]) -> Tensor:
        """See `Policy`: (N, 2), "no" before "yes"."""
        read = self._read(items).convert_to_tensors("pt").to(self.model.network.device)
        logits: Tensor = self.model.network(**read).logits.float().cpu()
        if logits.shape[1] == 1:
            return F.logsigmoid(torch.cat([-logits, logits], 1))
        said, useful = logits.log_softmax(1), torch.arange(logits.shape[1]) == self._useful
        return torch.stack([said[:, ~useful].logsumexp(1), said[:, useful][:, 0]], 1)

    def count_tokens(self, items: Sequence[Asked]) -> int:
        """See `Policy`."""
        return int(sum(sum(row) for row in self._read(items)["attention_mask"])) if items else 0

    def _read(self, items: Sequence[Asked]) -> Any:
        asked, texts = (
            [self._control.broken_up(text) for text in some]
            for some in ([item.asked for item in items], [item.text for item in items])
        )
        how = {"truncation": "longest_first", "max_length": self._most, "padding": True}
        return self.model.tokenizer(asked, texts, **how)


def positions(model: nn.Module) -> int:
    """How many tokens have a position: in a RoBERTa they are counted from the place after the padding's."""
    tables = [
        module
        for name, module in model.named_modules()
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding)
    ]
    return min(
        (t.num_embeddings - (0 if t.padding_idx is None else t.padding_idx + 1) for t in tables),
        default=sys.maxsize,
    )


def _with_adapters(network: Any, *, rank: int, first_layer: int) -> Any:
    from peft import LoraConfig, TaskType, get_peft_model

    body = f"{network.base_model_prefix}."
    number = re.compile(r"\.(\d+)\.")

    def is_late(name: str) -> bool:
        found = number.search(name)
        return found is None or int(found.group(1)) >= first_layer

    products = [
        name
        for name, module in network.named_modules()
        if isinstance(module, nn.Linear) and name.startswith(body) and is_late(name)
    ]
    head = [
        name
        for name, module in network.named_children()
        if f"{name}." != body and any(True for _ in module.parameters())
    ]
    config = LoraConfig(
        task_type=TaskType.SEQ_CLS,
        r=rank,
        lora_alpha=2 * rank,
        target_modules=products,
        modules_to_save=head,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return get_peft_model(network, config)
