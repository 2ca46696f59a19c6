"""Passages, an encoder, a judge, a chat model and a space with fixed answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from agents.base.chat_interfaces import ContinuationScore, Piece, ReplyRequest, Source
from agents.base.interfaces import (
    AnswerSpan,
    Candidate,
    Judged,
    Label,
    ReadAnswer,
    Reading,
    Relation,
    Sorting,
    Vectors,
    Verdict,
    Verification,
)
from stores.base.passages import SHARED, Passage


def passage(
    version_id: int, text: str = "", *, title: str = "", kind: str = "document", space: str = SHARED
) -> Passage:
    return Passage(
        version_id=version_id,
        passage_id=version_id,
        space=space,
        kind=kind,
        title=title,
        text=text or f"Passage {version_id}.",
        document_id=None,
        position=0,
        source="",
        external_id="",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def candidate(rank: int, text: str = "", *, dense: float = 0.5, kind: str = "document") -> Candidate:
    return Candidate(passage(rank, text, kind=kind), dense, 1.0, 0.0, 1 / rank, rank)


def source(number: int, text: str, *, kind: str = "document", space: str = "") -> Source:
    """Shared when it is a document, of somebody's own when it was told."""
    space = space or (SHARED if kind == "document" else "user:1")
    return Source(number, passage(number, text, kind=kind, space=space))


class FixedEncoder:
    """Knows the vectors of some texts; every other text is perpendicular to all of them."""

    version = "fixed-1"
    dimension = 4

    def __init__(self, known: Mapping[str, Sequence[float]]) -> None:
        self._known = known

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return np.array([self._known.get(text, (0, 0, 0, 1)) for text in texts], dtype=np.float32).reshape(
            -1, 4
        )

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self.encode_queries(texts)


class FixedJudge:
    """Says what it was told to say of each passage, and remembers how it was asked."""

    name = "fixed-judge"

    def __init__(self, labels: Mapping[int, Label | None], *, tokens: int = 10) -> None:
        self._labels = labels
        self._tokens = tokens
        self.calls: list[list[int]] = []

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        ids = [c.passage.version_id for c in candidates]
        self.calls.append(ids)
        labels = [self._labels.get(i, "irrelevant") for i in ids]
        return Judged(
            tuple(None if label is None else Verdict(label, 0.5) for label in labels),
            self._tokens * len(ids),
            1,
        )


class FakeChat:
    """A chat model that replies by a function of the request, and counts a token for each word.

    context_tokens: what it can read and write at once; None: no limit.
    """

    can_score = False

    def __init__(
        self,
        reply: Callable[[ReplyRequest], AsyncIterator[Piece]],
        *,
        name: str = "fake",
        context_tokens: int | None = None,
    ) -> None:
        self._reply = reply
        self.name = name
        self.context_tokens = context_tokens
        self.requests: list[ReplyRequest] = []

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def stream(self, request: ReplyRequest) -> AsyncIterator[Piece]:
        self.requests.append(request)
        return self._reply(request)

    async def structured(self, messages: object, schema: object) -> dict[str, object]:
        raise AssertionError("not asked for")

    async def choose(self, messages: object, choices: object) -> str:
        raise AssertionError("not asked for")

    async def log_probability(self, messages: object, continuation: object) -> ContinuationScore:
        raise AssertionError("not asked for")

    async def aclose(self) -> None:
        pass


WORLD, PERSONAL = Sorting(1.0, 0.0, 0.0, 0.0), Sorting(0.0, 1.0, 0.0, 0.0)
ASKS, NOTHING = Sorting(0.0, 0.0, 1.0, 0.0), Sorting(0.0, 0.0, 0.0, 1.0)
SAME, REPLACES, ENDS, ADDS, UNRELATED = (Relation(*(float(i == n) for i in range(5))) for n in range(5))
SAYS_NOTHING = Verification(0.05, 0.05, 0.9)


class FixedReader:
    """Finds some answers wherever they stand, each with a probability; all else answers nothing.

    What it was not told of, it takes for a statement of the user, or a question by its mark; for unrelated;
    for saying nothing of a claim.
    """

    name = "fixed reader"

    def __init__(
        self,
        answers: Mapping[str, float] | None = None,
        *,
        sorting: Mapping[str, Sorting] | None = None,
        related: Mapping[tuple[str, str], Relation] | None = None,
        verified: Mapping[tuple[str, str], Verification] | None = None,
    ) -> None:
        self._answers = answers or {}
        self._sorting, self._related, self._verified = sorting or {}, related or {}, verified or {}
        self.read_passages: list[str] = []  # all that were read, in order

    def read(self, question: str, passages: Sequence[str], *, best: int = 3) -> list[Reading]:
        self.read_passages += passages
        return [self._reading(passage, best) for passage in passages]

    def judge(self, question: str, passages: Sequence[str]) -> list[Verdict]:
        return [reading.verdict for reading in self.read(question, passages)]

    def answer(self, question: str, passages: Sequence[str], *, best: int = 3) -> list[ReadAnswer]:
        return [reading.answer for reading in self.read(question, passages, best=best)]

    def answer_in(self, question: str, passage: str, places: Sequence[tuple[int, int]]) -> list[AnswerSpan]:
        (answer,) = self.answer(question, [passage])
        none = [AnswerSpan(start, start, "", 0.0) for start, _ in places]
        return [
            next((span for span in answer.spans if start <= span.start and span.end <= end), empty)
            for (start, end), empty in zip(places, none, strict=True)
        ]

    def answer_log_probability(self, question: str, passage: str, answer: str) -> float:
        raise NotImplementedError

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verification]:
        return [self._verified.get(pair, SAYS_NOTHING) for pair in pairs]

    def sort(self, sentences: Sequence[str]) -> list[Sorting]:
        return [self._sorting.get(text, ASKS if text.endswith("?") else PERSONAL) for text in sentences]

    def relate(self, pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        return [self._related.get(pair, UNRELATED) for pair in pairs]

    def _reading(self, passage: str, best: int) -> Reading:
        places = [(text, passage.find(text), p) for text, p in self._answers.items() if text in passage]
        spans = [AnswerSpan(start, start + len(text), text, p) for text, start, p in places]
        ranked = sorted(spans, key=lambda span: -span.probability)
        somewhere = sum(span.probability for span in spans)
        verdict = Verdict("answer" if somewhere >= 0.5 else "irrelevant", somewhere)
        return Reading(verdict, ReadAnswer(tuple(ranked[:best]), 1 - somewhere), tokens=len(passage.split()))
