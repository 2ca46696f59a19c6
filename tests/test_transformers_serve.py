"""`OpenAIChat` against `transformers serve`, a server that others wrote, with a model made here."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest

from agents.backends.openai.chat import OpenAIChat
from agents.base.chat_interfaces import ChatMessage, Piece, ReplyRequest
from stores.base.errors import MalformedReply, ModelRefused, NoLogProbabilities
from tests.free_ports import free_port

COMMAND = (str(Path(sys.executable).with_name("transformers")),)
READY_SECONDS = 180.0

pytestmark = [
    pytest.mark.skipif(not Path(COMMAND[0]).exists(), reason="there is no command `transformers`"),
    pytest.mark.skipif(
        importlib.util.find_spec("accelerate") is None,
        reason="`transformers serve` loads no model without the package accelerate",
    ),
]


@dataclass(frozen=True)
class Server:
    """A running `transformers serve` and its only model."""

    base_url: str
    model: str


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("serve")
    model, log = folder / "tiny-llama", folder / "server.log"
    (folder / "hub").mkdir()  # without it the list of models is an error 500
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder)}
    maker = Path(__file__).with_name("tiny_llama.py")
    subprocess.run([sys.executable, str(maker), str(model)], env=environment, check=True, timeout=120)

    port = free_port()
    command = [*COMMAND, "serve", str(model), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with (
        log.open("wb") as output,
        subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        try:
            wait_until_ready(f"http://127.0.0.1:{port}/health", process, log)
            yield Server(f"http://127.0.0.1:{port}/v1", str(model))
        finally:
            process.kill()


@pytest.fixture
async def chat(server: Server) -> AsyncIterator[OpenAIChat]:
    chat = OpenAIChat(base_url=server.base_url, model=server.model, max_tokens=16, temperature=0.0)
    yield chat
    await chat.aclose()


def wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + READY_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:  # not listening yet
            time.sleep(0.2)
    pytest.fail(f"transformers serve was not ready; its log ends with:\n{log.read_text()[-2000:]}")


def asking(*messages: ChatMessage) -> ReplyRequest:
    return ReplyRequest(messages=messages, question=messages[-1].content)


async def read(chat: OpenAIChat, *messages: ChatMessage) -> list[Piece]:
    return [piece async for piece in chat.stream(asking(*messages))]


QUESTION = ChatMessage("user", "Where does the harbour lie?")


async def test_an_answer_streams_to_its_end(chat: OpenAIChat) -> None:
    pieces = await read(chat, QUESTION)
    assert len(pieces) > 1


async def test_a_conversation_of_three_messages_is_read_whole(chat: OpenAIChat) -> None:
    before = (ChatMessage("user", "What is bread made of?"), ChatMessage("assistant", "Flour and water."))
    alone = await read(chat, QUESTION)
    within = await read(chat, *before, QUESTION)
    assert within
    assert within != alone  # at temperature 0 only the earlier messages can make the difference


async def test_the_next_answer_is_whole_after_one_cancelled_midway(server: Server, chat: OpenAIChat) -> None:
    endless = OpenAIChat(base_url=server.base_url, model=server.model, max_tokens=4000, temperature=0.0)
    async with aclosing(endless.stream(asking(QUESTION))) as pieces:
        for _ in range(3):
            await anext(pieces)
    await endless.aclose()
    assert len(await asyncio.wait_for(read(chat, QUESTION), 60)) > 1


async def test_a_wrong_model_name_is_refused_in_words_that_name_it(server: Server) -> None:
    chat = OpenAIChat(base_url=server.base_url, model="no-such-llama")
    with pytest.raises(ModelRefused) as caught:
        await read(chat, QUESTION)
    await chat.aclose()
    assert "no-such-llama" in str(caught.value)
    assert server.base_url in str(caught.value)
    assert caught.value.hint


async def test_a_model_that_only_babbles_gives_no_structured_reply(chat: OpenAIChat) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    with pytest.raises(MalformedReply):
        await chat.structured([QUESTION], schema)


async def test_a_server_without_log_probabilities_is_told_as_such(chat: OpenAIChat) -> None:
    with pytest.raises(NoLogProbabilities):
        await chat.log_probability([QUESTION], "Lima")
    assert not chat.can_score
    assert len(await read(chat, QUESTION)) > 1
