"""A process that is killed: it works on the real stores for ever and says what it has acknowledged.

    python -m benchmarks.durable_worker SPECIFICATION

All is as in the commands, but the models, which are quick. It says `ready` when its imports are done and
begins when a line comes: what is to be killed is the work, not the imports. Where the specification names a
step, it kills itself there, before or after a statement, a commit or a write to an index: the same seed
dies at the same place again. What it stores is numbered onwards, so that no two texts are alike.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine, event

from agents.base.interfaces import Vectors
from assistant.library.documents import PreparedDocument, PreparedPassage
from assistant.library.ingest import Ingested
from assistant.search.encoder_change import EncoderChange
from assistant.settings.config import IndexSettings, Settings, StoreSettings
from assistant.settings.locations import Locations
from assistant.terminal.plain.chat import PlainChat
from assistant.wiring.assistant import Assistant
from assistant.wiring.parts.search import Search
from stores.base.passages import SHARED, own_space
from stores.search.encoder_versions import EncoderVersion
from stores.search.shared_index import SharedIndex

PAPERS = 60  # sources that are read again and again, each time with other content
PAPERS_AT_ONCE = 36  # in one ingest: some 380 passages, two transactions
EXACT_UP_TO = 100  # shared passages; most of the time there are more, and the index is used


@dataclass(frozen=True, kw_only=True)
class Specification:
    """What a worker works on."""

    work: str  # ingest, chat, memory or swap
    folder: str
    store_url: str = ""
    index_kind: str = "faiss"
    index_url: str = ""
    user: str = "ann"
    first: int = 0  # the number of its first text
    dies_at: int = 0  # the step at which it kills itself; 0 waits to be killed
    dies_after: bool = False  # when that step has had its effect

    @classmethod
    def read(cls, written: str) -> Specification:
        """From what `write` gave."""
        return cls(**json.loads(written))

    def write(self) -> str:
        """For a command line."""
        return json.dumps(asdict(self))


class QuickEncoder:
    """Different texts get different vectors: all that durability asks of an encoder."""

    dimension = 16

    def __init__(self, version: str) -> None:
        self.version = version

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode_passages(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        seeds = [
            int.from_bytes(hashlib.sha256(f"{self.version} {text}".encode()).digest()[:8], "big")
            for text in texts
        ]
        rows = [np.random.default_rng(seed).standard_normal(self.dimension) for seed in seeds]
        vectors = np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


class QuickSearch(Search):
    """Searches by quick encoders."""

    @cached_property
    def wanted_encoder(self) -> Any:
        return QuickEncoder("quick-1")

    def _loaded(self, live: EncoderVersion) -> Any:
        return QuickEncoder(live.version)


class QuickAssistant(Assistant):
    """The parts of a running Vouch, with quick encoders and without the reader."""

    def __init__(self, specification: Specification) -> None:
        folder = Path(specification.folder)
        settings = replace(
            Settings(),
            store=StoreSettings(url=specification.store_url),
            index=IndexSettings(kind=specification.index_kind, url=specification.index_url),  # type: ignore[arg-type]
            retrieval=replace(Settings().retrieval, exact_up_to=EXACT_UP_TO),
            reranking=replace(Settings().reranking, judge="scores"),
            answer=replace(Settings().answer, reader=False),
        )
        super().__init__(
            settings,
            Locations(
                data=folder / "data",
                settings=folder / "settings.toml",
                cache=folder / "cache",
                state=folder / "state",
            ),
            search=QuickSearch,
        )

    def encoder_change(self, *, even_declined: bool = False) -> EncoderChange | None:
        """Only the first start changes by itself; `swap` is what changes later."""
        return super().encoder_change() if self.stores.encoder_versions.live() is None else None

    def change_to(self, version: str) -> EncoderChange:
        encoder = QuickEncoder(version)
        new = EncoderVersion(version, "", encoder.dimension)
        return EncoderChange(self.stores.encoder_versions, new, lambda: self.search.searching_of(encoder))


def document(number: int, revision: int) -> PreparedDocument:
    """A document of 1 to 20 passages, each of which says whose and which revision it is."""
    count = 1 + (number * 7 + revision * 3) % 20
    passages = tuple(
        PreparedPassage(f"Paper {number}", f"paper {number} revision {revision} passage {place} of {count}")
        for place in range(count)
    )
    content = f"{number} {revision}"
    return PreparedDocument(
        source=f"paper-{number}",
        title=f"Paper {number}",
        content_hash=hashlib.sha256(content.encode()).hexdigest(),
        passages=passages,
        external_id="",
    )


def ingest(assistant: QuickAssistant, user_id: int, first: int) -> None:
    """Replaces some papers of both spaces after the other, a receipt each time."""
    for revision in itertools.count(first):
        space = SHARED if revision % 2 else own_space(user_id)
        papers = [document((revision * 11 + step) % PAPERS, revision) for step in range(PAPERS_AT_ONCE)]
        for step in assistant.turns.ingest.run(user_id, space, papers, summary=f"revision {revision}"):
            if isinstance(step, Ingested):
                say(json.dumps({"space": space, "source": step.source, "revision": revision}) + "\n")


def swap(assistant: QuickAssistant, user_id: int, first: int) -> None:
    """Shared notes and own ones, and now and then another encoder or a step back."""
    for number in itertools.count(first):
        papers = [document(number % PAPERS, number)]
        for step in assistant.turns.ingest.run(user_id, SHARED, papers, summary=f"revision {number}"):
            if isinstance(step, Ingested):
                say(json.dumps({"space": SHARED, "source": step.source, "revision": number}) + "\n")
        if number % 3 == 0:
            version = "quick-2" if assistant.search.encoder.version == "quick-1" else "quick-1"
            for _ in assistant.change_to(version).build(at_once=64):
                pass
            say(json.dumps({"live": version}) + "\n")
        elif number % 3 == 1 and assistant.stores.encoder_versions.previous() is not None:
            say(json.dumps({"live": assistant.stores.encoder_versions.step_back().version}) + "\n")
            assistant.search.indexer.catch_up()


def questions(first: int) -> Iterator[str]:
    for number in itertools.count(first):
        yield (
            f"The number of locker {number} is {number}."
            if number % 3
            else f"Which number has locker {number}?"
        )


def notes(first: int) -> Iterator[str]:
    for number in itertools.count(first):
        yield f"/remember note {number} is kept"
        if number % 3 == 0:
            yield "/undo"
        elif number % 3 == 1:
            yield "/forget LAST --yes"


def chat(assistant: Assistant, user_id: int, lines: Iterator[str]) -> None:
    """A conversation through a pipe, whose transcript is what was acknowledged."""
    session_id = assistant.stores.journal.open_session(user_id)

    def ask() -> str:
        line = next(lines)
        if "LAST" in line:
            line = line.replace("LAST", str(assistant.stores.catalogue.own_passages(user_id)[0]))
        return line

    PlainChat(assistant, user_id, session_id, ask=ask, say=say, echoes=True).run()


def say(text: str) -> None:
    os.write(1, text.encode())  # at once, and nothing stays behind in a buffer


class Death:
    """Counts steps, and kills the process at one of them."""

    def __init__(self, dies_at: int, *, after: bool) -> None:
        self._dies_at, self._after, self._steps = dies_at, after, 0

    def before(self, *_: Any) -> None:
        self._steps += 1
        has_passed = self._steps > self._dies_at  # a commit has no end of its own: the next step tells it
        if has_passed or (self._steps == self._dies_at and not self._after):
            os.kill(os.getpid(), signal.SIGKILL)

    def after(self, *_: Any) -> None:
        if self._steps == self._dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        """From now on every statement, commit and write to an index is a step."""
        event.listen(Engine, "before_cursor_execute", self.before)
        event.listen(Engine, "after_cursor_execute", self.after)
        event.listen(Engine, "commit", self.before)
        for name in ("_bring", "fill"):
            setattr(SharedIndex, name, self.stepped(getattr(SharedIndex, name)))

    def stepped(self, write: Callable[..., Any]) -> Callable[..., Any]:
        """Makes a step of the beginning of a write, and one of its end: there are others between them."""

        def whole(*args: Any, **kwargs: Any) -> Any:
            self.before()
            result = write(*args, **kwargs)
            self.before()
            return result

        def piece_by_piece(*args: Any, **kwargs: Any) -> Iterator[Any]:
            self.before()
            yield from write(*args, **kwargs)
            self.before()

        return piece_by_piece if inspect.isgeneratorfunction(write) else whole


def main(written: str) -> None:
    specification = Specification.read(written)
    say("ready\n")
    sys.stdin.readline()
    if specification.dies_at:
        Death(specification.dies_at, after=specification.dies_after).watch()
    assistant = QuickAssistant(specification)
    user_id = assistant.stores.journal.user_id(specification.user)
    assistant.catch_up()
    first = specification.first
    if specification.work == "ingest":
        ingest(assistant, user_id, first)
    elif specification.work == "swap":
        swap(assistant, user_id, first)
    else:
        chat(assistant, user_id, questions(first) if specification.work == "chat" else notes(first))


if __name__ == "__main__":
    main(sys.argv[1])
