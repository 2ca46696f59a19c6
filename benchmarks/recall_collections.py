"""Collections and conversations with questions whose evidence is known, ingested as a person would.

Documents go into the shared space, each collection into a data directory of its own. A conversation is
one user's memory: its turns are stored as that user's messages, in order, a session of the journal for each
of its sessions, as "Name: text [shares caption of a picture]".
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.learning.held_out.ranking import evidence_recall_at
from assistant.library.cutting import cut
from assistant.library.documents import PreparedDocument, read_documents
from assistant.replay.streams.datasets import locomo_evidence, locomo_message, locomo_turns
from assistant.wiring.assistant import Assistant
from benchmarks.questions import read_questions
from stores.base.errors import UnreadableDocument
from stores.base.passages import SHARED

READY = "recall.json"  # in a data directory: all of it was ingested; holds the names of what was stored
CONVERSATIONS = "locomo"
LONGMEMEVAL = "longmemeval"
MIXED = "mixed"
CHOSEN_ON = 2  # settings were chosen on so many conversations, the first of the file


@dataclass(frozen=True)
class Collection:
    """Passages of one shared space, and questions that some of them answer; paths below the data folder."""

    name: str
    store: str  # the data directory; collections may share one
    passages: tuple[str, ...]
    questions: str


_SQUAD = ("squad/passages_train.jsonl.gz", "squad/passages_dev.jsonl.gz")
COLLECTIONS = (
    Collection("squad", "squad", _SQUAD, "squad/dev.jsonl.gz"),
    Collection("nq", "nq", ("nq/passages.jsonl.gz",), "nq/test.jsonl.gz"),
    Collection("covidqa", "covidqa", ("covidqa/passages.jsonl.gz",), "covidqa/test.jsonl.gz"),
    Collection("friendsqa", "friendsqa", ("friendsqa/passages.jsonl.gz",), "friendsqa/test.jsonl.gz"),
    Collection("doc2dial", "doc2dial", ("doc2dial/passages.jsonl.gz",), "doc2dial/test.jsonl.gz"),
    Collection("realtimeqa", "realtimeqa", ("realtimeqa/passages.jsonl.gz",), "realtimeqa/test.jsonl.gz"),
    Collection("timeqa", "timeqa", ("timeqa/passages.jsonl.gz",), "timeqa/test.jsonl.gz"),
)
TRAINING = (  # what settings are chosen on
    Collection("squad train", "squad", _SQUAD, "squad/train.jsonl.gz"),
    Collection("nq train", "nq", ("nq/passages.jsonl.gz",), "nq/train.jsonl.gz"),
)


def mixed(data: Path) -> Collection:
    """The one collection over all sets."""
    manifest = json.loads((data / MIXED / "manifest.json").read_text(encoding="utf-8"))
    return Collection(
        MIXED, MIXED, tuple(file["path"] for file in manifest["files"]), "mixed/questions.jsonl.gz"
    )


@dataclass(frozen=True)
class Question:
    """A question and what is to be found: each of `right`, by any of its names."""

    text: str
    right: tuple[frozenset[str], ...]
    needs_all: bool = False  # nothing is won by a part

    def recall(self, found: Sequence[str], depth: int) -> float:
        """The share of `right` among the first `depth` found; names, best first."""
        return evidence_recall_at(found, self.right, depth, needs_all=self.needs_all)


def document_questions(path: Path, same_as: Mapping[str, str], *, count: int, seed: int) -> list[Question]:
    """A seeded sample of the questions that something answers: any of the passages will do.

    Those that join two passages (set hotpotqa) need both. same_as: the stored one of equal passages.
    """
    questions: list[Question] = []
    for entry in read_questions(path, count=count, seed=seed, answered=True):
        names = [same_as.get(name, name) for name in entry["passage_ids"]]
        needs_all = entry.get("set") == "hotpotqa"
        right = tuple(frozenset({name}) for name in names) if needs_all else (frozenset(names),)
        questions.append(Question(entry["question"], right, needs_all))
    return questions


def ingest_collection(assistant: Assistant, data: Path, collection: Collection) -> dict[str, str]:
    """Stores a collection unless that was done before; the stored one's name for each equal passage."""
    ready = assistant.given.locations.data / READY
    if ready.exists():
        return dict(json.loads(ready.read_text(encoding="utf-8")))
    same_as: dict[str, str] = {}
    contents: dict[str, str] = {}

    def noted(
        documents: Iterable[PreparedDocument | UnreadableDocument],
    ) -> Iterator[PreparedDocument]:
        for number, document in enumerate(documents):
            if isinstance(document, UnreadableDocument):
                raise document
            same_as[document.external_id] = contents.setdefault(document.content_hash, document.external_id)
            if number % 5000 == 0:
                print(f"{collection.store}: {number} documents", file=sys.stderr)
            yield document

    files = (document for path in collection.passages for document in read_documents(data / path))
    user_id = assistant.stores.journal.user_id("benchmark")
    for _ in assistant.turns.ingest.run(
        user_id, SHARED, noted(files), summary=f"collection {collection.name}"
    ):
        pass
    ready.write_text(json.dumps({a: b for a, b in same_as.items() if a != b}), encoding="utf-8")
    return same_as


