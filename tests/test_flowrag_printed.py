"""FlowRAG as printed: its forward pass, its losses, what it forgets and where a question is asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere
from transformers import BertConfig, BertModel

from agents.models.networks.adapted_bert import PLAIN, Bert
from assistant.replay.metrics.forgetting import final_average, forgetting
from experiments.flowrag.domains import Domain, Question
from experiments.flowrag.l2r import REMEMBERED, Memory, alignment, newest, train_with_memory
from experiments.flowrag.likelihood import KeptReader, simulated
from experiments.flowrag.printed import (
    Encoded,
    Positions,
    cross_layer,
    encode,
    prompts,
    state_fusion,
    statistics,
)
from experiments.flowrag.printed_learning import (
    cosines,
    distilled_loss,
    divergence,
    dots,
    flowrag_loss,
    gentle_loss,
    log_shares,
    loss_of,
    marginal_loss,
    retrieval_loss,
    train_by_likelihood,
)
from experiments.flowrag.router import Centroid, How, joined, routed
from experiments.flowrag.sequence_tables import Judge

WIDTH, COUNT, LAYERS = 16, 5, (1, 2, 3)
IDS = torch.tensor([[7, 3, 9, 4, 1], [2, 8, 5, 0, 0], [6, 6, 0, 0, 0], [11, 12, 13, 14, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 0]])


@dataclass(frozen=True)
class Watched(Bert):
    """Keeps the keys of every attention."""

    keys: list[Tensor] = field(default_factory=list)

    def attention(self, query: Tensor, key: Tensor, value: Tensor, there: Tensor) -> Tensor:
        self.keys.append(key)
        return super().attention(query, key, value, there)


@pytest.fixture(scope="module")
def model() -> BertModel:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30,
        hidden_size=WIDTH,
        num_hidden_layers=6,
        num_attention_heads=2,
        intermediate_size=32,
        initializer_range=0.2,
    )
    return BertModel(config, add_pooling_layer=False).eval()


@pytest.fixture(scope="module")
def bert(model: BertModel) -> Bert:
    return Bert.of(model)


@pytest.fixture
def watched(bert: Bert) -> Watched:
    return Watched(bert.weights, bert.layers, bert.heads, bert.epsilon)


def new(seed: int = 1) -> dict[str, Tensor]:
    """Prompts far enough from 0 to change something."""
    return {name: 20 * each for name, each in prompts(LAYERS, COUNT, WIDTH, seed=seed).items()}


def encoded(
    bert: Bert, made: dict[str, Tensor], ids: Tensor = IDS, mask: Tensor = MASK, *, is_fused: bool = True
) -> tuple[Tensor, Tensor]:
    found = encode(bert, ids, mask, made, is_fused=is_fused)
    return found.vectors, found.vectors if found.states is None else found.states


def trained(bert: Bert, made: dict[str, Tensor], *, state_weight: float = 0.6) -> list[float]:
    """Question i, of text i, is answered by the text after it."""
    parameters = [each.requires_grad_() for each in made.values()]

    def of(places: Sequence[int]) -> Encoded:
        return encode(bert, IDS[list(places)], MASK[list(places)], made, is_fused=True)

    return list(
        train_by_likelihood(
            parameters,
            lambda: [[0, 1, 2, 3]] * 4,
            lambda question, place: float(place == (question + 1) % 4),
            of,
            of,
            rate=1e-2,
            state_weight=state_weight,
            seed=0,
        )
    )


# 1, 2 and 10: what is trained


def test_a_task_leaves_the_encoder_and_earlier_prompts_as_they_were(bert: Bert) -> None:
    before = {name: weight.clone() for name, weight in bert.weights.items()}
    first, second = new(1), new(2)
    trained(bert, first)
    kept = {name: each.detach().clone() for name, each in first.items()}
    index = encoded(bert, first)[0].detach()
    trained(bert, second)
    assert all(torch.equal(weight, before[name]) for name, weight in bert.weights.items())
    assert all(torch.equal(each, kept[name]) for name, each in first.items())
    assert torch.equal(encoded(bert, first)[0], index)


def test_prompts_are_all_that_learns(bert: Bert) -> None:
    made = new()
    trained(bert, made)
    assert all(weight.grad is None for weight in bert.weights.values())
    for name, each in made.items():
        assert each.grad is not None
        assert each.grad.abs().max() > 0, name
    assert sum(each.numel() for each in made.values()) == len(LAYERS) * COUNT * WIDTH
    paper = prompts(range(1, 7), 150, 768, seed=0)
    assert sum(each.numel() for each in paper.values()) == 691_200


def test_the_order_of_tasks_changes_no_prompts(bert: Bert) -> None:
    indexes = []
    for order in ((1, 2, 3), (3, 1, 2), (2, 3, 1)):
        made = {task: new(task) for task in order}
        for task in order:
            trained(bert, made[task])
        indexes.append([encoded(bert, made[task])[0] for task in sorted(order)])
    first, *others = (torch.stack(each) for each in indexes)
    assert all(torch.equal(first, other) for other in others)


# 3, 4, 5 and 12: the forward pass


def test_without_prompts_it_is_the_plain_encoder(model: BertModel, bert: Bert) -> None:
    states = model(input_ids=IDS, attention_mask=MASK).last_hidden_state
    plain = (states * MASK[..., None]).sum(1) / MASK.sum(1, keepdim=True)
    for is_fused in (True, False):
        found = encode(bert, IDS, MASK, PLAIN, is_fused=is_fused)
        torch.testing.assert_close(found.vectors, plain, atol=1e-6, rtol=0)
        assert found.states is None


def test_shapes(bert: Bert, watched: Watched) -> None:
    text = Positions(bert.embedded(IDS), MASK.bool())
    fused = state_fusion(bert, 1, text, Positions(new()["prompts.1"][None], torch.ones(1, COUNT).bool()))
    across = cross_layer(bert, 2, [fused, fused])
    assert across is not None
    assert fused.states.shape == (4, 5 + 2, WIDTH)
    assert across.states.shape == (4, 5 + 4, WIDTH)
    assert across.there.tolist()[1] == [True] * 3 + [False] * 2 + [True] * 4
    assert cross_layer(bert, 1, [fused]) is None

    encoded(watched, new())
    prompts_and_text, whole = COUNT + 5, (5 + 4) + COUNT + 5
    first = [COUNT + 2, prompts_and_text]  # StateFusion, attention
    later = [COUNT + 2, 5 + 4, whole]  # StateFusion, cross-layer, attention
    assert [key.shape[1] for key in watched.keys] == [*first, *later, *later, 5, 5, 5]


@pytest.mark.parametrize("is_fused", [True, False])
def test_padding_and_company_change_nothing(bert: Bert, is_fused: bool) -> None:
    together = encoded(bert, new(), is_fused=is_fused)
    for row, length in enumerate(MASK.sum(1).tolist()):
        ids, mask = F.pad(IDS[row : row + 1, :length], (0, 3)), F.pad(MASK[row : row + 1, :length], (0, 3))
        for one, all_ in zip(encoded(bert, new(), ids, mask, is_fused=is_fused), together, strict=True):
            torch.testing.assert_close(one[0], all_[row], atol=1e-5, rtol=0)


def test_the_order_of_prompts_changes_nothing(bert: Bert) -> None:
    turned = {name: each.flip(0) for name, each in new().items()}
    for one, other in zip(encoded(bert, turned), encoded(bert, new()), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("ids", "prompt"),
    [
        ([[7]], torch.randn(COUNT, WIDTH)),
        ([[7, 7, 7]], torch.randn(COUNT, WIDTH)),
        ([[7, 3]], torch.zeros(COUNT, WIDTH)),
    ],
    ids=["one token", "equal tokens", "constant prompts"],
)
def test_state_fusion_is_finite(bert: Bert, ids: list[list[int]], prompt: Tensor) -> None:
    made = {f"prompts.{n}": prompt.clone().requires_grad_() for n in LAYERS}
    tokens = torch.tensor(ids)
    vectors, states = encoded(bert, made, tokens, torch.ones_like(tokens))
    (vectors.sum() + states.square().sum()).backward()  # type: ignore[no-untyped-call]
    assert vectors.isfinite().all()
    assert states.isfinite().all()
    assert all(each.grad is not None and each.grad.isfinite().all() for each in made.values())


def test_statistics_by_hand() -> None:
    """1 and 3, and 9 as padding: the mean is 2, the variance of the population 1."""
    there = torch.tensor([[True, True, False]])
    found = statistics(Positions(torch.tensor([[[1.0], [3.0], [9.0]]]), there))
    torch.testing.assert_close(found, torch.tensor([[[2.0], [math.sqrt(1 + 1e-6)]]]))


def test_prompts_do_not_move_the_text(bert: Bert, watched: Watched) -> None:
    encoded(watched, new())
    with_prompts = watched.keys[1]  # of the attention of layer 1: prompts, then the text
    watched.keys.clear()
    encoded(watched, {})
    torch.testing.assert_close(with_prompts[:, COUNT:], watched.keys[0])
    torch.testing.assert_close(
        bert.embedded(IDS),
        F.layer_norm(
            bert.weights["embeddings.word_embeddings.weight"][IDS]
            + bert.weights["embeddings.position_embeddings.weight"][:5]
            + bert.weights["embeddings.token_type_embeddings.weight"][0],
            (WIDTH,),
            eps=bert.epsilon,
        ),
    )


# 6, 7 and 8: the losses


@pytest.mark.parametrize("direction", ["reverse", "forward"])
def test_a_divergence_is_least_where_both_agree(direction: str) -> None:
    scores = torch.tensor([[0.3, -0.2, 0.1], [1.0, 0.0, 0.5]], requires_grad=True)
    target = log_shares(scores.detach(), temperature=1.0)
    loss = divergence(log_shares(scores, temperature=1.0), target, direction=direction)  # type: ignore[arg-type]
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == pytest.approx(0, abs=1e-7)
    assert scores.grad is not None
    assert scores.grad.abs().max() < 1e-7
    apart = log_shares(scores.detach() + torch.randn(2, 3), temperature=1.0)
    assert divergence(apart, target, direction=direction).item() > 0  # type: ignore[arg-type]


def test_both_directions_agree_near_equality() -> None:
    scores, step = torch.tensor([[0.3, -0.2, 0.1]]).double(), torch.tensor([[0.01, -0.02, 0.0]]).double()
    target, near = (log_shares(each, temperature=1.0) for each in (scores, scores + step))
    reverse, forward = (divergence(near, target, direction=each) for each in ("reverse", "forward"))
    assert reverse.item() == pytest.approx(forward.item(), rel=0.02)


def test_a_target_of_almost_nothing_is_finite() -> None:
    shares = log_shares(torch.tensor([[0.0, 0.0]]), temperature=1.0)
    loss = divergence(shares, torch.tensor([[0.0, -1e6]]))
    assert loss.item() == pytest.approx(math.log(1 / 2) + 10)  # ½ (log ½ - 0) + ½ (log ½ + 20)


def test_the_gradient_of_the_reverse_divergence() -> None:
    """1/β Pᵢ (log Pᵢ - log Qᵢ - KL)."""
    scores = torch.tensor([[0.05, -0.02, 0.01]], requires_grad=True)
    likelihoods = torch.tensor([[0.1, 0.0, 0.2]])
    loss = retrieval_loss(scores, likelihoods)
    loss.backward()  # type: ignore[no-untyped-call]
    p, q = (each.detach().div(0.1).softmax(1) for each in (scores, likelihoods))
    torch.testing.assert_close(scores.grad, 10 * p * (p.log() - q.log() - loss.detach()))


def test_no_weight_means_no_state_loss(bert: Bert) -> None:
    made = {name: each.requires_grad_() for name, each in new().items()}
    own, likelihoods = torch.tensor([[0, 1], [2, 3]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    documents = encode(bert, IDS, MASK, made, is_fused=True)
    questions = encode(bert, IDS[:2], MASK[:2], made, is_fused=True)
    stateless = replace(questions, states=None)
    none, without, some = (
        loss_of(asked, documents, own, likelihoods, state_weight=weight)
        for asked, weight in ((questions, 0.0), (stateless, 0.6), (questions, 0.6))
    )
    assert none.item() == without.item() < some.item()
    of_none, of_without = (
        torch.autograd.grad(each, [*made.values()], retain_graph=True) for each in (none, without)
    )
    assert all(torch.equal(one, other) for one, other in zip(of_none, of_without, strict=True))


def test_similarities_by_hand() -> None:
    question, documents = torch.tensor([[2.0, 0.0]]), torch.tensor([[[3.0, 4.0], [0.0, 1.0]]])
    torch.testing.assert_close(dots(question, documents), torch.tensor([[6.0, 0.0]]))
    torch.testing.assert_close(cosines(question, documents), torch.tensor([[0.6, 0.0]]))


def test_temperatures_cancel_when_scores_grow_alike() -> None:
    scores = torch.randn(2, 5)
    torch.testing.assert_close(log_shares(scores, temperature=0.1), log_shares(7 * scores, temperature=0.7))


def test_the_order_of_documents_changes_no_loss() -> None:
    three = [torch.randn(2, 5) for _ in range(3)]
    turned = [each[:, [3, 1, 4, 0, 2]] for each in three]
    torch.testing.assert_close(flowrag_loss(*three), flowrag_loss(*turned))


def test_the_losses_of_other_methods_by_hand() -> None:
    """Two documents alike to the question; the answer stands in the first, with probability ¾ and ¼."""
    alike, likelihoods = torch.zeros(1, 2), torch.tensor([[0.75, 0.25]]).log()
    assert marginal_loss(alike, likelihoods).item() == pytest.approx(math.log(2))  # ½ ¾ + ½ ¼ = ½
    gentle = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)
    assert gentle_loss(alike, likelihoods).item() == pytest.approx(gentle, abs=1e-6)
    sure = distilled_loss(alike, likelihoods, width=4)  # at 0.01, the first has all of the target
    assert sure.item() == pytest.approx(math.log(2), abs=1e-6)
    near = torch.tensor([[0.02 * math.log(3), 0.0]])  # over √4 and 0.01: odds of 3
    assert distilled_loss(near, likelihoods, width=4).item() == pytest.approx(math.log(4 / 3), abs=1e-6)


def test_alignment_is_least_where_old_vectors_order_as_new_ones() -> None:
    new = torch.tensor([[0.1, 0.0, -0.1], [0.0, 0.2, 0.1]])
    old = new.clone().requires_grad_()
    alignment(old, new).backward()  # type: ignore[no-untyped-call]
    assert old.grad is not None
    assert old.grad.abs().max() < 1e-6
    assert alignment(new.flip(1), new) > alignment(new, new)


# L2R: what is wrong and remembered


def test_new_wrong_passages_are_far_from_the_answer_and_from_each_other() -> None:
    """a and c are as far from the answer along the question; b is like a, and d is near the answer."""
    question, answer = np.array([1, 0, 0], np.float32), np.array([1, 0, 0], np.float32)
    a, b, c = np.array([[0, 1, 0], [0.1, 0.995, 0], [0, 0, 1]], np.float32)
    d = np.array([0.99, 0.1, 0.1], np.float32)
    assert sorted(newest(question, answer, np.stack([d, b, a, c]))) == [2, 3]


def test_a_memory_holds_thirty_and_lets_go_of_what_is_most_alike() -> None:
    index = np.eye(40, dtype=np.float32)
    index[1] = index[0]
    memory = Memory()
    memory.take(range(REMEMBERED), index)
    assert memory.held == list(range(REMEMBERED))
    memory.take([35], index)
    assert len(memory.held) == REMEMBERED
    assert memory.held.count(35) == 1
    assert {0, 1} - {*memory.held}  # one of the two that are equal


def test_what_is_remembered_is_unlike_what_is_new() -> None:
    memory, index = Memory(), np.eye(4, dtype=np.float32)
    index[0, 3] = 0.5  # the first is like the fourth, which is new
    memory.take([0, 1, 2], index)
    assert memory.unlike([3], index) == [1, 2]


def test_training_with_a_memory_moves_the_whole_encoder(bert: Bert) -> None:
    """Question i, of text i, is answered by the text after it."""
    weights = {name: each.clone().requires_grad_() for name, each in bert.weights.items()}
    moving, count = replace(bert, weights=weights), len(IDS)

    def of(places: Sequence[int]) -> Tensor:
        return F.normalize(encode(moving, IDS[list(places)], MASK[list(places)], {}, is_fused=False).vectors)

    def encoded() -> tuple[np.ndarray, np.ndarray]:
        vectors = of(range(count)).detach().numpy()
        return vectors, vectors

    gold = [frozenset({(place + 1) % count}) for place in range(count)]
    before = of(range(count)).detach()
    losses = list(train_with_memory([*weights.values()], gold, encoded, of, of, rate=1e-2, seed=0))
    assert losses[-1] < losses[0]
    assert (of(range(count)).detach() - before).abs().max() > 1e-3


# 9: forgetting


def test_the_printed_matrices() -> None:
    f1 = [[21.77], [18.42, 24.10], [15.44, 19.90, 37.89], [12.16, 11.02, 28.60, 53.86]]
    acc = [[11.22], [8.70, 31.84], [4.79, 22.85, 38.16], [2.98, 13.35, 25.23, 56.46]]
    assert [round(forgetting(each), 2) for each in (f1, acc)] == [10.66, 13.22]
    assert [final_average(each) for each in (f1, acc)] == pytest.approx([26.41, 24.51], abs=0.006)


def test_nothing_is_forgotten_that_rises_and_nothing_of_one_task() -> None:
    assert forgetting([[1.0], [1.0, 5.0], [2.0, 6.0, 3.0]]) == 0
    assert forgetting([[4.0]]) == 0


# 11: the router


EAST, NORTH = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)


def test_a_centroid_is_of_its_own_questions_alone_and_knows_what_is_far() -> None:
    centroids = {"east": Centroid.of(np.stack([EAST, EAST]))}
    alone = centroids["east"].vector.copy()
    assert routed("centroid", "", NORTH, centroids) == ()
    centroids["north"] = Centroid.of(np.stack([NORTH, NORTH]))
    assert (centroids["east"].vector == alone).all()
    assert routed("centroid", "", NORTH, centroids) == ("north",)


def test_the_oracle_asks_no_router_and_all_asks_all() -> None:
    assert routed("oracle", "east", EAST, {}) == ("east",)
    centroids = dict.fromkeys(("east", "north"), Centroid(EAST, 0.0))
    assert routed("all", "east", EAST, centroids) == ("east", "north")


def test_fusion_by_places_does_not_know_the_order_of_indexes() -> None:
    rankings = [[("a", 1), ("a", 2)], [("b", 1), ("a", 2)], [("c", 9), ("b", 1)]]
    assert len({tuple(joined(each)) for each in permutations(rankings)}) == 1
    assert joined(rankings)[:2] == [("b", 1), ("a", 2)]  # 1/61 + 1/62 before 2/62


# The comparison


def test_the_stand_in_prefers_what_holds_the_answer() -> None:
    question = Question("Who plays the drums?", frozenset({0}), ("Ross",))
    holding = [simulated(question, "Ross plays the drums", seed=seed) for seed in range(50)]
    others = [simulated(question, "Monica sings", seed=seed) for seed in range(50)]
    assert np.mean(holding) - np.mean(others) == pytest.approx(2.5, abs=0.2)  # 2 + 0.5 · 1
    assert holding[0] == simulated(question, "Ross plays the drums", seed=0)


def test_what_was_read_is_kept(tmp_path: Path) -> None:
    asked = Question("Who plays the drums?", frozenset({0}), ("Ross", "Ross Geller"))
    texts = ["Monica sings in the evening.", "Ross plays the drums."]
    reader = KeptReader(tmp_path / "read.jsonl")
    assert reader.answer(asked.text, texts) == "Ross"
    right, wrong = (reader.log_probability(asked, text) for text in reversed(texts))
    assert right > wrong
    kept = (tmp_path / "read.jsonl").read_bytes()
    again = KeptReader(tmp_path / "read.jsonl")
    assert (again.answer(asked.text, texts), again.log_probability(asked, texts[1])) == ("Ross", right)
    assert (tmp_path / "read.jsonl").read_bytes() == kept


def test_accuracy_is_of_where_a_question_is_asked() -> None:
    """A question of the east that lies in the north: only the oracle and the union find its answer."""
    question = Question("Where?", frozenset({0}), ("here",))
    domains = {
        "east": Domain("east", ("",), ("it is here",), (), (), (question,)),
        "north": Domain("north", ("",), ("it is not",), (), (), ()),
    }
    learned = {name: Centroid.of(np.stack([at, at])) for name, at in (("east", EAST), ("north", NORTH))}
    judge = Judge(domains, {"east": np.stack([NORTH])}, learned, lambda question, texts: texts[0].split()[-1])
    found = {name: {"east": [[[0, 0.5]]]} for name in domains}
    seen = ("east", "north")
    shares = [judge.score("ACC@5", how, "east", seen, found, found) for how in get_args(How)]
    assert shares == [100, 0, 100]
    assert judge.score("F1", "oracle", "east", seen, found, found) == 100  # "here", of "it is here"
