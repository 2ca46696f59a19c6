"""The model in this process: loading, stopping and scoring, with a tiny Llama."""

from __future__ import annotations

import asyncio
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agents.backends.transformers_chat import TransformersChat
from agents.base.chat_interfaces import ChatMessage, CutAtLimit, ReplyRequest
from stores.base.errors import ContextTooLong, ModelRefused, ReplyCut, UnknownModel

QUESTION = (ChatMessage("user", "Where does the harbour lie?"),)
REQUEST = ReplyRequest(QUESTION)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("model") / "tiny-llama"
    maker = Path(__file__).with_name("tiny_llama.py")
    subprocess.run(
        [sys.executable, str(maker), str(made), "512"],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        timeout=300,
    )
    return made


@pytest.fixture
async def chat(folder: Path) -> AsyncIterator[TransformersChat]:
    made = TransformersChat(str(folder), max_tokens=400, temperature=0.0, offline=True)
    yield made
    await made.aclose()


async def passes_so_far(chat: TransformersChat) -> list[int]:
    """Grows with every pass through the model from here on."""
    seen: list[int] = []

    def count(_model: Any, _arguments: Any, _output: Any) -> None:
        seen.append(1)

    loaded = await asyncio.to_thread(chat._loaded)
    loaded.model.register_forward_hook(count)
    return seen


async def test_a_cancelled_reply_stops_the_model_within_a_few_tokens(chat: TransformersChat) -> None:
    passes = await passes_so_far(chat)
    async with aclosing(chat.stream(REQUEST)) as pieces:  # type: ignore[type-var]
        await anext(pieces)
    await chat._on_thread(lambda: None)  # whatever ran on the thread is over now
    assert len(passes) < 200  # of the 400 that the reply has when it is not stopped


async def test_a_reply_that_waits_for_its_turn_is_never_begun_once_cancelled(chat: TransformersChat) -> None:
    prompts = 0

    def count(_model: Any, arguments: Any, told: dict[str, Any]) -> None:
        nonlocal prompts
        ids = told.get("input_ids", arguments[0] if arguments else None)
        prompts += ids.shape[1] > 1  # a prompt goes through whole, each further token alone

    loaded = await asyncio.to_thread(chat._loaded)
    loaded.model.register_forward_pre_hook(count, with_kwargs=True)
    async with aclosing(chat.stream(REQUEST)) as first:  # type: ignore[type-var]
        await anext(first)
        waiting = asyncio.create_task(anext(aiter(chat.stream(REQUEST))))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await chat._on_thread(lambda: None)
    assert prompts == 1  # the first one's


async def test_closing_ends_a_reply_that_is_still_read_with_an_error(folder: Path) -> None:
    chat = TransformersChat(str(folder), max_tokens=400, temperature=0.0, offline=True)

    async def read() -> None:
        async for _ in chat.stream(REQUEST):
            has_begun.set()

    has_begun = asyncio.Event()
    reader = asyncio.create_task(read())
    await has_begun.wait()
    await chat.aclose()
    with pytest.raises(ReplyCut):
        await reader


async def test_the_loop_goes_on_while_the_model_writes(chat: TransformersChat) -> None:
    turns = 0

    async def tick() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    ticking = asyncio.create_task(tick())
    pieces = [piece async for piece in chat.stream(REQUEST)]
    ticking.cancel()
    assert turns > len(pieces)


async def test_a_reply_is_cut_where_the_context_ends(folder: Path) -> None:
    chat = TransformersChat(str(folder), max_tokens=400, temperature=0.0, context_tokens=60, offline=True)
    pieces = [piece async for piece in chat.stream(REQUEST)]
    loaded = await asyncio.to_thread(chat._loaded)
    assert pieces[-1] == CutAtLimit(60 - len(loaded.tokenizer.prompt(QUESTION)))
    await chat.aclose()


async def test_a_continuation_that_does_not_fit_is_too_long(chat: TransformersChat) -> None:
    with pytest.raises(ContextTooLong):
        await chat.log_probability(QUESTION, "river " * 512)


