"""What every chat model promises, over all backends: the tests of the protocol `ChatModel`.

A tiny Llama with random weights stands behind those that run a model; the scripted server stands behind the
one that speaks to a server. vLLM, in this process and behind its own server, is tried where it is installed:
`make test-vllm`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import math
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import pytest_asyncio
from scripted_server import Call, Request, ScriptedServer, computes, hangs, refuses
from vllm_server import serving, vllm_maker

from agents.backends.openai.chat import OpenAIChat
from agents.backends.transformers_chat import TransformersChat
from agents.backends.vllm_chat import VllmChat
from agents.base.chat_interfaces import ChatMessage, ChatModel, CutAtLimit, Piece, ReplyRequest
from stores.base.errors import ContextTooLong, MalformedReply, ModelRefused, NoLogProbabilities

pytestmark = pytest.mark.asyncio(loop_scope="module")

LONGEST_REPLY = 16
CONTEXT_TOKENS = 2048
HAS_VLLM = importlib.util.find_spec("vllm") is not None
needs_vllm = pytest.mark.skipif(not HAS_VLLM, reason="vLLM is not installed: make test-vllm")

QUESTION = (ChatMessage("system", "Be brief."), ChatMessage("user", "Where does the harbour lie?"))
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Lima", "Callao"]}},
    "required": ["city"],
    "additionalProperties": False,
}
TOO_MUCH = (ChatMessage("user", "river " * (CONTEXT_TOKENS + 1)),)


@dataclass(frozen=True)
class Backend:
    """A chat model whose replies have up to `LONGEST_REPLY` tokens, the likeliest ones."""

    chat: ChatModel
    endless: ChatModel  # the same, but a reply takes long
    fits_schema: bool  # whether it can be held to one: a model of random weights cannot be talked into it
    reference: Callable[[Sequence[ChatMessage], str], list[float]]  # the true log-probabilities


@pytest.fixture(scope="module")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "tiny-llama"
    maker = Path(__file__).with_name("tiny_llama.py")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(maker), str(folder), str(CONTEXT_TOKENS), "64"]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=300)
    return folder


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="module",
    params=[
        "openai",
        "transformers",
        pytest.param("vllm", marks=needs_vllm),
        pytest.param("vllm over http", marks=needs_vllm),
    ],
)
async def backend(request: pytest.FixtureRequest) -> AsyncIterator[Backend]:
    async with AsyncExitStack() as stack:
        if request.param == "openai":
            made = stack.enter_context(scripted())
        else:
            folder = request.getfixturevalue("tiny_llama")
            make = maker_of(request.param, folder, stack)
            made = Backend(
                make(LONGEST_REPLY),
                make(CONTEXT_TOKENS // 2),
                fits_schema="vllm" in request.param,
                reference=reference_of(folder),
            )
        stack.push_async_callback(made.chat.aclose)
        stack.push_async_callback(made.endless.aclose)
        yield made


def maker_of(kind: str, folder: Path, stack: AsyncExitStack) -> Callable[[int], ChatModel]:
    """What makes chat models of a kind whose replies have up to so many tokens."""
    if kind == "transformers":
        return lambda tokens: TransformersChat(str(folder), offline=True, max_tokens=tokens, temperature=0.0)
    if kind == "vllm":
        return vllm_maker(folder)
    url = stack.enter_context(serving(folder, CONTEXT_TOKENS))
    return lambda tokens: OpenAIChat(
        base_url=url, model="tiny", max_retries=0, max_tokens=tokens, temperature=0.0
    )


@contextlib.contextmanager
def scripted() -> Any:
    """A server that cuts its replies, tells log-probabilities by byte, and knows when a text is too long."""

    def reply(request: Request) -> list[str]:
        if "response_format" in request.body:
            schema = request.body["response_format"]["json_schema"]["schema"]
            ((key, allowed),) = schema["properties"].items()
            return [f'{{"{key}": "{allowed["enum"][0]}"}}']
        return ["The harbour ", f"of {len(request.last_message)}"]

    def behave(call: Call) -> None:
        if len(call.request.last_message) > CONTEXT_TOKENS:
            refuses(400, f"maximum context length is {CONTEXT_TOKENS} tokens")(call)
        elif call.request.body["max_tokens"] > LONGEST_REPLY:
            hangs(after=["The"])(call)
        else:
            computes(reply, finish="length")(call)

    def log_probability(byte: int) -> float:
        return -byte / 100

    about = {"max_model_len": CONTEXT_TOKENS}
    with ScriptedServer(then=behave, about_models=about, log_probability=log_probability) as server:
        plain = {"base_url": server.base_url, "model": "scripted", "max_retries": 0}
        yield Backend(
            OpenAIChat(max_tokens=LONGEST_REPLY, **plain),
            OpenAIChat(max_tokens=CONTEXT_TOKENS, **plain),
            fits_schema=True,
            reference=lambda messages, text: [log_probability(byte) for byte in text.encode()],
        )


def reference_of(folder: Path) -> Callable[[Sequence[ChatMessage], str], list[float]]:
    """Log-probabilities by one plain pass of the model over the prompt written out by hand."""

    def reference(messages: Sequence[ChatMessage], text: str) -> list[float]:
        import torch
        from transformers import AutoTokenizer, LlamaForCausalLM

        tokenizer = AutoTokenizer.from_pretrained(folder)
        written = "".join(f"<|{m.role}|>{m.content}<|end|>" for m in messages) + "<|assistant|>"
        prompt = tokenizer.encode(written, add_special_tokens=False)
        reply = tokenizer.encode(text, add_special_tokens=False)
        with torch.no_grad():
            logits = LlamaForCausalLM.from_pretrained(folder)(torch.tensor([prompt + reply])).logits[0]
        expected = torch.log_softmax(logits, dim=-1)
        return [float(expected[len(prompt) - 1 + i, token]) for i, token in enumerate(reply)]

    return reference


def asking(text: str) -> ReplyRequest:
    return ReplyRequest((ChatMessage("user", text),))


async def read(chat: ChatModel, text: str) -> list[Piece]:
    return [piece async for piece in chat.stream(asking(text))]


def joined(pieces: Sequence[Piece]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


async def test_a_reply_comes_in_several_pieces_and_ends(backend: Backend) -> None:
    pieces = await read(backend.chat, "Where does the harbour lie?")
    assert len([piece for piece in pieces if isinstance(piece, str)]) > 1


async def test_the_same_question_has_the_same_likeliest_reply(backend: Backend) -> None:
    first = await read(backend.chat, "What is bread made of?")
    assert joined(first)
    assert joined(await read(backend.chat, "What is bread made of?")) == joined(first)


async def test_a_reply_at_its_longest_length_says_last_that_it_was_cut(backend: Backend) -> None:
    *pieces, last = await read(backend.chat, "Where does the harbour lie?")
    assert last == CutAtLimit(LONGEST_REPLY)
    assert all(isinstance(piece, str) for piece in pieces)


async def test_a_cancelled_reply_does_not_hold_up_the_next(backend: Backend) -> None:
    has_begun = asyncio.Event()

    async def reader() -> None:
        async for _ in backend.endless.stream(asking("Where does the harbour lie?")):
            has_begun.set()

    task = asyncio.create_task(reader())
    await has_begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert joined(await read(backend.chat, "What is bread made of?"))


async def test_a_reply_left_early_does_not_hold_up_the_next(backend: Backend) -> None:
    async with aclosing(backend.endless.stream(asking("What is a river?"))) as pieces:  # type: ignore[type-var]
        await anext(pieces)
    assert joined(await read(backend.chat, "What is bread made of?"))


async def test_sixteen_at_once_get_the_reply_to_their_own_question(backend: Backend) -> None:
    questions = [f"What is {'very ' * number}cold?" for number in range(16)]
    together = await asyncio.gather(*(read(backend.chat, question) for question in questions))
    alone = [joined(await read(backend.chat, question)) for question in questions]
    assert [joined(reply) for reply in together] == alone
    assert len(set(alone)) > 1


async def test_a_structured_reply_fits_its_schema_or_is_malformed(backend: Backend) -> None:
    if backend.fits_schema:
        jsonschema.validate(await backend.chat.structured(QUESTION, CITY), CITY)
    else:
        with pytest.raises(MalformedReply) as caught:
            await backend.chat.structured(QUESTION, CITY)
        assert caught.value.hint


async def test_what_is_chosen_is_one_of_the_choices(backend: Backend) -> None:
    choices = ["yes", "no", "not in the sources"]
    assert await backend.chat.choose(QUESTION, choices) in choices


async def test_of_one_choice_that_one_is_chosen(backend: Backend) -> None:
    assert await backend.chat.choose(QUESTION, ["A river"]) == "A river"


@pytest.mark.parametrize("choices", [[], [""], ["yes", "yes"]], ids=["none", "empty", "twice"])
async def test_what_cannot_be_chosen_from_is_a_defect(backend: Backend, choices: list[str]) -> None:
    with pytest.raises(ValueError, match="choices"):
        await backend.chat.choose(QUESTION, choices)


async def test_the_probability_of_a_reply_is_the_models_own(backend: Backend) -> None:
    text = "The harbour lies west of Lima."
    found = await backend.chat.log_probability(QUESTION, text)
    assert list(found.log_probabilities) == pytest.approx(backend.reference(QUESTION, text), abs=1e-3)


async def test_a_replys_tokens_are_its_text_and_each_is_at_most_certain(backend: Backend) -> None:
    found = await backend.chat.log_probability(QUESTION, "A river is water.")
    assert "".join(found.tokens) == "A river is water."
    assert len(found.tokens) == len(found.log_probabilities) > 1
    assert all(value <= 0 for value in found.log_probabilities)
    assert found.total == pytest.approx(sum(found.log_probabilities))


async def test_a_reply_is_as_probable_as_its_beginning_and_then_its_end(backend: Backend) -> None:
    whole = await backend.chat.log_probability(QUESTION, "A river")
    beginning = await backend.chat.log_probability(QUESTION, "".join(whole.tokens[:-1]))
    assert beginning.total + whole.log_probabilities[-1] == pytest.approx(whole.total, abs=1e-4)


async def test_an_empty_reply_is_a_certain_beginning(backend: Backend) -> None:
    assert (await backend.chat.log_probability(QUESTION, "")).total == 0


async def test_scoring_is_announced(backend: Backend) -> None:
    assert backend.chat.can_score


async def test_a_message_that_is_too_long_is_refused_as_such(backend: Backend) -> None:
    with pytest.raises(ContextTooLong) as caught:
        [piece async for piece in backend.chat.stream(ReplyRequest(TOO_MUCH))]
    assert caught.value.hint
    assert joined(await read(backend.chat, "What is bread made of?"))


async def test_the_length_of_the_context_is_known_after_the_first_reply(backend: Backend) -> None:
    await read(backend.chat, "What is bread made of?")
    for _ in range(100):  # a server's word comes beside the reply
        if backend.chat.context_tokens == CONTEXT_TOKENS:
            break
        await asyncio.sleep(0.01)
    assert await asyncio.to_thread(lambda: backend.chat.context_tokens) == CONTEXT_TOKENS


async def test_a_text_has_at_least_a_token_for_each_of_its_words(backend: Backend) -> None:
    assert await asyncio.to_thread(backend.chat.count_tokens, "the harbour of Callao") >= 4


async def test_the_same_model_works_again_after_it_was_closed(backend: Backend) -> None:
    if isinstance(backend.chat, VllmChat):
        pytest.skip("starting the engine a second time takes a minute")
    before = await read(backend.chat, "What is bread made of?")
    await backend.chat.aclose()
    assert await read(backend.chat, "What is bread made of?") == before


async def test_no_score_is_a_not_a_number(backend: Backend) -> None:
    found = await backend.chat.log_probability(QUESTION, "Ünïcode 🌊\n")
    assert all(math.isfinite(value) for value in found.log_probabilities)


# The extractive model is no model of language: what it cannot do it says.


def extractive() -> ChatModel:
    from agent_fakes import FixedEncoder

    from agents.answering.quoting import Quoter
    from agents.backends.extractive import ExtractiveChat

    return ExtractiveChat(Quoter(FixedEncoder({}), threshold=0.2, quotes=3))


async def test_the_extractive_model_has_no_log_probabilities_and_says_so_before() -> None:
    chat = extractive()
    assert not chat.can_score
    with pytest.raises(NoLogProbabilities) as caught:
        await chat.log_probability(QUESTION, "Lima")
    assert caught.value.hint


async def test_the_extractive_model_chooses_nothing() -> None:
    with pytest.raises(ModelRefused) as caught:
        await extractive().choose(QUESTION, ["yes", "no"])
    assert caught.value.hint


async def test_the_extractive_model_reads_without_a_limit_and_is_never_cut() -> None:
    chat = extractive()
    assert chat.context_tokens is None
    pieces = [p async for p in chat.stream(ReplyRequest((), "Where is it?", "Where is it?"))]
    assert joined(pieces) == "I found nothing about that."
    assert all(isinstance(piece, str) for piece in pieces)
