"""How well questions find what answers them among the documents of their batch, by what was judged.

    similarities (b, n) + labels (b, n) -> strict, flaccid, hard negatives -> their weighted sum

Strict tells answers from all else, flaccid follows the judge's graded scores, hard negatives keep a distance
between answers and what was retrieved in their place. b questions, n different documents; τ and the other
letters are those of the equations. Equations 2 to 4 are of "LLM and User Feedback Based Contrastive
Learning Improves Retrieval-Augmented Generation When Question and Answer Domains Shift"; where they leave a
choice open, every reading is an option here. The defaults are ours.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

StrictDenominator = Literal["exclude_own_relevant", "all"]
FlaccidSupport = Literal["judged", "relevant"]
RankWeights = Literal["log", "reciprocal"]
HardPositives = Literal["mean", "best", "random"]


class Labels(NamedTuple):
    """What was judged of each pair of question and document; all (b, n).

    A pair is in one mask at most; one that nobody judged is in none.
    """

    answers: Tensor  # true or false: the document holds the answer; D⁺ of its question
    relevant: Tensor  # true or false: it helps and does not hold the answer; Dʳ
    irrelevant: Tensor  # true or false: it was judged useless; D⁻
    scores: Tensor  # sim', the judge's score, 0 to 1; read where judged
    ranks: Tensor  # r, the place in the first retrieval, from 1; read where irrelevant


class Losses(NamedTuple):
    """The three losses of a batch; scalars, in nats the first two and in similarity the third."""

    strict: Tensor
    flaccid: Tensor
    hard: Tensor

    def total(
        self, *, strict_weight: float = 1.0, flaccid_weight: float = 0.5, hard_weight: float = 1.0
    ) -> Tensor:
        """L = λ₁ L_s + λ₂ L_f + λ₃ L_h, a scalar. A weight of 0 switches its loss off."""
        return strict_weight * self.strict + flaccid_weight * self.flaccid + hard_weight * self.hard


def strict(
    similarities: Tensor,
    answers: Tensor,
    relevant: Tensor,
    *,
    temperature: float = 0.05,
    denominator: StrictDenominator = "exclude_own_relevant",
) -> Tensor:
    """How improbable the documents with the answer are among all of the batch; any one of them will do.

        L_s(q) = - log( Σ_{d in D⁺(q)} exp(sim(q,d) / τ)  /  Σ_{d in B} exp(sim(q,d) / τ) )

    similarities: (b, n), a dot product or cosine; higher is nearer. answers, relevant: (b, n), true or false.
    temperature: τ > 0; 0.05 fits cosines. denominator: `all` is the equation as printed, in which what helps
    the question without answering it counts against it; `exclude_own_relevant` leaves Dʳ(q) out of B.
    Returns a scalar, in nats: the mean over the questions that have an answer, 0 when none has.
    Source: Eq. 2.
    """
    logits = similarities / temperature
    has_answer = answers.any(1)
    # A question without an answer is computed over all documents, where nothing overflows, and then counts 0.
    everywhere = ~has_answer[:, None]
    within = torch.ones_like(answers) if denominator == "all" else ~relevant | answers | everywhere
    losses = _log_sum_exp(logits, within) - _log_sum_exp(logits, answers | everywhere)  # (b,)
    return (losses * has_answer).sum() / has_answer.sum().clamp(min=1)


def flaccid(
    similarities: Tensor,
    answers: Tensor,
    relevant: Tensor,
    irrelevant: Tensor,
    scores: Tensor,
    *,
    temperature: float = 0.05,
    judge_temperature: float = 0.2,
    support: FlaccidSupport = "judged",
) -> Tensor:
    """How far the retriever's preferences are from the judge's, over the documents that were judged.

        L_f(q) = KL(P_LLM || P_Ret) = Σ_d P_LLM(d) ( log P_LLM(d) - log P_Ret(d) )
        P_Ret(d) = softmax_d( sim(q,d) / τ ),  P_LLM(d) = softmax_d( sim'(q,d) / τ_llm )

    similarities: (b, n). answers, relevant, irrelevant: (b, n), true or false. scores: (b, n), 0 to 1; they
    get no gradient. temperature, judge_temperature: τ, τ_llm > 0. support: `relevant`, Dʳ(q) alone, 0 for a
    question with fewer than two of them; or `judged`, where an answer has the score 1 and an irrelevant
    document 0.
    Returns a scalar, in nats: the sum over the questions / b.
    Source: Eq. 3, with a temperature for each side.
    """
    if support == "judged":
        over = answers | relevant | irrelevant
        scores = torch.where(answers, 1.0, torch.where(relevant, scores, 0.0))
    else:
        over = relevant
    has_support = over.any(1)
    over = over | ~has_support[:, None]
    wanted = _log_softmax(scores.detach().to(similarities.dtype) / judge_temperature, over)
    found = _log_softmax(similarities / temperature, over)
    losses = (wanted.exp() * (wanted - found) * over).sum(1)  # (b,)
    return (losses * has_support).sum() / len(losses)


def hard_negatives(
    similarities: Tensor,
    answers: Tensor,
    irrelevant: Tensor,
    ranks: Tensor,
    *,
    margin: float = 0.1,
    weights: RankWeights = "log",
    positives: HardPositives = "mean",
    most_negatives: int = 8,
    generator: torch.Generator | None = None,
) -> Tensor:
    """How much nearer than a margin the documents judged useless come to those with the answer.

        L_h(q) = Σ_{d⁻ in D⁻(q)} w(d⁻) max(0, γ - sim(q,d⁺) + sim(q,d⁻)),  Σ w = 1

    similarities: (b, n). answers, irrelevant: (b, n), true or false. ranks: (b, n), whole numbers from 1.
    margin: γ >= 0. weights: w before it is made to sum to 1 for each question; `log`, 1 / log₂(1 + r), keeps
    the ranks after the tenth alive, `reciprocal` is 1 / r. positives: over several d⁺ the `mean` of the
    hinge, the nearest one (`best`), or one drawn with `generator` (`random`). most_negatives: H, those of
    the best ranks.
    Returns a scalar, in units of similarity: the sum over the questions / b. A question without an answer or
    without a negative counts 0. Raises ValueError when one is to be drawn and there is no generator.
    Source: Eq. 4; the form of w is not given there.
    """
    has_answer = answers.any(1)
    order = ranks.masked_fill(~irrelevant, torch.iinfo(ranks.dtype).max).argsort(dim=1, stable=True)
    chosen = order[:, :most_negatives]  # (b, h): the columns of the negatives, then of others
    is_negative = irrelevant.gather(1, chosen)
    places = ranks.gather(1, chosen).clamp(min=1).to(similarities.dtype)
    weight = 1 / places if weights == "reciprocal" else 1 / torch.log2(1 + places)
    weight = weight * is_negative
    weight = weight / weight.sum(1, keepdim=True).clamp(min=torch.finfo(weight.dtype).tiny)

    negatives = similarities.gather(1, chosen)  # (b, h)
    hinges = F.relu(margin - similarities[:, :, None] + negatives[:, None, :])  # (b, n, h)
    share = _shares(similarities, answers, positives, generator)  # (b, n)
    losses = (hinges * share[:, :, None] * weight[:, None, :]).sum((1, 2))
    return (losses * has_answer).sum() / len(losses)


def info_nce(queries: Tensor, passages: Tensor, own: Tensor, also: Tensor, *, temperature: float) -> Tensor:
    """How far each question is from its own passage, among all of a batch: a number, at least 0.

        L = -1/B Σᵢ log( exp(qᵢ·p_own(i) / τ) / Σⱼ exp(qᵢ·pⱼ / τ) ),  j not among the others that answer i

    queries: (B, D), passages: (N, D), unit length. own: (B,), columns. also: (B, N), true for the others that
    answer. Source: arXiv:1807.03748, eq. 4.
    """
    scores = (queries @ passages.T / temperature).masked_fill(also, -torch.inf)
    return F.cross_entropy(scores, own)


def _shares(
    similarities: Tensor, answers: Tensor, positives: HardPositives, generator: torch.Generator | None
) -> Tensor:
    """(b, n): how much each answer counts, 1 in all for each question that has any."""
    counts = answers.to(similarities.dtype)
    if positives == "mean":
        return counts / counts.sum(1, keepdim=True).clamp(min=1)
    if positives == "best":
        taken = similarities.detach().masked_fill(~answers, -torch.inf).argmax(1, keepdim=True)
    elif generator is None:
        raise ValueError("a positive that is drawn at random needs a generator")
    else:
        odds = (counts + ~answers.any(1, keepdim=True)).to(generator.device)
        taken = torch.multinomial(odds, 1, generator=generator).to(answers.device)
    return torch.zeros_like(counts).scatter(1, taken, 1.0) * counts


def _log_sum_exp(logits: Tensor, over: Tensor) -> Tensor:
    """(b,): over the columns that are true; every row has one."""
    return logits.masked_fill(~over, -torch.inf).logsumexp(1)


def _log_softmax(logits: Tensor, over: Tensor) -> Tensor:
    """(b, n): log probabilities over the columns that are true, and 0 elsewhere; every row has one."""
    return logits.masked_fill(~over, -torch.inf).log_softmax(1).masked_fill(~over, 0.0)
