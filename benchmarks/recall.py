"""Recall of Vouch's own search before any training, over conversations and document collections.

    python -m benchmarks.recall DATA --work DIR [--only locomo nq ...] [--questions 2000] [--seed 1] [--json]
    python -m benchmarks.recall DATA --work DIR --choose

DATA holds the sets of benchmarks/recall_collections.py. DIR gets their data directories and the vectors;
what is there is not made again. Recall at K of a question: the share of its evidence among the first K
found. For a document collection that is 1 when any passage that answers is there, else 0.

dense, lexical and fused are the product's, from `Spaces` and `Retriever`. For conversations two more stand
beside them, computed here over all turns without pool or database: MiniLM alone; and half MiniLM, half
BM25, each scaled to 0..1, plus 0.4 of the better neighbour. Differences are paired over the questions, with
95 % intervals by bootstrap. --choose prints the settings tried, on what settings may be chosen on.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base.interfaces import Encoder
from agents.retrieval.retriever import Fusion, Signals
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.cached_encoder import CachedEncoder
from benchmarks.questions import interval
from benchmarks.recall_collections import (
    CHOSEN_ON,
    COLLECTIONS,
    CONVERSATIONS,
    MIXED,
    TRAINING,
    Collection,
    Conversation,
    Question,
    document_questions,
    ingest_collection,
    ingest_conversations,
    mixed,
    read_conversations,
)
from stores.words.lexical import WordStatistics, bm25, tokens

Scores = npt.NDArray[np.float64]
Recalls = dict[str, list[list[float]]]  # of each way of searching: a row a question, a column a depth

DEPTHS = (5, 10, 20)
PLAIN, MIX = "plain MiniLM", "mix + 0.4 neighbour"


class BenchmarkAssistant(Assistant):
    """Vouch with vectors that are kept between runs."""

    def __init__(self, directory: Path, vectors: Path) -> None:
        super().__init__(Settings(), find_locations(os.environ, data=str(directory)), offline=True)
        self.search.__dict__["wanted_encoder"] = CachedEncoder(self.search.wanted_encoder, vectors)

    def signals(self, question: str, user: str, *, depth: int) -> tuple[Signals, list[int], list[int]]:
        """What a user's search is fused from, and the versions that either signal finds alone."""
        space = self.search.spaces.of(self.stores.journal.user_id(user))
        vector = self.search.encoder.encode_queries([question])[0]
        signals = self.search.retriever_keeping(self.search.encoder, depth).signals(question, vector, space)
        return signals, [i for i, _ in space.nearest(vector, depth)], space.matching(question, depth)


def fusion_of(settings: Settings) -> Fusion:
    """The fusion that these settings make."""
    retrieval = settings.retrieval
    return Fusion(
        dense_weight=retrieval.dense_weight,
        document_lift=retrieval.document_lift,
        conversation_lift=retrieval.conversation_lift,
        reply_lift=retrieval.reply_lift,
        speaker_bonus=retrieval.speaker_bonus,
        time_bonus=retrieval.time_bonus,
    )


# What it is measured against


def plain_scores(encoder: Encoder, conversation: Conversation) -> Scores:
    """(questions, turns): cosine."""
    turns = encoder.encode_passages([turn.text for turn in conversation.turns])
    queries = encoder.encode_queries([question.text for question in conversation.questions])
    return (queries @ turns.T).astype(np.float64)


def word_scores(conversation: Conversation) -> Scores:
    """(questions, turns): BM25 over the turns of this conversation."""
    turns = [tokens(turn.text) for turn in conversation.turns]
    holding = Counter(token for turn in turns for token in set(turn))
    statistics = WordStatistics(len(turns), sum(map(len, turns)), holding)
    return np.array(
        [[bm25(tokens(q.text), turn, statistics) for turn in turns] for q in conversation.questions]
    )


def mix_scores(dense: Scores, lexical: Scores, sessions: Sequence[int], *, lift: float = 0.4) -> Scores:
    """(questions, turns): half and half, plus a share of the better neighbour.

    dense, lexical: (questions, turns). sessions: of each turn; neighbours stand in the same one.
    """
    mixed_scores: Scores = (_scaled(dense) + _scaled(lexical)) / 2
    padded = np.pad(mixed_scores, ((0, 0), (1, 1)))
    together = np.pad(
        np.diff(sessions) == 0, 1
    )  # whether a turn stands in one session with the one before it
    before, after = padded[:, :-2] * together[:-1], padded[:, 2:] * together[1:]
    lifted: Scores = mixed_scores + lift * np.maximum(before, after)
    return lifted


