"""A rewriter that learns from what its rewrites bring, at a small scale: REINFORCE over templates.

    question -> policy -> template -> rewrite -> search -> judged -> reward -> policy

    pi(a | x) = softmax_a(theta_a · x)        theta += rate · mean over questions of A · grad log pi(a | x)

x says what kind of question it is, a is a template, and A is the reward less its mean, over its spread. The
reward is the mean score that the judge gave to the first passages found. The source trains a language
model by PPO on a reranker's scores (arXiv:2405.14431); here templates of our own stand in its place.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from assistant.replay.methods.method import Asked, Found, JudgedQuestion, Method, Search
from experiments.methods.searching import ranked_by

Template = Callable[[str], str]
Numbers = npt.NDArray[np.float64]

KINDS = ("who", "when", "where", "what", "which", "how", "why")  # any other question is of a kind of its own
REWARDED = 5  # passages, the first found, whose scores are the reward
_ASKING = re.compile(
    r"\b(?:who|whom|whose|when|where|what|which|how|why|many|much"
    r"|do|does|did|is|are|was|were|can|could|has|have|had)\b",
    re.IGNORECASE,
)
_SOUGHT = {
    "who": "person name",
    "when": "date year",
    "where": "place location",
    "how": "number amount",
    "why": "because reason",
}


def as_asked(question: str) -> str:
    """The question itself."""
    return question


def content_words(question: str) -> str:
    """Without the words that only ask, and without the question mark."""
    return " ".join(_ASKING.sub(" ", question.replace("?", " ")).split())


def names_first(question: str) -> str:
    """What is written with a capital letter or a digit, beyond the first word, before the question."""
    named = [word for word in re.findall(r"[\w'-]+", question)[1:] if not word.islower()]
    return " ".join([*named, question])


def with_sought(question: str) -> str:
    """The question with words for the kind of thing that is asked for."""
    return " ".join([question, _SOUGHT.get(kind_of(question), "")]).rstrip()


def as_statement(question: str) -> str:
    """The beginning of a passage that would answer."""
    return f"This is about {content_words(question)}."


TEMPLATES: Mapping[str, Template] = {
    "as asked": as_asked,
    "content words": content_words,
    "names first": names_first,
    "with what is sought": with_sought,
    "as a statement": as_statement,
}


def kind_of(question: str) -> str:
    """The first of `KINDS` in a question; empty where there is none."""
    words = re.findall(r"\w+", question.casefold())
    return next((word for word in words if word in KINDS), "")


class TemplatePolicy:
    """How probable each template is for a question: a softmax over linear scores, learned by REINFORCE."""

    def __init__(self, templates: int, *, learning_rate: float) -> None:
        self._rate = learning_rate
        self.weights: Numbers = np.zeros((templates, 1 + len(KINDS)))  # of every question, then of each kind

    def probabilities(self, question: str) -> Numbers:
        """(templates,), together 1."""
        scores = self.weights @ _features(question)
        raised = np.exp(scores - scores.max())
        probabilities: Numbers = raised / raised.sum()
        return probabilities

    def learn(self, taken: Sequence[tuple[str, int]], rewards: Sequence[float]) -> None:
        """One step. taken: questions with the template that each was given by the policy as it is."""
        if len(taken) < 2:
            return  # a reward by itself is neither good nor bad
        values = np.asarray(rewards, dtype=np.float64)
        advantages = (values - values.mean()) / max(float(values.std()), 1e-6)
        step = np.zeros_like(self.weights)
        for (question, action), advantage in zip(taken, advantages, strict=True):
            toward = -self.probabilities(question)
            toward[action] += 1.0  # the gradient of log pi by the scores
            step += advantage * np.outer(toward, _features(question))
        self.weights += self._rate * step / len(taken)


class Rafe(Method):
    """Searches with one template's rewrite, drawn by the policy."""

    def __init__(
        self, *, seed: int, templates: Mapping[str, Template] = TEMPLATES, learning_rate: float = 4.0
    ) -> None:
        self._seed = seed
        self._names = tuple(templates)
        self._templates = tuple(templates.values())
        self.policy = TemplatePolicy(len(templates), learning_rate=learning_rate)
        self._taken: dict[str, int] = {}  # template by question, until the policy has learned from it

    def retrieve(self, question: Asked, search: Search) -> Found:
        """See `Method`. What is drawn is a function of seed, question and what was learned before."""
        action = self._drawn(question)
        self._taken[question.id] = action
        rewrite = self._templates[action](question.text) or question.text
        (vector,) = search.encoder.encode_queries([rewrite])
        ranked = ranked_by(search, rewrite, vector, question)
        return Found(ranked.fused, ranked.dense, vector)

    def learn(self, judged: Sequence[JudgedQuestion]) -> Mapping[str, Any]:
        """One step of the policy; questions without a judgement count for nothing."""
        known = [(each, self._taken.pop(each.asked.id, None)) for each in judged]
        told = [(each, action) for each, action in known if action is not None and each.judgements]
        self.policy.learn(
            [(each.asked.text, action) for each, action in told], [reward(each) for each, _ in told]
        )
        return {}

    def preferences(self, question: str) -> dict[str, float]:
        """How probable each template is for a question, by its name."""
        return dict(zip(self._names, self.policy.probabilities(question).tolist(), strict=True))

    def _drawn(self, question: Asked) -> int:
        digest = hashlib.blake2b(f"{self._seed}\0{question.id}".encode(), digest_size=6).digest()
        drawn = int.from_bytes(digest, "big") / 2**48
        upto = np.cumsum(self.policy.probabilities(question.text))
        return min(int(np.searchsorted(upto, drawn, side="right")), len(self._templates) - 1)


def reward(judged: JudgedQuestion) -> float:
    """The mean score of the first `REWARDED` passages that were judged, 0 to 1."""
    first = sorted(judged.judgements, key=lambda judgement: judgement.candidate.found_rank)[:REWARDED]
    return sum(judgement.verdict.score for judgement in first) / len(first)


def _features(question: str) -> Numbers:
    kind = kind_of(question)
    return np.array([1.0, *(float(kind == known) for known in KINDS)])
