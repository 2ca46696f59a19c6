"""Fits the weights of the relevance model: python -m training.relevance DATA --work DIR [--choose]

    questions -> the product's search and reader -> features of each candidate -> listwise fit -> weights

Messages learn from the training part of data/everyday, six conversations in one memory; documents, which
gained nothing and keep the fixed mix, from those of data/documents and doc2dial, which lies in DATA. --choose
prints what was tried, on the dev parts; `--test locomo squad` reports other sets of SETS as well. DIR keeps
the stores and features of each set, which are made once.

It minimises the cross-entropy of the right candidates among all of their question, plus a penalty on the
squared distance from the fixed mix at the best scale: with nothing to learn from, the order is that of the
mix. Afterwards judged and found weigh 1 together, as in the mix, so that messages and documents can be
compared. A feature that does not vary in the training part weighs 0.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from agents.retrieval.feature_names import NAMES
from agents.retrieval.relevance import Relevance, Weights, features, fixed_mix, is_told
from assistant.learning.held_out.bootstrap import interval
from assistant.replay.runs.replay_assistant import FILLED_AT
from assistant.replay.storage.data_set_store import Names, filled
from assistant.replay.streams.datasets import (
    DEFAULT_USER,
    ReplayPassage,
    ReplayQuestion,
    ReplaySet,
    read_set,
    replay_passage,
)
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.recall_collections import read_longmemeval
from training.examples import documents, everyday
from training.examples.example import Part

Floats = npt.NDArray[np.float64]

TOGETHER = 6  # conversations in one memory
PLACES = ("judged_first", "found_first", "meaning_first", "words_first")
SIGNALS = ("judged", "found", "judged_surely", "unjudged", "meaning", "words")
# In `all` alone: what six conversations in one memory tell of sessions is due to how they were put together.
TRIED: Mapping[str, tuple[str, ...]] = {
    "mix": ("judged", "found"),
    "signals": SIGNALS,
    "signals, places": SIGNALS + PLACES,
    "signals, places, form": (*SIGNALS, *PLACES, "shared_words", "length"),
    "all": NAMES,
}
PENALTIES = (1e-3, 3e-3, 1e-2, 3e-2)
CHOSEN, PENALTY = "signals, places", 1e-2  # the nearest to the mix within a standard error of the best


@dataclass(frozen=True)
class Ranking:
    """One question's candidates, in the order found."""

    rows: Floats  # (N, D): φ
    told: npt.NDArray[np.bool_]  # (N,): scored by the weights of messages
    asks: npt.NDArray[np.bool_]  # (N,): the judge's 0, which goes last
    evidence: npt.NDArray[np.int64]  # (N,): the number of the evidence that it is, -1: none
    parts: int  # evidence there is

    def order(self, relevance: Relevance) -> npt.NDArray[np.int64]:
        """Their places, best first; as `Relevance.placed` has them."""
        messages, others = (
            self.rows @ [weights.named.get(name, 0.0) for name in NAMES] + weights.bias
            for weights in (relevance.messages, relevance.documents)
        )
        scores = np.where(self.told, messages, others)
        return np.lexsort((np.arange(len(scores)), -scores, self.asks))

    def recall(self, relevance: Relevance, depth: int) -> float:
        """The share of its evidence among the first `depth`."""
        first = self.evidence[self.order(relevance)[:depth]]
        return len({int(number) for number in first if number >= 0}) / self.parts


def of_everyday(part: Part, *, most: int, beside: ReplaySet | None = None) -> ReplaySet:
    """Everyday conversations, a user for each six, and their questions; follow-ups as they stand alone.

    most: users. beside: documents that all of them see; their questions are asked by the users in turn.
    """
    talks = list(everyday.undated(part))
    if part == "train":
        random.Random(5).shuffle(talks)  # of all hands alike
    users = [talks[i : i + TOGETHER] for i in range(0, len(talks), TOGETHER)][:most]
    passages: list[ReplayPassage] = []
    questions: list[ReplayQuestion] = []
    for number, group in enumerate(users):
        told = sorted(
            (told.day, session, place, told.text, f"{talk.id}/{told.id or f'-{place}'}")
            for session, talk in enumerate(group)
            for place, (told,) in enumerate(talk.messages)
        )
        user = f"user {number}"
        passages += [ReplayPassage(name, "", text, user, session) for _, session, _, text, name in told]
        questions += [
            ReplayQuestion(
                f"{talk.id}?{i}", q.standalone or q.text, (), frozenset({f"{talk.id}/{q.answer}"}), user
            )
            for talk in group
            for i, q in enumerate(talk.questions)
            if q.answer
        ]
    if beside is not None:
        passages += beside.passages
        questions += [
            replace(q, user=f"user {number % len(users)}") for number, q in enumerate(beside.questions)
        ]
    return ReplaySet("everyday", tuple(passages), tuple(questions))