@dataclass(frozen=True)
class Turn:
    """One thing said."""

    name: str  # its id in the conversation
    session: int
    text: str


@dataclass(frozen=True)
class Conversation:
    """A long talk of two people, and questions about it."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]  # without those that nothing answers


def read_conversations(data: Path) -> list[Conversation]:
    """The conversations of the data folder, in the order of the file."""
    with gzip.open(data / CONVERSATIONS / "locomo.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [_conversation(json.loads(line)) for line in lines]


def read_longmemeval(data: Path) -> list[Conversation]:
    """What all users of LongMemEval said as one memory: the evidence of each question beside the others'."""
    turns: dict[str, Turn] = {}  # by text: what two questions rest on is told once
    questions: list[Question] = []
    session = 0
    with gzip.open(data / LONGMEMEVAL / "evidence.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            right = []
            for told in record["sessions"]:
                session += 1
                for turn in told["turns"]:
                    if turn["speaker"] == "user":
                        known = turns.setdefault(turn["text"], Turn(str(len(turns)), session, turn["text"]))
                        right.append(frozenset({known.name}))
            if right and not record["abstain"]:
                questions.append(Question(record["question"], tuple(right)))
    return [Conversation(LONGMEMEVAL, tuple(turns.values()), tuple(questions))]


def _conversation(record: Mapping[str, Any]) -> Conversation:
    turns = tuple(
        Turn(turn["dia_id"], session, locomo_message(turn)) for session, turn in locomo_turns(record)
    )
    known = {turn.name for turn in turns}
    questions: list[Question] = []
    for entry in record["qa"]:
        if evidence := locomo_evidence(entry, known):
            questions.append(Question(entry["question"], tuple(frozenset({name}) for name in evidence)))
    return Conversation(record["sample_id"], turns, tuple(questions))


def ingest_conversations(
    assistant: Assistant, conversations: Sequence[Conversation]
) -> dict[str, dict[int, str]]:
    """Stores conversations unless that was done before; by conversation, the turn of each stored version."""
    ready = assistant.given.locations.data / READY
    if ready.exists():
        stored = json.loads(ready.read_text(encoding="utf-8"))
        return {name: {int(i): turn for i, turn in turns.items()} for name, turns in stored.items()}
    turn_of: dict[str, dict[int, str]] = {}
    for conversation in conversations:
        user_id = assistant.stores.journal.user_id(conversation.name)
        turn_of[conversation.name] = {}
        sessions: dict[int, int] = {}
        for turn in conversation.turns:
            if turn.session not in sessions:
                sessions[turn.session] = assistant.stores.journal.open_session(user_id)
            parts = cut(turn.text, whole_up_to_words=200)
            accepted = assistant.stores.journal.accept(
                user_id, sessions[turn.session], turn.text, parts=parts
            )
            turn_of[conversation.name].update(dict.fromkeys(accepted.version_ids, turn.name))
        assistant.search.indexer.catch_up()
    ready.write_text(json.dumps(turn_of), encoding="utf-8")
    return turn_of
