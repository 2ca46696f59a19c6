"""A process that is killed: it works on the real stores for ever and says what it has acknowledged.

    python durability_child.py ingest|chat|remember DATA_FOLDER FIRST_NUMBER

All is as in the command, but the encoder, which is quick, and the shared index, which is in memory.
It says `ready` when its imports are done, and
begins when a line comes: what is to be killed is the work, not the imports. What it stores is numbered
onwards from FIRST_NUMBER, so that no two texts are alike.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from agents.interfaces import Vectors
from assistant.config import Settings
from assistant.library.documents import PreparedDocument, PreparedPassage
from assistant.library.ingest import Ingested
from assistant.locations import Locations
from assistant.terminal.plain import PlainChat
from assistant.wiring import Assistant
from stores.records import SHARED, own_space
from stores.vectors import ExactVectors

PAPERS = 60  # sources that are read again and again, each time with other content
PAPERS_AT_ONCE = 36  # in one ingest: some 380 passages, two transactions


class QuickEncoder:
    """Different texts get different vectors: all that durability asks of an encoder."""

    version = "quick-1"
    dimension = 16

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode_passages(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts]
        rows = [np.random.default_rng(seed).standard_normal(self.dimension) for seed in seeds]
        vectors = np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


class QuickAssistant(Assistant):
    """The parts of a running Vouch, with the quick encoder and a shared index in memory."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            Settings(),
            Locations(
                data=folder / "data",
                settings=folder / "settings.toml",
                cache=folder / "cache",
                state=folder / "state",
            ),
        )
        self._index = ExactVectors(QuickEncoder.dimension)

    @cached_property
    def encoder(self) -> Any:
        return QuickEncoder()

    def shared_index(self, *, writes: bool) -> Any:
        return self._index


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


def ingest(assistant: Assistant, user_id: int, first: int) -> None:
    """Replaces some papers of both spaces after the other, a receipt each time."""
    for revision in itertools.count(first):
        space = SHARED if revision % 2 else own_space(user_id)
        papers = [document((revision * 11 + step) % PAPERS, revision) for step in range(PAPERS_AT_ONCE)]
        for step in assistant.ingest.run(user_id, space, papers, summary=f"revision {revision}"):
            if isinstance(step, Ingested):
                say(json.dumps({"space": space, "source": step.source, "revision": revision}) + "\n")


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
            yield "/forget LAST"


def chat(assistant: Assistant, user_id: int, lines: Iterator[str]) -> None:
    """A conversation through a pipe, whose transcript is what was acknowledged."""
    session_id = assistant.journal.open_session(user_id)

    def ask() -> str:
        line = next(lines)
        if "LAST" in line:
            line = line.replace("LAST", str(assistant.catalogue.own_passages(user_id)[0]))
        return line

    PlainChat(assistant, user_id, session_id, ask=ask, say=say, echoes=True).run()


def say(text: str) -> None:
    os.write(1, text.encode())  # at once, and nothing stays behind in a buffer


def main(work: str, folder: str, first: int) -> None:
    say("ready\n")
    sys.stdin.readline()
    assistant = QuickAssistant(Path(folder))
    user_id = assistant.journal.user_id("ann")
    assistant.catch_up()
    if work == "ingest":
        ingest(assistant, user_id, first)
    else:
        chat(assistant, user_id, questions(first) if work == "chat" else notes(first))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