async def test_replies_scored_together_have_the_scores_they_have_alone(chat: TransformersChat) -> None:
    replies = ["A river", "A lake", "", "The harbour lies west", "A ship"]
    together = await chat.log_probabilities(QUESTION, replies)
    alone = [await chat.log_probability(QUESTION, reply) for reply in replies]
    assert [s.tokens for s in together] == [s.tokens for s in alone]
    assert [s.total for s in together] == pytest.approx([s.total for s in alone], abs=1e-4)


async def test_what_is_chosen_is_the_most_probable_whole_reply(chat: TransformersChat) -> None:
    choices = ["A river", "A river is a natural stream"]  # the longer begins with the shorter
    scored = await asyncio.to_thread(chat._scored, QUESTION, choices)
    best = max(zip(choices, scored, strict=True), key=lambda pair: pair[1].total_as_whole)[0]
    assert await chat.choose(QUESTION, choices) == best
    assert all(reply.log_probability_of_end < 0 for reply in scored)


async def test_the_probabilities_of_all_next_tokens_add_up_to_one(chat: TransformersChat) -> None:
    import torch

    from agents.backends.transformers_chat import _log_probabilities

    loaded = await asyncio.to_thread(chat._loaded)
    with torch.inference_mode():
        found = _log_probabilities(loaded.model, torch.tensor([loaded.tokenizer.prompt(QUESTION)]), 1)
    assert math.fsum(found[0, 0].exp().tolist()) == pytest.approx(1, abs=1e-5)


async def test_a_name_is_the_folders(chat: TransformersChat) -> None:
    assert chat.name == "tiny-llama"


async def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    chat = TransformersChat(str(tmp_path), offline=True)
    with pytest.raises(UnknownModel) as caught:
        await chat.log_probability(QUESTION, "Lima")
    assert str(tmp_path) in str(caught.value)
    await chat.aclose()


async def test_weights_that_are_no_safetensors_are_not_loaded(folder: Path, tmp_path: Path) -> None:
    import torch

    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "model.safetensors").unlink()
    torch.save({}, tmp_path / "pytorch_model.bin")
    chat = TransformersChat(str(tmp_path), offline=True)
    with pytest.raises(UnknownModel) as caught:
        await chat.log_probability(QUESTION, "Lima")
    assert "safetensors" in caught.value.hint
    await chat.aclose()


async def test_weights_that_were_cut_off_are_named(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    chat = TransformersChat(str(tmp_path), offline=True)
    with pytest.raises(UnknownModel) as caught:
        await chat.log_probability(QUESTION, "Lima")
    assert str(tmp_path) in str(caught.value)
    await chat.aclose()


async def test_too_little_memory_on_a_processor_is_said(chat: TransformersChat) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate")

    loaded = await asyncio.to_thread(chat._loaded)
    loaded.model.register_forward_pre_hook(fail)
    with pytest.raises(ModelRefused, match="not enough memory"):
        await chat.log_probability(QUESTION, "Lima")


async def test_code_that_comes_with_a_model_is_not_run(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {
        "model_type": "evil",
        "auto_map": {k: f"evil.{k}" for k in ("AutoConfig", "AutoModelForCausalLM")},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    chat = TransformersChat(str(tmp_path), offline=True)
    with pytest.raises(UnknownModel):
        await chat.log_probability(QUESTION, "Lima")
    assert not (tmp_path / "ran").exists()
    await chat.aclose()


async def test_importing_the_backend_imports_no_torch() -> None:
    script = "import sys, agents.backends.transformers_chat; sys.exit('torch' in sys.modules)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script)
    assert await process.wait() == 0


class TellsEverything:
    """A model that cannot be asked for its last places alone; at place p it is sure of token p."""

    def forward(self, rows: Any, *, use_cache: bool) -> Any:
        import torch

        return SimpleNamespace(logits=1000 * torch.eye(rows.shape[1]).repeat(len(rows), 1, 1))

    __call__ = forward


def test_of_a_model_that_tells_every_place_the_last_ones_are_taken() -> None:
    import torch

    from agents.backends.transformers_chat import _log_probabilities

    found = _log_probabilities(TellsEverything(), torch.zeros((1, 4), dtype=torch.long), 2)  # (1, 2, 4)
    assert found.argmax(-1).tolist() == [[2, 3]]
