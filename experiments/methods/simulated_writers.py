"""Writers of stated quality in place of a chat model: right as often as they are told to be.

    question, what is known of its answer -> right with probability p -> pseudo-document or rewrites

Figures by these are never a model's: every name says that it is simulated. What they get wrong is a pure
function of seed and question, and what is right at one quality is right at every higher one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from agents.base.chat_interfaces import ChatMessage
from agents.base.sentences import sentences
from agents.base.token_budget import estimated_tokens
from assistant.replay.methods.method import Asked
from assistant.replay.metrics.metrics import has_answer
from assistant.replay.streams.datasets import ReplayPassage, ReplayQuestion
from experiments.methods import query2doc, query_rewrite
from experiments.methods.rafe import content_words
from experiments.methods.writers import Written, searched_with


class _Simulated:
    """What writers of stated quality have in common."""

    _what: str  # it is

    def __init__(
        self,
        quality: float,
        seed: int,
        *,
        questions: Iterable[ReplayQuestion],
        passages: Iterable[ReplayPassage],
    ) -> None:
        """quality: p, 0 to 1. Only questions whose gold passages are known are written for."""
        self._quality, self._seed = _checked(quality), seed
        self._known = _Known(questions, passages)

    @property
    def name(self) -> str:
        return f"simulated {self._what}, right {self._quality:g}, seed {self._seed}"


class SimulatedDocuments(_Simulated):
    """Writes a sentence that holds the answer with probability p, else one that answers another question."""

    _what = "writer"

    def write(self, asked: Asked) -> Written:
        """See `Writer`. Tokens are an estimate of what a model would have read and written."""
        question = self._known.question(asked)
        if question is None:
            return Written(())
        if drawn(self._seed, asked.id, "is right") >= self._quality:
            others = self._known.order
            question = others[int(drawn(self._seed, asked.id, "whose") * len(others))]
        return _written((self._known.answering_sentence(question),), query2doc.messages(asked.text))


class SimulatedRewrites(_Simulated):
    """Writes two rewrites of the question's content words.

    With probability p, each for itself, the title of a gold passage stands beside them; else every third of
    them is missing.
    """

    _what = "rewriter"

    def write(self, asked: Asked) -> Written:
        """See `Writer`. Tokens are an estimate of what a model would have read and written."""
        question = self._known.question(asked)
        if question is None:
            return Written(())
        rewrites = (self._rewrite(question, number) for number in range(query_rewrite.REWRITES))
        return _written(tuple(rewrites), query_rewrite.messages(asked.text))

    def _rewrite(self, question: ReplayQuestion, number: int) -> str:
        words = content_words(question.text).split()
        if drawn(self._seed, question.id, f"rewrite {number}") < self._quality:
            return " ".join([self._known.gold(question).title, *words])
        return " ".join(word for place, word in enumerate(words) if place % 3 != number) or question.text


class _Known:
    """What is known of the questions' answers."""

    def __init__(self, questions: Iterable[ReplayQuestion], passages: Iterable[ReplayPassage]) -> None:
        self._passages = {passage.id: passage for passage in passages}
        self._questions = {question.id: question for question in questions if self._has_gold(question)}
        self.order = sorted(self._questions.values(), key=lambda question: question.id)

    def _has_gold(self, question: ReplayQuestion) -> bool:
        return bool(question.gold) and any(name in self._passages for name in question.gold or ())

    def question(self, asked: Asked) -> ReplayQuestion | None:
        """With its gold; None where that is not known."""
        return self._questions.get(asked.id)

    def gold(self, question: ReplayQuestion) -> ReplayPassage:
        """The first of its gold passages, by their ids."""
        assert question.gold, "only questions with gold are known"
        return next(self._passages[name] for name in sorted(question.gold) if name in self._passages)

    def answering_sentence(self, question: ReplayQuestion) -> str:
        """The first sentence of that passage that holds an answer, or its first one."""
        texts = [sentence.text for sentence in sentences(self.gold(question).text)]
        return next((text for text in texts if has_answer(text, question.answers)), texts[0] if texts else "")


def drawn(seed: int, question_id: str, what: str) -> float:
    """Uniform from 0 to 1, below 1; a function of these three, the same on every machine."""
    digest = hashlib.blake2b(f"{seed}\0{question_id}\0{what}".encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


def _written(texts: Sequence[str], messages: Sequence[ChatMessage]) -> Written:
    kept = tuple(text for text in map(searched_with, texts) if text)
    read = [message.content for message in messages]
    return Written(kept, sum(map(estimated_tokens, [*read, *kept])))


def _checked(quality: float) -> float:
    if not 0 <= quality <= 1:
        raise ValueError(f"the quality is {quality}, but must be 0 to 1")
    return quality
