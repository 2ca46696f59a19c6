"""What a turn itself costs: stores and pipeline, without encoder, search and chat model.

The bytes that it adds to the database are those of message, answer and the forty candidates of the search,
without the message's vector, which is not made here. Called by `benchmarks.search_cost --turns`.
"""

from __future__ import annotations

import asyncio
import cProfile
import math
import pstats
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.answering.responder import Responder
from agents.base.chat_interfaces import ReplyRequest
from agents.base.interfaces import Candidate
from agents.retrieval.retriever import Retrieved
from benchmarks.synthetic_store import DIMENSION, CostAssistant, unit
from stores.base.passages import SHARED
from stores.database.rows import rows
from stores.memory.documents import NewDocument, NewPassage


class InstantChat:
    """A chat model that costs nothing."""

    name = "instant"
    can_score = False
    context_tokens = None

    async def stream(self, request: ReplyRequest) -> AsyncIterator[str]:
        yield "It opens at ten [1]."

    def count_tokens(self, text: str) -> int:
        return len(text) // 3 + 1

    async def aclose(self) -> None: ...


def measure_turns(turns: int) -> None:
    """CPU milliseconds of a turn without encoder, search and model, and where they go."""
    with tempfile.TemporaryDirectory() as folder:
        synthetic_vector = unit(np.ones((1, DIMENSION)))
        assistant = CostAssistant(Path(folder), "exact", synthetic_vector)
        user_id = assistant.stores.journal.user_id("benchmark")
        passages = [f"Passage {n} says when the room opens: at ten, in hall {n}." for n in range(40)]
        plan = assistant.stores.stored_documents.plan(
            SHARED, [NewDocument("d", "", "h", tuple(NewPassage("", text) for text in passages))]
        )
        receipt = assistant.stores.stored_documents.open_receipt(user_id, SHARED, "d")
        vectors = np.repeat(synthetic_vector, 40, axis=0)
        assistant.stores.stored_documents.store(
            plan, vectors, encoder_version="synthetic-1", receipt_id=receipt
        )
        found = assistant.search.searching.retriever.retrieve(
            "When does it open?", assistant.search.searching.spaces.of(user_id)
        )
        pipeline = assistant.turns.pipeline
        pipeline._responder = Responder(InstantChat(), keep=5, reply_tokens=64)  # type: ignore[arg-type]
        fixed = FixedSearching(assistant.search.searching, found)
        pipeline._searching = lambda: fixed  # type: ignore[assignment,return-value]
        session = assistant.stores.journal.open_session(user_id)

        async def play(count: int) -> list[float]:
            spent = []
            for number in range(count):
                began = time.process_time()
                async for _ in pipeline.take(user_id, session, f"When does room {number} open?"):
                    pass
                spent.append((time.process_time() - began) * 1000)
            return spent

        async def both() -> tuple[list[float], pstats.Stats]:
            await play(20)
            before = database_bytes(assistant)
            spent = await play(turns)
            print(f"{(database_bytes(assistant) - before) / turns:.0f} bytes a turn in the database")
            pipeline._on_thread = at_once  # type: ignore[method-assign]  # a profile sees one thread
            profile = cProfile.Profile()
            profile.enable()
            await play(turns)
            profile.disable()
            return spent, pstats.Stats(profile)

        spent, profile = asyncio.run(both())
        print(
            f"{turns} turns: CPU p50 {statistics.median(spent):.2f} ms, p95 {np.quantile(spent, 0.95):.2f} ms"
        )
        profile.sort_stats("cumulative").print_stats(25)
        assistant.close()


def database_bytes(assistant: CostAssistant) -> int:
    """What the pages of SQLite's database come to, those in its log too."""
    with assistant.stores.database.reading() as sql:
        return math.prod(rows(sql, f"PRAGMA {of}")[0][0] for of in ("page_count", "page_size"))


async def at_once(work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """In place of the model thread."""
    return work(*args, **kwargs)


class FixedSearching:
    """Finds the same every time and encodes nothing."""

    def __init__(self, real: Any, found: Retrieved) -> None:
        self.encoder, self.spaces, self.shared_index = real.encoder, real.spaces, real.shared_index
        self.retriever = self
        self.indexer = self
        self._found = found

    def retrieve(self, query: str, space: Any, *, without: Any = ()) -> Retrieved:
        candidates: tuple[Candidate, ...] = self._found.candidates
        return replace(self._found, query=query, candidates=candidates)

    def catch_up(self) -> int:
        return 0
