"""A causal language model in torch, from a GGUF file or a Hugging Face folder, with adapters to train.

    ids (B, L) -> transformer, its weights as they are, A and B of each product trained -> logits where asked

LoRA: W x + (alpha / rank) B A x, with B = 0 at the start, so that the model begins as it was.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everywhere

PRODUCTS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


class CausalLm(NamedTuple):
    """A model and what cuts text for it."""

    network: Any  # of transformers, or PEFT's around it
    tokenizer: Any

    @property
    def trained(self) -> dict[str, nn.Parameter]:
        """The adapters' parameters by name."""
        return {name: each for name, each in self.network.named_parameters() if each.requires_grad}


def load(path: Path) -> CausalLm:
    """A GGUF file is unpacked to 32 bits, which needs the package gguf. Raises OSError or ValueError.

    Of a folder only safetensors are read, and no code that comes with it is run.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    keep_quiet()
    named = {"gguf_file": path.name} if path.is_file() else {"use_safetensors": True}
    folder = path.parent if path.is_file() else path
    local = {"local_files_only": True, "trust_remote_code": False}
    tokenizer = AutoTokenizer.from_pretrained(folder, **local, **named)
    network = AutoModelForCausalLM.from_pretrained(
        folder,
        **local,
        dtype=torch.float32,
        attn_implementation="eager",  # a step takes three quarters of the fused one's, of short texts
        **named,
    )
    network.eval()
    return CausalLm(network, tokenizer)


def keep_quiet() -> None:
    """Neither the remarks of transformers nor its progress bars belong on a screen."""
    from transformers.utils import logging as remarks

    remarks.set_verbosity_error()
    remarks.disable_progress_bar()


def with_adapters(model: CausalLm, *, rank: int, alpha: int, first_layer: int = 0) -> CausalLm:
    """The same model, of which adapters of every product alone are trained, in 32 bits, from a layer on.

    Layers before that are not gone back through, so that a step takes half the time.
    """
    from peft import LoraConfig, get_peft_model

    layers = list(range(first_layer, model.network.config.num_hidden_layers))
    config = LoraConfig(
        r=rank,
        lora_alpha=alpha,
        target_modules=list(PRODUCTS),
        layers_to_transform=layers,
    )
    with warnings.catch_warnings():  # PEFT asks transformers by names of yesterday
        warnings.simplefilter("ignore", FutureWarning)
        return CausalLm(get_peft_model(model.network, config), model.tokenizer)


def form_of(model: CausalLm) -> dict[str, Any]:
    """What the served form of adapters has to know of the model: its architecture and numbers of heads."""
    config = model.network.config
    heads = config.num_attention_heads
    return {
        "architecture": config.model_type,
        "heads": heads,
        "kv_heads": config.num_key_value_heads or heads,
    }


class Batch(NamedTuple):
    """B prompts with what is to be written behind each, padded on the right."""

    ids: Tensor  # (B, L)
    mask: Tensor  # (B, L): 1 where there is a token
    written: Tensor  # (B, L), bool: tokens that are learned, each from those before it


def batch_of(model: CausalLm, texts: Sequence[tuple[str, str]], *, most_tokens: int) -> Batch:
    """texts: prompt and what follows it; the end token is put behind and learned too.

    What is too long loses the beginning of its prompt.
    """
    cut = model.tokenizer
    rows: list[tuple[list[int], int]] = []
    for prompt, written in texts:
        learned = [*cut(written, add_special_tokens=False).input_ids, cut.eos_token_id]
        read = cut(prompt, add_special_tokens=False).input_ids[-max(1, most_tokens - len(learned)) :]
        rows.append((read + learned, len(learned)))
    length = max(len(ids) for ids, _ in rows)
    ids = torch.zeros(len(rows), length, dtype=torch.long)
    mask, learned_at = torch.zeros_like(ids), torch.zeros(len(rows), length, dtype=torch.bool)
    for row, (tokens, count) in enumerate(rows):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
        learned_at[row, len(tokens) - count : len(tokens)] = True
    return Batch(ids, mask, learned_at)


def nats_per_token(model: CausalLm, batch: Batch) -> Tensor:
    """The mean over all learned tokens of -log p(token | those before it).

    A token weighs the same in any row.
    """
    return F.cross_entropy(logits_of(model, batch), batch.ids[batch.written])


def logits_of(model: CausalLm, batch: Batch) -> Tensor:
    """(n, v) of the learned tokens, row after row, each from those before it; no others are computed."""
    causal = model.network.get_base_model() if hasattr(model.network, "get_base_model") else model.network
    states = causal.model(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
    before = batch.written.roll(-1, dims=1)
    before[:, -1] = False
    logits: Tensor = causal.lm_head(states[before])
    return logits.float()
