"""What Vouch adds to the wait for a chat model's first word: python -m benchmarks.first_token [--model FILE]

A server on this machine answers at once. Each question is asked by a turn of a chat over the manual and 30
notes, and then of the server alone, with the messages that the turn sent. The difference is Vouch's.
--model: of the query model, a GGUF file: the same questions, all but the first of which follow others, once
without it and once with it, a pause before each in which it may read ahead; its peak of memory besides.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agents.base.chat_interfaces import ChatMessage, ChatModel, ReplyRequest
from assistant.library.documents import read_documents
from assistant.settings.config import ModelSettings, Settings
from assistant.settings.local_models import SMOLLM2
from assistant.settings.locations import find_locations
from assistant.turns.events import Event, Wrote
from assistant.wiring.assistant import Assistant
from benchmarks.everyday_chat import ROOT, conversations
from benchmarks.fuzz_limits import peak_megabytes
from stores.base.errors import UnreadableDocument
from stores.base.passages import SHARED
from tests.scripted_server import ScriptedServer, says


def main() -> None:
    """Prints both medians and that of the differences, in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds before each question, with --model")
    told = parser.parse_args()
    for milliseconds in (0, Settings().answer.rewrite_milliseconds) if told.model else (0,):
        _play(told, milliseconds)


def _play(told: argparse.Namespace, milliseconds: int) -> None:
    """milliseconds: that a rewrite may take; 0: there is none."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ScriptedServer(then=says("At ", "ten [1].")) as server,
    ):
        home = {"HOME": folder, "XDG_CACHE_HOME": str(find_locations(os.environ).cache.parent)}
        model = ModelSettings(backend="openai", base_url=server.base_url, name="scripted")
        settings = replace(
            Settings(),
            model=model,
            memory=replace(Settings().memory, learn=False),
            answer=replace(Settings().answer, rewrite_milliseconds=milliseconds),
        )
        assistant = Assistant(settings, find_locations(home))
        try:
            if milliseconds:
                folder_of_models = assistant.given.locations.chat_models
                folder_of_models.mkdir(parents=True)
                (folder_of_models / f"{SMOLLM2.name}.gguf").write_bytes(told.model.read_bytes())
                assistant.models.keep_query_model()
            print(f"a rewrite may take {milliseconds} ms:")
            _measure(assistant, server, told.questions, told.pause if told.model else 0.0)
        finally:
            assistant.close()


def _measure(assistant: Assistant, server: ScriptedServer, questions: int, pause: float) -> None:
    user = assistant.stores.journal.user_id("ann")
    read = (d for page in sorted((ROOT / "docs" / "manual").glob("*.md")) for d in read_documents(page))
    documents = (d for d in read if not isinstance(d, UnreadableDocument))
    for _ in assistant.turns.ingest.run(user, SHARED, documents, summary="manual"):
        pass
    events = [
        e for talk in conversations("calibration", ROOT / "data" / "everyday_dated") for e in talk["events"]
    ]
    for said in [part["text"] for event in events for part in event.get("say", ())][:30]:
        assistant.stores.knowledge.remember(user, said)
    assistant.catch_up()
    session = assistant.stores.journal.open_session(user)
    bare, whole = [], []
    asked = [event["ask"] for event in events if "ask" in event][: questions + 3]
    for number, question in enumerate(asked):
        time.sleep(pause)
        turn = _first_word(assistant, user, session, question)
        alone = asyncio.run(
            _alone(
                assistant.models.chat_model_of(assistant.given.settings.model),
                server.requests[-1].body["messages"],
            )
        )
        if number >= 3:  # behind the imports
            whole.append(turn)
            bare.append(alone)
    extra = [1000 * (w - b) for w, b in zip(whole, bare, strict=True)]
    p50 = [f"{1000 * statistics.median(seconds):.0f}" for seconds in (bare, whole)]
    p95 = statistics.quantiles(extra, n=20)[-1]
    print(f"{len(extra)} questions, p50 in ms: server alone {p50[0]}, by Vouch {p50[1]}")
    print(f"added: p50 {statistics.median(extra):.0f}, p95 {p95:.0f}")
    for child in _children():
        print(f"a child's peak of memory: {peak_megabytes(child):.0f} MB")


def _children() -> list[int]:
    tasks = Path(f"/proc/{os.getpid()}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def _first_word(assistant: Assistant, user: int, session: int, question: str) -> float:
    began, first = time.perf_counter(), []

    def watch(event: Event) -> None:
        if isinstance(event, Wrote) and not first:
            first.append(time.perf_counter() - began)

    assistant.turns.host.play(user, session, question, watch=watch)
    return first[0]


async def _alone(chat: ChatModel, messages: Sequence[Mapping[str, str]]) -> float:
    request = ReplyRequest(tuple(ChatMessage(**message) for message in messages))  # type: ignore[arg-type]
    await _first_piece(chat, request)  # connects
    took = await _first_piece(chat, request)
    await chat.aclose()
    return took


async def _first_piece(chat: ChatModel, request: ReplyRequest) -> float:
    began, took = time.perf_counter(), 0.0
    async for _ in chat.stream(request):
        took = took or time.perf_counter() - began
    return took


if __name__ == "__main__":
    main()
