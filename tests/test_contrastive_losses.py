"""The three losses of the retriever: by hand, and what holds for any similarities and labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from agents.losses.contrastive import (
    FlaccidSupport,
    HardPositives,
    Losses,
    RankWeights,
    StrictDenominator,
    flaccid,
    hard_negatives,
    strict,
)

ANSWER, RELEVANT, IRRELEVANT, UNJUDGED = range(4)
DENOMINATORS = get_args(StrictDenominator)
SUPPORTS = get_args(FlaccidSupport)
WEIGHTS = get_args(RankWeights)
POSITIVES = get_args(HardPositives)


@dataclass
class Batch:
    """Similarities and labels, as the losses take them."""

    similarities: Tensor
    labels: Tensor  # (b, n): one of the four above
    scores: Tensor
    ranks: Tensor

    @property
    def answers(self) -> Tensor:
        return self.labels == ANSWER

    @property
    def relevant(self) -> Tensor:
        return self.labels == RELEVANT

    @property
    def irrelevant(self) -> Tensor:
        return self.labels == IRRELEVANT

    def of(self, rows: Tensor | slice = slice(None), columns: Tensor | slice = slice(None)) -> Batch:
        every = (self.similarities, self.labels, self.scores, self.ranks)
        return Batch(*(tensor[rows][:, columns] for tensor in every))

    def strict(self, **options: object) -> Tensor:
        return strict(self.similarities, self.answers, self.relevant, **options)  # type: ignore[arg-type]

    def flaccid(self, **options: object) -> Tensor:
        masks = self.answers, self.relevant, self.irrelevant
        return flaccid(self.similarities, *masks, self.scores, **options)  # type: ignore[arg-type]

    def hard(self, **options: object) -> Tensor:
        drawing = torch.Generator().manual_seed(1)
        masks = self.answers, self.irrelevant
        return hard_negatives(  # type: ignore[arg-type]
            self.similarities, *masks, self.ranks, generator=drawing, **options
        )

    def every(self) -> list[Tensor]:
        """All losses in all their forms."""
        return [
            *(self.strict(denominator=d) for d in DENOMINATORS),
            *(self.flaccid(support=s) for s in SUPPORTS),
            *(self.hard(weights=w, positives=p) for w in WEIGHTS for p in POSITIVES),
        ]

    def gradient(self, loss: str, **options: object) -> Tensor:
        self.similarities = self.similarities.detach().requires_grad_()
        (found,) = torch.autograd.grad(getattr(self, loss)(**options), self.similarities)
        return found


def batch(similarities: list[list[float]], labels: list[list[int]], **others: list[list[float]]) -> Batch:
    shape = len(labels), len(labels[0])
    scores = torch.tensor(others.get("scores") or torch.zeros(shape).tolist(), dtype=torch.float64)
    ranks = torch.tensor(others.get("ranks") or torch.ones(shape).tolist()).long()
    return Batch(torch.tensor(similarities, dtype=torch.float64), torch.tensor(labels), scores, ranks)


@st.composite
def batches(draw: st.DrawFn, *, questions: int = 4, documents: int = 6) -> Batch:
    """Cosines within ±1; the labels of each pair at random, ranks different for each question."""
    b, n = draw(st.integers(1, questions)), draw(st.integers(1, documents))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    labels = draw(st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=b, max_size=b))
    similarities = 2 * torch.rand(b, n, generator=generator, dtype=torch.float64) - 1
    scores = torch.rand(b, n, generator=generator, dtype=torch.float64)
    ranks = torch.stack([torch.randperm(40, generator=generator)[:n] + 1 for _ in range(b)])
    return Batch(similarities, torch.tensor(labels), scores, ranks)


any_batch = given(batches())
quick = settings(max_examples=30, deadline=None)


# By hand


def test_strict_sums_the_answers_within_the_logarithm() -> None:
    found = batch([[math.log(1), math.log(2), math.log(5)]], [[ANSWER, ANSWER, UNJUDGED]])
    assert found.strict(temperature=1.0).item() == pytest.approx(math.log(8 / 3))


def test_strict_leaves_out_what_helps_its_own_question_unless_it_is_literal() -> None:
    found = batch(
        [[math.log(1), math.log(2), math.log(5)], [math.log(1), math.log(1), math.log(2)]],
        [[ANSWER, RELEVANT, IRRELEVANT], [UNJUDGED, ANSWER, UNJUDGED]],
    )
    own, literal = (found.strict(temperature=1.0, denominator=d).item() for d in DENOMINATORS)
    assert own == pytest.approx((math.log(6) + math.log(4)) / 2)  # document 1 helps question 0 alone
    assert literal == pytest.approx((math.log(8) + math.log(4)) / 2)


def test_strict_divides_by_the_temperature() -> None:
    found = batch([[0.1, 0.0]], [[ANSWER, UNJUDGED]])
    assert found.strict().item() == pytest.approx(math.log(1 + math.exp(-0.1 / 0.05)))


def test_strict_is_the_mean_over_questions_that_have_an_answer() -> None:
    found = batch([[0.0, 0.0], [5.0, 0.0]], [[ANSWER, UNJUDGED], [RELEVANT, UNJUDGED]])
    assert found.strict().item() == pytest.approx(math.log(2))


def test_flaccid_gives_an_answer_1_and_an_irrelevant_document_0() -> None:
    found = batch(
        [[0.0, 0.0, 0.0, 9.0]],
        [[ANSWER, RELEVANT, IRRELEVANT, UNJUDGED]],
        scores=[[0.3, 0.5, 0.9, 1.0]],  # those of the first and third are not asked
    )
    wanted = [math.exp(s / 0.2) for s in (1.0, 0.5, 0.0)]
    shares = [w / sum(wanted) for w in wanted]
    assert found.flaccid().item() == pytest.approx(sum(p * math.log(3 * p) for p in shares))


def test_flaccid_over_what_is_relevant_alone() -> None:
    found = batch(
        [[7.0, 0.0, 0.0, 7.0]], [[ANSWER, RELEVANT, RELEVANT, IRRELEVANT]], scores=[[1.0, 0.7, 0.5, 0.0]]
    )
    first = math.e / (math.e + 1)  # 0.2 apart at the temperature 0.2
    wanted = first * math.log(2 * first) + (1 - first) * math.log(2 * (1 - first))
    assert found.flaccid(support="relevant").item() == pytest.approx(wanted)


def test_flaccid_over_one_relevant_document_is_nothing() -> None:
    found = batch([[0.3, 0.1]], [[ANSWER, RELEVANT]], scores=[[1.0, 0.2]])
    assert found.flaccid(support="relevant").item() == 0


def test_flaccid_is_divided_by_the_questions_alone() -> None:
    one = batch([[0.0, 0.0]], [[ANSWER, IRRELEVANT]])
    two = batch([[0.0, 0.0], [0.0, 0.0]], [[ANSWER, IRRELEVANT], [UNJUDGED, UNJUDGED]])
    assert two.flaccid().item() == pytest.approx(one.flaccid().item() / 2)


def test_hard_negatives_weigh_by_the_logarithm_of_their_rank() -> None:
    found = batch([[0.5, 0.5, 0.7]], [[ANSWER, IRRELEVANT, IRRELEVANT]], ranks=[[1, 3, 1]])
    first, third = 1.0, 0.5  # 1 / log2(2) and 1 / log2(4)
    assert found.hard().item() == pytest.approx((third * 0.1 + first * 0.3) / 1.5)


def test_hard_negatives_weigh_by_the_reciprocal_of_their_rank() -> None:
    found = batch([[0.5, 0.5, 0.7]], [[ANSWER, IRRELEVANT, IRRELEVANT]], ranks=[[1, 3, 1]])
    assert found.hard(weights="reciprocal").item() == pytest.approx((0.1 / 3 + 0.3) / (4 / 3))


def test_hard_negatives_against_all_answers_or_the_nearest() -> None:
    found = batch([[0.5, 0.3, 0.45]], [[ANSWER, ANSWER, IRRELEVANT]])
    assert found.hard(positives="mean").item() == pytest.approx((0.05 + 0.25) / 2)
    assert found.hard(positives="best").item() == pytest.approx(0.05)


def test_hard_negatives_against_one_answer_that_is_drawn() -> None:
    found = batch([[0.5, 0.3, 0.45, 9.0]], [[ANSWER, ANSWER, IRRELEVANT, UNJUDGED]])
    drawn = {
        round(
            hard_negatives(
                found.similarities,
                found.answers,
                found.irrelevant,
                found.ranks,
                positives="random",
                generator=torch.Generator().manual_seed(seed),
            ).item(),
            9,
        )
        for seed in range(30)
    }
    assert drawn == {0.05, 0.25}


def test_to_draw_an_answer_takes_a_generator() -> None:
    found = batch([[0.5, 0.3]], [[ANSWER, IRRELEVANT]])
    with pytest.raises(ValueError, match="generator"):
        hard_negatives(found.similarities, found.answers, found.irrelevant, found.ranks, positives="random")


def test_only_the_best_ranks_are_hard_negatives() -> None:
    ranks = [[1, *range(12, 2, -1)]]  # the last columns have the best ranks: 3 and 4
    found = batch([[0.0, *[0.9] * 8, 0.1, 0.2]], [[ANSWER, *[IRRELEVANT] * 10]], ranks=ranks)
    first, second = 1 / math.log2(4), 1 / math.log2(5)
    wanted = (first * 0.3 + second * 0.2) / (first + second)
    assert found.hard(most_negatives=2).item() == pytest.approx(wanted)
    assert found.gradient("hard").count_nonzero() == 1 + 8


def test_the_total_is_weighted() -> None:
    losses = Losses(torch.tensor(2.0), torch.tensor(3.0), torch.tensor(5.0))
    assert losses.total().item() == 2 + 1.5 + 5
    assert losses.total(strict_weight=0, flaccid_weight=1, hard_weight=20).item() == 103


# For any batch


@quick
@any_batch
def test_strict_is_0_when_every_document_answers(found: Batch) -> None:
    found.labels.fill_(ANSWER)
    for denominator in DENOMINATORS:
        assert found.strict(denominator=denominator).item() == pytest.approx(0, abs=1e-9)


@quick
@given(found=batches(), data=st.data())
def test_the_order_of_the_documents_changes_nothing(found: Batch, data: st.DataObject) -> None:
    n = found.labels.shape[1]
    order = torch.tensor(data.draw(st.permutations(range(n))))
    one, other = found.every(), found.of(columns=order).every()
    for place, (left, right) in enumerate(zip(one, other, strict=True)):
        if place not in _drawn():
            assert left.item() == pytest.approx(right.item(), abs=1e-9)


def _drawn() -> set[int]:
    """Where the losses that draw an answer are among all: what is drawn hangs on the order."""
    before = len(DENOMINATORS) + len(SUPPORTS)
    return {before + i * len(POSITIVES) + POSITIVES.index("random") for i in range(len(WEIGHTS))}


@quick
@any_batch
def test_strict_pulls_answers_and_pushes_the_rest_by_as_much(found: Batch) -> None:
    for denominator in DENOMINATORS:
        gradient = found.gradient("strict", denominator=denominator)
        assert (gradient[found.answers] <= 1e-12).all()
        assert (gradient[~found.answers] >= -1e-12).all()
        torch.testing.assert_close(gradient.sum(1), torch.zeros(len(gradient), dtype=torch.float64))


@quick
@any_batch
def test_strict_has_the_gradient_of_the_equation(found: Batch) -> None:
    """(p_d - p⁺_d) / τ, divided by the questions that have an answer."""
    gradient = found.gradient("strict", denominator="all")
    logits = found.similarities.detach() / 0.05
    has_answer = found.answers.any(1)
    among_answers = logits.masked_fill(~found.answers, -torch.inf).softmax(1).nan_to_num()
    wanted = (logits.softmax(1) - among_answers) / 0.05 * has_answer[:, None]
    torch.testing.assert_close(gradient, wanted / has_answer.sum().clamp(min=1))


@quick
@any_batch
def test_a_document_that_helps_its_own_question_is_not_pushed(found: Batch) -> None:
    assert (found.gradient("strict")[found.relevant] == 0).all()


@quick
@any_batch
def test_hard_negatives_pull_answers_push_negatives_and_touch_nothing_else(found: Batch) -> None:
    for weights in WEIGHTS:
        for positives in POSITIVES:
            gradient = found.gradient("hard", weights=weights, positives=positives)
            assert (gradient[found.answers] <= 0).all()
            assert (gradient[found.irrelevant] >= 0).all()
            assert (gradient[found.relevant] == 0).all()
            assert (gradient[found.labels == UNJUDGED] == 0).all()
            torch.testing.assert_close(gradient.sum(1), torch.zeros(len(gradient), dtype=torch.float64))


@quick
@any_batch
def test_flaccid_is_never_below_0(found: Batch) -> None:
    for support in SUPPORTS:
        assert found.flaccid(support=support).item() >= -1e-12


@quick
@any_batch
def test_flaccid_is_0_where_the_preferences_are_the_judge_s_and_only_there(found: Batch) -> None:
    scores = torch.where(found.answers, 1.0, torch.where(found.relevant, found.scores, 0.0))
    agreeing = Batch(scores * 0.05 / 0.2 + 0.4, found.labels, found.scores, found.ranks)
    for support in SUPPORTS:
        assert agreeing.flaccid(support=support).item() == pytest.approx(0, abs=1e-9)
    judged = found.labels != UNJUDGED
    rows = (judged.sum(1) >= 2).nonzero()
    assume(len(rows))
    row = int(rows[0])
    agreeing.similarities[row, judged[row].nonzero()[0]] += 0.1
    assert agreeing.flaccid().item() > 1e-6


@quick
@given(found=batches(), shift=st.floats(-1, 1))
def test_adding_to_all_similarities_of_a_question_changes_nothing_in_flaccid(
    found: Batch, shift: float
) -> None:
    moved = Batch(found.similarities.clone(), found.labels, found.scores, found.ranks)
    moved.similarities[0] += shift
    for support in SUPPORTS:
        assert moved.flaccid(support=support).item() == pytest.approx(
            found.flaccid(support=support).item(), abs=1e-9
        )


@quick
@any_batch
def test_the_judge_s_scores_get_no_gradient(found: Batch) -> None:
    found.scores.requires_grad_()
    found.similarities.requires_grad_()
    for support in SUPPORTS:
        found.flaccid(support=support).backward()  # type: ignore[no-untyped-call]
    assert found.scores.grad is None


@quick
@given(found=batches(), margin=st.floats(0, 0.5))
def test_hard_is_0_once_every_answer_is_further_ahead_than_the_margin(found: Batch, margin: float) -> None:
    apart = torch.where(found.answers, 1.0, 0.999 - margin).double()
    ahead = Batch(apart, found.labels, found.scores, found.ranks)
    for positives in POSITIVES:
        assert ahead.hard(margin=margin, positives=positives).item() == 0


@quick
@any_batch
def test_a_better_ranked_negative_never_weighs_less(found: Batch) -> None:
    level = Batch(torch.zeros_like(found.similarities), found.labels, found.scores, found.ranks)
    for weights in WEIGHTS:
        gradient = level.gradient("hard", weights=weights, most_negatives=3)
        for row in range(len(gradient)):
            negatives = found.irrelevant[row].nonzero().flatten()
            by_rank = negatives[found.ranks[row, negatives].argsort()]
            pushed = gradient[row, by_rank]
            assert (pushed.diff() <= 1e-12).all()
            assert (pushed[3:] == 0).all()


@quick
@any_batch
def test_a_question_without_an_answer_counts_nothing(found: Batch) -> None:
    found.labels[0][found.labels[0] == ANSWER] = UNJUDGED
    for loss, options in (
        *(("strict", {"denominator": d}) for d in DENOMINATORS),
        *(("hard", {"weights": w, "positives": p}) for w in WEIGHTS for p in POSITIVES),
    ):
        gradient = found.gradient(loss, **options)
        assert gradient.isfinite().all()
        assert (gradient[0] == 0).all()
    if not found.answers.any():
        assert found.strict().item() == 0
        assert found.hard().item() == 0


@pytest.mark.parametrize("label", [RELEVANT, IRRELEVANT, UNJUDGED])
def test_a_batch_without_any_answer_gives_0_and_no_nan(label: int) -> None:
    found = batch([[0.3, -0.2], [0.1, 0.9]], [[label, label], [label, label]])
    for loss in ("strict", "hard"):
        assert getattr(found, loss)().item() == 0
        assert (found.gradient(loss) == 0).all()
    for support in SUPPORTS:
        assert found.gradient("flaccid", support=support).isfinite().all()


def test_cosines_far_apart_do_not_overflow_in_single_precision() -> None:
    found = batch([[-1.0, 1.0, 1.0]], [[ANSWER, IRRELEVANT, UNJUDGED]])
    found.similarities = found.similarities.float()
    assert found.strict(temperature=0.005).item() == pytest.approx(400 + math.log(2))
    assert all(loss.isfinite() for loss in found.every())


def test_gradients_are_those_of_finite_differences() -> None:
    generator = torch.Generator().manual_seed(1)
    found = Batch(
        torch.rand(3, 5, generator=generator, dtype=torch.float64),
        torch.randint(0, 4, (3, 5), generator=generator),
        torch.rand(3, 5, generator=generator, dtype=torch.float64),
        torch.randint(1, 40, (3, 5), generator=generator),
    )

    def losses(similarities: Tensor) -> tuple[Tensor, ...]:
        moved = Batch(similarities, found.labels, found.scores, found.ranks)
        return tuple(moved.every())

    assert torch.autograd.gradcheck(losses, found.similarities.requires_grad_())