def of_documents(part: Part, *, most: int | None = None) -> ReplaySet:
    """data/documents: the passages of a part, and its questions that stand alone and have an answer."""
    split = {"train": "train", "calibration": "dev", "test": "test"}[part]
    passages = tuple(
        ReplayPassage(p["id"], " > ".join(filter(None, (p["title"], p["heading"]))), p["text"])
        for p in documents.passages(split).values()
    )
    asked = [q for q in documents.questions(part) if q["passage"] and q["kind"] != "followup"]
    questions = [ReplayQuestion(q["id"], q["q"], (), frozenset({q["passage"]})) for q in asked]
    return _sample(ReplaySet("documents", passages, tuple(questions)), most)


def of_doc2dial(data: Path, part: str, *, most: int) -> ReplaySet:
    """Its passages, and what is asked of them as it was typed."""
    passages = tuple(replay_passage(record) for record in _records(data / "doc2dial/passages.jsonl.gz"))
    questions = tuple(
        ReplayQuestion(q["id"], q["question"], (), frozenset(q["passage_ids"]))
        for q in _records(data / f"doc2dial/{part}.jsonl.gz")
    )
    return _sample(ReplaySet("doc2dial", passages, questions), most)


def of_longmemeval(data: Path) -> ReplaySet:
    """What its users said, as one memory, and the questions that some of it answers."""
    (found,) = read_longmemeval(data)
    return ReplaySet(
        found.name,
        tuple(ReplayPassage(turn.name, "", turn.text, found.name, turn.session) for turn in found.turns),
        tuple(
            ReplayQuestion(str(number), asked.text, (), frozenset().union(*asked.right), found.name)
            for number, asked in enumerate(found.questions)
        ),
    )


def of_all(data: Path, name: str, *, most: int | None = None) -> ReplaySet:
    """A set of documents with questions of all its parts."""
    parts = [read_set(data, name, split) for split in ("train", "dev", "test")]
    return _sample(replace(parts[0], questions=tuple(q for part in parts for q in part.questions)), most)


def _records(file: Path) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _sample(read: ReplaySet, most: int | None, *, among: int | None = None) -> ReplaySet:
    """Some of the questions that something answers, drawn with a seed. among: passages beside theirs."""
    rng = random.Random(1)
    questions = [q for q in read.questions if q.gold]
    if most is not None:
        questions = rng.sample(questions, min(most, len(questions)))
    passages = read.passages
    if among is not None:
        wanted = {name for q in questions for name in q.gold or ()}
        others = [p for p in passages if p.id not in wanted]
        kept = wanted | {p.id for p in rng.sample(others, min(among, len(others)))}
        passages = tuple(p for p in passages if p.id in kept)
    return replace(read, passages=passages, questions=tuple(questions))


SETS: Mapping[str, Callable[[Path], ReplaySet]] = {
    "everyday train": lambda data: of_everyday("train", most=30),
    "documents train": lambda data: of_documents("train", most=300),
    "doc2dial train": lambda data: of_doc2dial(data, "train", most=250),
    "everyday dev": lambda data: of_everyday("calibration", most=99),
    "both dev": lambda data: of_everyday("calibration", most=99, beside=of_documents("calibration", most=80)),
    "documents dev": lambda data: of_documents("calibration"),
    "everyday test": lambda data: of_everyday("test", most=99),
    "documents test": lambda data: of_documents("test"),
    "doc2dial test": lambda data: of_doc2dial(data, "test", most=160),
    "squad": lambda data: _sample(read_set(data, "squad", "dev"), 200, among=3000),
    "locomo": lambda data: _sample(read_set(data, "locomo", "test"), None),
    "longmemeval": of_longmemeval,
    "nq": lambda data: _sample(read_set(data, "nq", "test"), 200),
    "friendsqa": lambda data: of_all(data, "friendsqa"),
    "covidqa": lambda data: of_all(data, "covidqa", most=700),
}
OF_TOLD = ("everyday train",)
OF_DOCUMENTS = ("documents train", "doc2dial train")
CHOSEN_ON = ("everyday dev", "documents dev", "both dev")
KNOWN_OF = ("everyday dev", "documents dev")
MIX = fixed_mix(0.5)