def _scaled(scores: Scores) -> Scores:
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    scaled: Scores = np.divide(scores - low, high - low, out=np.zeros_like(scores), where=high > low)
    return scaled


# Measuring


def conversation_recalls(
    assistant: BenchmarkAssistant,
    conversation: Conversation,
    turn_of: Mapping[int, str],
    fusions: Mapping[str, Fusion],
) -> Recalls:
    """How each way of searching does on one conversation."""
    names = [turn.name for turn in conversation.turns]
    dense = plain_scores(assistant.search.encoder, conversation)
    mix = mix_scores(dense, word_scores(conversation), [turn.session for turn in conversation.turns])
    recalls: Recalls = {}
    for row, question in enumerate(conversation.questions):
        _note(recalls, PLAIN, question, [names[i] for i in np.argsort(-dense[row], kind="stable")])
        _note(recalls, MIX, question, [names[i] for i in np.argsort(-mix[row], kind="stable")])
        _search(recalls, assistant, conversation.name, question, fusions, lambda p: turn_of[p.version_id])
    return recalls


def collection_recalls(
    assistant: BenchmarkAssistant, questions: Sequence[Question], fusions: Mapping[str, Fusion]
) -> Recalls:
    """How each way of searching does on one collection."""
    recalls: Recalls = {}
    for number, question in enumerate(questions):
        _search(recalls, assistant, "benchmark", question, fusions, lambda p: p.external_id)
        if number % 200 == 0:
            print(f"{number} of {len(questions)} questions", file=sys.stderr)
    return recalls


def _search(
    recalls: Recalls,
    assistant: BenchmarkAssistant,
    user: str,
    question: Question,
    fusions: Mapping[str, Fusion],
    name_of: Callable[[Any], str],
) -> None:
    signals, near, matching = assistant.signals(question.text, user, depth=max(DEPTHS))
    names = {i: name_of(passage) for i, passage in signals.passages.items()}
    _note(recalls, "dense", question, [names[i] for i in near])
    _note(recalls, "lexical", question, [names[i] for i in matching])
    for name, fusion in fusions.items():
        best = signals.ranked(fusion, keep=max(DEPTHS))
        _note(recalls, name, question, [names[candidate.passage.version_id] for candidate in best])


def _note(recalls: Recalls, way: str, question: Question, found: Sequence[str]) -> None:
    recalls.setdefault(way, []).append([question.recall(found, depth) for depth in DEPTHS])


def joined(parts: Iterable[Recalls]) -> Recalls:
    """The recalls of several parts as those of one."""
    together: Recalls = {}
    for part in parts:
        for way, rows in part.items():
            together.setdefault(way, []).extend(rows)
    return together


def summary(recalls: Recalls, *, against: Sequence[str], seed: int) -> dict[str, Any]:
    """Means, and how far "fused" is above each way of `against`."""
    means = {way: np.mean(rows, axis=0).tolist() for way, rows in recalls.items()}
    gains: dict[str, list[dict[str, float]]] = {}
    for other in against:
        differences = np.array(recalls["fused"]) - np.array(recalls[other])
        gains[other] = []
        for column in differences.T:
            low, high = interval(column, seed=seed)
            gains[other].append({"mean": float(column.mean()), "low": low, "high": high})
    return {"questions": len(recalls["fused"]), "depths": DEPTHS, "recall": means, "gain": gains}


def print_summary(name: str, found: Mapping[str, Any]) -> None:
    """One collection as lines of the table."""
    print(f"\n{name}: {found['questions']} questions")
    for way, means in found["recall"].items():
        print(f"  {way:<28}", "  ".join(f"R@{d} {m:.4f}" for d, m in zip(DEPTHS, means, strict=True)))
    for other, gains in found["gain"].items():
        cells = (
            f"R@{d} {g['mean']:+.4f} [{g['low']:+.4f}, {g['high']:+.4f}]"
            for d, g in zip(DEPTHS, gains, strict=True)
        )
        print(f"  fused - {other:<20}", "  ".join(cells))


# What is run


def measure(
    data: Path, work: Path, only: Sequence[str], *, count: int, seed: int
) -> dict[str, dict[str, Any]]:
    """Every collection asked for, by name."""
    fused = {"fused": fusion_of(Settings())}
    results: dict[str, dict[str, Any]] = {}
    if CONVERSATIONS in only:
        results.update(_measure_conversations(data, work, fused | without_each(), seed=seed))
    for collection in (*TRAINING, *COLLECTIONS, mixed(data)):
        if collection.name in only:
            recalls = _collection(data, work, collection, fused, count=count, seed=seed)
            results[collection.name] = summary(recalls, against=("dense", "lexical"), seed=seed)
    return results


