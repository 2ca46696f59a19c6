"""What a server tells of its models: in its list of them, and where its kind has more to tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import openai

_OLLAMA_USUAL = 4096  # tokens that Ollama gives a model which names no other length
_NAMED = re.compile(r"^num_ctx\s+(\d{2,8})\s*$", re.MULTILINE)


@dataclass(frozen=True)
class ListedModel:
    """What a server's list says of a model."""

    context_tokens: int = 0  # 0: nothing
    owner: str = ""  # which tells some kinds of servers apart
    takes_images: bool | None = None  # None: the list does not say

    @classmethod
    def read(cls, model: object) -> ListedModel:
        """From an entry of the list."""
        length = getattr(model, "max_model_len", None)  # vLLM's; llama.cpp tells it in `meta`
        if length is None and isinstance(meta := getattr(model, "meta", None), dict):
            length = meta.get("n_ctx")
        if not isinstance(length, int) or isinstance(length, bool) or length < 0:
            length = 0
        takes = _mapping(getattr(model, "architecture", None)).get("input_modalities")  # OpenRouter's
        takes_images = "image" in takes if isinstance(takes, list) else None
        return cls(length, str(getattr(model, "owned_by", "")), takes_images)

    @property
    def is_vllm(self) -> bool:
        return self.owner == "vllm"


async def told_length(client: openai.AsyncOpenAI, root: str, model: str, listed: ListedModel) -> int:
    """How long a model's context is, in tokens; 0 where the server tells nothing, or fails.

    vLLM tells it in its list, llama.cpp at /props, Ollama at /api/ps of a model that is loaded, and
    at /api/show of one that is not. root: the address without /v1.
    """
    import openai

    with suppress(openai.APIError, ValueError):
        if listed.owner == "llamacpp":
            props = _mapping(await client.get(f"{root}/props", cast_to=object))
            return (
                _length(_mapping(props.get("default_generation_settings")).get("n_ctx"))
                or listed.context_tokens
            )
        if listed.owner == "library":
            return await _of_ollama(client, root, model)
    return listed.context_tokens


async def told_images(client: openai.AsyncOpenAI, root: str, model: str, listed: ListedModel) -> bool | None:
    """Whether a model takes images; None where the server does not say, or fails.

    Lists like OpenRouter's tell it, llama.cpp at /props, Ollama at /api/show. root: the address without /v1.
    """
    import openai

    with suppress(openai.APIError, ValueError):
        if listed.takes_images is None and listed.owner == "llamacpp":
            props = _mapping(await client.get(f"{root}/props", cast_to=object))
            told = _mapping(props.get("modalities")).get("vision")
            return told if isinstance(told, bool) else None
        if listed.takes_images is None and listed.owner == "library":
            shown = _mapping(await client.post(f"{root}/api/show", cast_to=object, body={"model": model}))
            can = shown.get("capabilities")
            return "vision" in can if isinstance(can, list) else None
    return listed.takes_images


async def _of_ollama(client: openai.AsyncOpenAI, root: str, model: str) -> int:
    running = _mapping(await client.get(f"{root}/api/ps", cast_to=object)).get("models")
    for each in running if isinstance(running, list) else ():
        if _mapping(each).get("name") in (model, f"{model}:latest") and (
            length := _length(_mapping(each).get("context_length"))
        ):
            return length
    shown = _mapping(await client.post(f"{root}/api/show", cast_to=object, body={"model": model}))
    named = _NAMED.search(str(shown.get("parameters", "")))
    of_model = [
        _length(value)
        for name, value in _mapping(shown.get("model_info")).items()
        if name.endswith(".context_length")
    ]
    return int(named[1]) if named else min([_OLLAMA_USUAL, *filter(None, of_model)])


def _mapping(answer: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", answer) if isinstance(answer, Mapping) else {}


def _length(told: object) -> int:
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else 0