def rankings(name: str, data: Path, work: Path) -> list[Ranking]:
    """The questions of one of SETS, searched and judged as in a turn; kept in a file of `work`."""
    kept = work / f"{name}.npz"
    if not kept.exists():
        read = SETS[name](data)
        store = filled(work / f"{name} store", read.passages, assistant_at, clock=lambda: FILLED_AT)
        assistant = assistant_at(store)
        try:
            found = _searched(assistant, Names.of_store(store), read.questions)
        finally:
            assistant.close()
        columns = zip(*((r.rows, r.told, r.asks, r.evidence) for r in found), strict=True)
        rows, told, asks, evidence = map(np.concatenate, columns)
        counts, parts = [len(r.told) for r in found], [r.parts for r in found]
        np.savez_compressed(
            kept, rows=rows, told=told, asks=asks, evidence=evidence, counts=counts, parts=parts
        )
    with np.load(kept) as held:
        ends = np.cumsum(held["counts"])[:-1]
        cut = (np.split(held[column], ends) for column in ("rows", "told", "asks", "evidence"))
        each = zip(*cut, held["parts"].tolist(), strict=True)
        return [Ranking(rows, told, asks, evidence, parts) for rows, told, asks, evidence, parts in each]


def assistant_at(folder: Path) -> Assistant:
    """The product over a store, with the settings that it comes with."""
    return Assistant(Settings(), find_locations(os.environ, data=str(folder)), offline=True)


def _searched(assistant: Assistant, names: Names, questions: Sequence[ReplayQuestion]) -> list[Ranking]:
    reranker = assistant.models.reranker
    found = []
    for number, question in enumerate(map(names.as_stored, questions), start=1):
        space = assistant.search.spaces.of(assistant.stores.journal.user_id(question.user))
        candidates = assistant.search.searching.retriever.retrieve(question.text, space).candidates
        verdicts = {id(j.candidate): j.verdict for j in reranker.rerank(question.text, candidates).judgements}
        found.append(
            Ranking(
                np.array(features(question.text, candidates, verdicts)).reshape(-1, len(NAMES)),
                np.array([is_told(c) for c in candidates], bool),
                np.array([id(c) in verdicts and verdicts[id(c)].score <= 0 for c in candidates], bool),
                _evidence(question, [names.of(c.passage) for c in candidates]),
                1 if question.user == DEFAULT_USER else len(question.gold or ()),
            )
        )
        if number % 100 == 0:
            print(f"  {number} of {len(questions)} questions", flush=True)
    return found