def _measure_conversations(
    data: Path, work: Path, fusions: Mapping[str, Fusion], *, seed: int
) -> dict[str, dict[str, Any]]:
    parts = _conversations(data, work, fusions)
    against = (PLAIN, MIX, "dense", "lexical")
    names = list(parts)
    groups = {
        f"locomo, reported on: {', '.join(names[CHOSEN_ON:])}": names[CHOSEN_ON:],
        f"locomo, chosen on: {', '.join(names[:CHOSEN_ON])}": names[:CHOSEN_ON],
        "locomo, all five (with those chosen on)": names,
    }
    return {
        title: summary(joined(parts[name] for name in group), against=against, seed=seed)
        for title, group in groups.items()
    }


def _conversations(
    data: Path, work: Path, fusions: Mapping[str, Fusion], *, only_first: int | None = None
) -> dict[str, Recalls]:
    assistant = BenchmarkAssistant(work / CONVERSATIONS, work / "vectors")
    try:
        conversations = read_conversations(data)
        turn_of = ingest_conversations(assistant, conversations)
        return {
            c.name: conversation_recalls(assistant, c, turn_of[c.name], fusions)
            for c in conversations[:only_first]
        }
    finally:
        assistant.close()


def _collection(
    data: Path, work: Path, collection: Collection, fusions: Mapping[str, Fusion], *, count: int, seed: int
) -> Recalls:
    assistant = BenchmarkAssistant(work / collection.store, work / "vectors")
    try:
        same_as = ingest_collection(assistant, data, collection)
        questions = document_questions(data / collection.questions, same_as, count=count, seed=seed)
        return collection_recalls(assistant, questions, fusions)
    finally:
        assistant.close()


def without_each() -> dict[str, Fusion]:
    """The settings in use without each thing that the form of a talk tells, and without all three."""
    used = fusion_of(Settings())
    nothing = {"reply_lift": 0.0, "speaker_bonus": 0.0, "time_bonus": 0.0}
    each = {f"fused, {name} 0": replace(used, **{name: 0.0}) for name in nothing}
    return each | {"fused, all three 0": replace(used, **nothing)}


def tried() -> dict[str, Fusion]:
    """The settings that are compared, by what is different from the ones in use."""
    used = fusion_of(Settings())
    steps = {
        "dense_weight": (0.3, 0.4, 0.5, 0.6, 0.7),
        "document_lift": (0.0, 0.1),
        "conversation_lift": (0.0, 0.2, 0.3, 0.4, 0.5),
        "reply_lift": (0.0, 0.5, 0.6, 0.7, 0.8, 0.9),
        "speaker_bonus": (0.0, 0.05, 0.1, 0.15, 0.2, 0.3),
        "time_bonus": (0.0, 0.05, 0.1, 0.15, 0.2),
    }
    return (
        {"fused": used}
        | without_each()
        | {
            f"{name} {value}": replace(used, **{name: value})
            for name, values in steps.items()
            for value in values
        }
    )


def choose(data: Path, work: Path, *, count: int, seed: int) -> dict[str, dict[str, Any]]:
    """All that was tried, on what it may be chosen on."""
    parts = _conversations(data, work, tried(), only_first=CHOSEN_ON)
    results = {f"locomo: {', '.join(parts)}": summary(joined(parts.values()), against=(), seed=seed)}
    for collection in TRAINING:
        recalls = _collection(data, work, collection, tried(), count=count, seed=seed)
        results[collection.name] = summary(recalls, against=(), seed=seed)
    return results


def main() -> None:
    everything = (CONVERSATIONS, *(collection.name for collection in COLLECTIONS), MIXED)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument(
        "--only", nargs="+", default=everything, choices=[*everything, *(c.name for c in TRAINING)]
    )
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.choose:
        results = choose(arguments.data, arguments.work, count=arguments.questions, seed=arguments.seed)
    else:
        results = measure(
            arguments.data, arguments.work, arguments.only, count=arguments.questions, seed=arguments.seed
        )
    if arguments.json:
        print(
            json.dumps({"seed": arguments.seed, "settings": vars(fusion_of(Settings())), "results": results})
        )
        return
    print(f"seed {arguments.seed}, {fusion_of(Settings())}")
    for name, found in results.items():
        print_summary(name, found)


if __name__ == "__main__":
    main()
