"""Makes follow-up questions stand alone: a small model with our adapters, run by llama.cpp in a child.

    question, what came before it -> prompt (agents/prompts/standalone.py) -> child -> a question, or none

It is never waited for longer than a turn allows, and what it does not manage is only not there: the turn
searches with the question as it was typed either way.
"""

from __future__ import annotations

import json
import logging
import subprocess
import threading
import urllib.request
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from agents.backends.llamacpp_child import Started, end, start
from agents.backends.served_tokens import ServedTokens
from agents.prompts import standalone
from stores.base.errors import UnknownModel, VouchError

ADAPTERS = "adapters.gguf"
# Trained on the model that `vouch models add smollm2` adds.
SHIPPED = Path(__file__).parents[1] / "models" / "weights" / "query" / ADAPTERS
_log = logging.getLogger(__name__)
_CONTEXT_TOKENS = 1024
_LONGEST = 48  # tokens of a question
_DRAWN = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}  # by its chances as they are
_SILENCE_SECONDS = 20.0  # after which a child that says nothing is given up


class QueryModel:
    """One child, started by `begin`; one question is worked on at a time."""

    def __init__(self, model: Path, adapters: Path, *, threads: int = 1) -> None:
        """model, adapters: GGUF files; the adapters were trained on this model."""
        self._model, self._adapters, self._threads = model, adapters, threads
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="query-model")
        self._ahead: Future[str] | None = None
        self._child: Started | None = None
        self._loading: subprocess.Popen[str] | None = None
        self._is_of_no_use = threading.Event()  # it cannot be started here, or is closed

    def warm_up(self) -> None:
        """Starts the child, if it does not run, and returns at once."""
        self._worker.submit(self._ready)

    def require_started(self) -> QueryModel:
        """Itself, once its child has loaded. Raises `UnknownModel` where that cannot be started here."""
        if self._worker.submit(self._ready).result() is None:
            raise UnknownModel(
                f"The query model cannot be started with {self._adapters}", hint="The log tells why."
            )
        return self

    def begin(self, question: str, earlier: Sequence[tuple[str, str]]) -> Future[str]:
        """What `standalone.read` makes of the reply; empty after any failure. earlier: oldest first."""
        if self._ahead is not None:
            self._ahead.cancel()  # unless it is under way already
        return self._worker.submit(self._written, question, tuple(earlier))

    def ways(
        self, question: str, earlier: Sequence[tuple[str, str]], *, most: int, seed: int
    ) -> Future[list[str]]:
        """What it may make of a question: the likeliest, and others drawn by its own chances; none twice."""

        def drawn() -> list[str]:
            likeliest = self._written(question, tuple(earlier))
            others = (self._written(question, tuple(earlier), seed=seed + n) for n in range(1, most))
            return [text for text in dict.fromkeys((likeliest, *others)) if text]

        return self._worker.submit(drawn)

    def read_ahead(self, earlier: Sequence[tuple[str, str]]) -> Future[str]:
        """llama.cpp keeps what it read last: of a question that comes next, it reads that alone."""
        self._ahead = self._worker.submit(self._completed, standalone.beginning(earlier), 0)
        return self._ahead

    def close(self) -> None:
        """Ends the child at once, also while it loads or works."""
        self._is_of_no_use.set()
        for process in (self._loading, self._child.process if self._child else None):
            if process is not None:
                process.kill()
        self._worker.shutdown(wait=True, cancel_futures=True)
        if self._child is not None:
            end(self._child.process)
            self._child = None

    def _ready(self) -> Started | None:
        if self._is_of_no_use.is_set():
            return None
        if self._child is not None and self._child.process.poll() is not None:  # it was killed
            end(self._child.process)
            self._child = None
        if self._child is None:
            try:
                self._child = start(
                    self._model,
                    adapters=self._adapters,
                    context_tokens=_CONTEXT_TOKENS,
                    threads=self._threads,
                    loading=self._loads,
                )
            except (VouchError, OSError) as error:
                self._is_of_no_use.set()
                _log.warning("the query model cannot be started: %s", error)
        return self._child

    def _loads(self, process: subprocess.Popen[str] | None) -> None:
        self._loading = process
        if process is not None and self._is_of_no_use.is_set():
            process.kill()

    def _written(self, question: str, earlier: Sequence[tuple[str, str]], *, seed: int | None = None) -> str:
        prompt = standalone.prompt(question, earlier)
        return standalone.read(self._completed(prompt, _LONGEST, seed=seed), question)

    def _completed(self, prompt: str, tokens: int, *, seed: int | None = None) -> str:
        """At most so many tokens that go on behind the prompt, up to the line's end.

        seed: each token is drawn by its chance; None: the likeliest.
        """
        child = self._ready()
        if child is None:
            return ""
        try:
            asked = {
                "prompt": ServedTokens(child).plain(prompt),  # whatever it says, none is a control token
                "n_predict": tokens,
                **({"temperature": 0} if seed is None else _DRAWN | {"seed": seed}),
                "stop": ["\n"],
                "cache_prompt": True,
            }
            request = urllib.request.Request(
                f"{child.address}/completion",
                json.dumps(asked).encode(),
                {"Authorization": f"Bearer {child.key}", "Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=_SILENCE_SECONDS) as answer:
                return str(json.load(answer)["content"])
        except (VouchError, OSError, ValueError, KeyError, TypeError) as error:
            if not self._is_of_no_use.is_set():  # else it is what closing cut off
                _log.warning("the query model failed: %s", type(error).__name__)
            return ""