def _evidence(question: ReplayQuestion, names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Of documents any passage of the gold ones is all that is wanted; of what was told each is a part."""
    gold = sorted(question.gold or ())
    number = {name: 0 if question.user == DEFAULT_USER else i for i, name in enumerate(gold)}
    return np.array([number.get(name, -1) for name in names], np.int64)


def fitted(sets: Sequence[Sequence[Ranking]], names: Sequence[str], penalty: float) -> Weights:
    """Weights of one kind of passage, at the scale of the fixed mix; each set counts alike."""
    columns = [NAMES.index(name) for name in names]
    known = [(r, 1 / len(some)) for some in sets for r in some if (r.evidence >= 0).any()]
    longest = max(len(r.told) for r, _ in known)
    rows = torch.zeros(len(known), longest, len(columns), dtype=torch.float64)
    there = torch.zeros(len(known), longest, dtype=torch.bool)
    right = torch.zeros(len(known), longest, dtype=torch.float64)
    for i, (r, _) in enumerate(known):
        is_right, n = r.evidence >= 0, len(r.told)
        rows[i, :n], there[i, :n] = torch.tensor(r.rows[:, columns]), torch.tensor(~r.asks | is_right)
        right[i, :n] = torch.tensor(is_right / is_right.sum())
    share = torch.tensor([weight for _, weight in known], dtype=torch.float64) / len(sets)
    mix = torch.tensor([0.5 * (name in TRIED["mix"]) for name in names], dtype=torch.float64)
    varies = _varies(rows, there).double()
    moved = torch.zeros(len(columns), dtype=torch.float64, requires_grad=True)
    scale = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)  # its logarithm
    optimizer = torch.optim.LBFGS([moved, scale], max_iter=500, line_search_fn="strong_wolfe")

    def weights() -> torch.Tensor:
        return scale.exp() * mix + moved * varies

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        scores = (rows @ weights()).masked_fill(~there, -1e9)
        likely = (right * scores.log_softmax(1)).sum(1)
        value = -(share * likely).sum() + penalty * moved.square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    found = dict(zip(names, weights().tolist(), strict=True))
    unit = found["judged"] + found["found"]  # 1 in the mix
    return Weights({name: round(weight / unit, 4) for name, weight in found.items() if weight})


def _varies(rows: torch.Tensor, of: torch.Tensor) -> torch.Tensor:
    """(D,) whether a feature differs among the candidates of any question. rows: (B, N, D). of: (B, N)."""
    high = rows.masked_fill(~of[..., None], -9).amax(1)
    low = rows.masked_fill(~of[..., None], 9).amin(1)
    return (high - low > 1e-9).any(0)


def report(name: str, found: Sequence[Ranking], relevance: Relevance) -> str:
    """A row: recall by the fixed mix and by these weights, and the paired difference."""
    cells = []
    for depth in (1, 5, 10):
        before, after = (np.array([r.recall(each, depth) for r in found]) for each in (MIX, relevance))
        low, high = interval(after - before, seed=1)
        cells.append(f"{before.mean():.4f} -> {after.mean():.4f} [{low:+.3f}, {high:+.3f}]")
    return f"| {name} | {len(found)} | {' | '.join(cells)} |"


HEADING = "| set | questions | R@1 | R@5 | R@10 |\n| --- | ---: | ---: | ---: | ---: |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--choose", action="store_true", help="print what was tried, on the dev parts")
    parser.add_argument("--test", nargs="+", default=(), choices=SETS, help="report these sets as well")
    parser.add_argument("--out", type=Path, help="write the weights here")
    parser.add_argument("--known", type=Path, help="write the questions that no candidate may lose on here")
    told = parser.parse_args()
    told.work.mkdir(parents=True, exist_ok=True)
    of = partial(rankings, data=told.data, work=told.work)
    if told.choose:
        choose(of)
        return
    if told.known is not None:
        write_known(told.known, [ranking for name in KNOWN_OF for ranking in of(name)])
    relevance = Relevance(fitted([of(name) for name in OF_TOLD], TRIED[CHOSEN], PENALTY), MIX.documents)
    if told.out is not None:
        told.out.write_text(json.dumps(relevance.as_record(), indent=1) + "\n", encoding="utf-8")
    print(json.dumps(relevance.as_record()))
    print(HEADING)
    for name in (*CHOSEN_ON, *told.test):
        for part, found in _parts(name, of(name)).items():
            print(report(part, found, relevance), flush=True)


def write_known(file: Path, found: Sequence[Ranking]) -> None:
    """As assistant/learning/held_out/orders.py reads it: those with an answer among their candidates."""
    known = [r for r in found if (r.evidence >= 0).any()]
    np.savez_compressed(
        file,
        rows=np.concatenate([r.rows for r in known]).astype(np.float16),
        told=np.concatenate([r.told for r in known]),
        asks=np.concatenate([r.asks for r in known]),
        right=np.concatenate([r.evidence >= 0 for r in known]),
        counts=[len(r.told) for r in known],
    )


def _parts(name: str, found: Sequence[Ranking]) -> dict[str, list[Ranking]]:
    """Of conversations beside documents apart what either answers, as far as it was found."""
    if not name.startswith("both"):
        return {name: list(found)}
    answered = [(r, bool(r.told[r.evidence >= 0].any())) for r in found if (r.evidence >= 0).any()]
    kinds = {f"{name}, told": True, f"{name}, documents": False}
    return {part: [r for r, is_told_one in answered if is_told_one == kind] for part, kind in kinds.items()}


def choose(of: Callable[[str], list[Ranking]]) -> None:
    """Prints what was tried: messages on what was told, documents on theirs, each on its dev part."""
    for kind, learned, measured in (
        ("told", OF_TOLD, "everyday dev"),
        ("documents", OF_DOCUMENTS, "documents dev"),
    ):
        sets, dev = [of(name) for name in learned], of(measured)
        print(f"\n{HEADING}")
        for (tried, names), penalty in product(TRIED.items(), PENALTIES):
            weights = fitted(sets, names, penalty)
            relevance = (
                Relevance(weights, MIX.documents) if kind == "told" else Relevance(MIX.messages, weights)
            )
            print(report(f"{measured}: {tried}, penalty {penalty:g}", dev, relevance), flush=True)


if __name__ == "__main__":
    main()
