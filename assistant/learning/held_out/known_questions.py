"""Questions with known answers, which come with Vouch: what was found for them by the search it comes with.

    a judge of the first ten -> how much of what it calls an answer is one, and how many answers it finds
    an encoder -> the order of all forty -> MRR, which a candidate must not lose

Half of them ask what a user told, of data/everyday, and half what documents hold, of data/documents; drawn
from their dev parts with a seed (training/known_questions.py). What comes with Vouch was not trained on them,
but some of it was calibrated on dev parts.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from agents.base.fusion import mixed
from agents.base.interfaces import Candidate, Encoder, Judge, Vectors
from assistant.learning.held_out.bootstrap import Gain, Share, share
from assistant.learning.held_out.ranking import reciprocal_rank
from stores.base.passages import SHARED, Passage, own_space, searchable_text
from stores.learning.lessons import DOCUMENTS, TOLD

FILE = Path(__file__).parents[3] / "agents/models/weights/known/questions.json.gz"
LEAST_PRECISION = 0.7  # of what is learned from
_FEWEST = 20  # answers that a judge gives; of fewer nothing is known
_FROM = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)  # scores
_JUDGED = 10  # of the first
_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)  # nothing is ordered by when it was told


@dataclass(frozen=True)
class KnownQuestion:
    """A question with what was found for it, best first; one at least answers it."""

    text: str
    kind: str
    candidates: tuple[Candidate, ...]  # their version ids are places among all known passages
    right: frozenset[int]  # the version ids of those that answer it


@dataclass(frozen=True)
class Probe:
    """How far the word of a judge can be taken, on questions of one kind."""

    precision: Share | None  # of what it calls an answer; None where it calls nothing one
    recall: Share  # of the answers that it was shown
    from_score: float | None  # the lowest from which 7 of 10 that it calls answers are; None: from none


@cache
def known_questions(file: Path = FILE) -> tuple[KnownQuestion, ...]:
    """All of them; see the module."""
    read = json.loads(gzip.decompress(file.read_bytes()))
    passages = [_passage(place, *each) for place, each in enumerate(read["passages"])]
    return tuple(
        KnownQuestion(
            each["question"],
            DOCUMENTS if passages[each["right"][0]].is_shared else TOLD,
            tuple(
                Candidate(passages[place], dense, lexical, lift, score, rank)
                for rank, (place, dense, lexical, lift, score) in enumerate(each["found"], start=1)
            ),
            frozenset(each["right"]),
        )
        for each in read["questions"]
    )


def probe(judge: Judge, questions: Sequence[KnownQuestion], *, seed: int = 0) -> Probe:
    """What a judge is worth on these; at least one. A passage of which it says nothing is no answer to it."""
    called: list[dict[int, float]] = []  # by question: the score of each
    shown: list[frozenset[int]] = []  # the answers among those that it saw
    for question in questions:
        some = question.candidates[:_JUDGED]
        verdicts = zip(some, judge.judge(question.text, some).verdicts, strict=True)
        shown.append(question.right & {each.passage.version_id for each in some})
        called.append(
            {c.passage.version_id: v.score for c, v in verdicts if v is not None and v.label == "answer"}
        )

    def precision(least: float) -> tuple[int, Share | None]:
        sure = [{i for i, score in each.items() if score >= least} for each in called]
        hits = [len(each & right) for each, right in zip(sure, shown, strict=True)]
        return sum(map(len, sure)), share(hits, [*map(len, sure)], seed=seed)

    found = [len(right.intersection(each)) for each, right in zip(called, shown, strict=True)]
    recall = share(found, [*map(len, shown)], seed=seed)
    if recall is None:
        raise ValueError("no question has an answer among what is judged")
    by_score = {least: precision(least) for least in _FROM}
    of_all, right = by_score[0.0]
    from_score = next(
        (e for e, (said, of) in by_score.items() if of and said >= _FEWEST and _holds(of)), None
    )
    return Probe(right, recall, from_score if of_all >= _FEWEST else 0.0)


def _holds(precision: Share) -> bool:
    return precision.value >= LEAST_PRECISION


def probes_of(judge: Judge) -> dict[str, Probe]:
    """By kind, on all known questions."""
    every = known_questions()
    return {kind: probe(judge, [each for each in every if each.kind == kind]) for kind in (DOCUMENTS, TOLD)}


def mrr_by(queries: Encoder, passages: Vectors, *, dense_weight: float) -> float:
    """The mean reciprocal rank of the first that answers, 0 to 1, with a question's meaning by `queries`.

    passages: (N, D), by `vectors_of`, of the encoder whose vectors `queries` looks for. Words count as when
    they were found, and so does what stood beside a passage.
    """
    asked = known_questions()
    vectors = queries.encode_queries([each.text for each in asked])
    total = 0.0
    for question, vector in zip(asked, vectors, strict=True):
        found = {each.passage.version_id: each for each in question.candidates}
        dense = dict(zip(found, (passages[[*found]] @ vector).tolist(), strict=True))
        score = mixed(dense, {i: each.lexical for i, each in found.items()}, dense_weight=dense_weight)
        order = sorted(found, key=lambda i: -(score[i] + found[i].lift))
        total += reciprocal_rank(order, question.right)
    return total / len(asked)


def gain_on_known(candidate: Encoder, *others: Encoder, dense_weight: float) -> Gain:
    """What a candidate gains in MRR over the best of others; surely so, as the questions stay the same."""
    vectors: dict[str, Vectors] = {}

    def mrr(encoder: Encoder) -> float:
        if encoder.version not in vectors:  # of what encodes passages
            vectors[encoder.version] = vectors_of(encoder)
        return mrr_by(encoder, vectors[encoder.version], dense_weight=dense_weight)

    gained = mrr(candidate) - max(map(mrr, others))
    return Gain(gained, gained, gained, len(known_questions()))


def vectors_of(encoder: Encoder) -> Vectors:
    """(N, D), unit length: all known passages, by their version ids."""
    every = {each.passage.version_id: each.passage for q in known_questions() for each in q.candidates}
    return encoder.encode_passages(
        [searchable_text(every[i].title, every[i].text) for i in range(len(every))]
    )


def as_record(probes: Mapping[str, Probe]) -> dict[str, Any]:
    """As JSON keeps them."""
    return {
        kind: {
            "precision": each.precision and [*each.precision],
            "recall": [*each.recall],
            "from_score": each.from_score,
        }
        for kind, each in probes.items()
    }


def from_record(record: Mapping[str, Any]) -> dict[str, Probe]:
    """See `as_record`. Raises LookupError, TypeError or ValueError for what is no such record."""
    return {
        kind: Probe(
            None if record[kind]["precision"] is None else Share(*map(float, record[kind]["precision"])),
            Share(*map(float, record[kind]["recall"])),
            None if (least := record[kind]["from_score"]) is None else float(least),
        )
        for kind in (DOCUMENTS, TOLD)
    }


def _passage(place: int, kind: str, title: str, text: str) -> Passage:
    space = SHARED if kind == "document" else own_space(1)
    return Passage(place, place, space, kind, title, text, None, place, "", "", _ANY_DAY)
