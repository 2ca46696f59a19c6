"""The methods that learn: RaFe's policy, TENT's norms, LUF's trainings."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from agent_fakes import FixedEncoder, candidate
from test_methods import EAST, FUSION, NORTH, SPACE, WrittenSpace, ids, search
from tiny_sources import tiny_berts

from agents.base.interfaces import Vectors, Verdict
from agents.retrieval.reranker import Judgement
from assistant.learning.promotion import SERVED
from assistant.learning.recipes.retriever.apart import train_apart
from assistant.learning.recipes.retriever.network import RetrieverNetwork, load_network
from assistant.learning.recipes.retriever.training import RetrieverTraining
from assistant.replay.methods.luf import Luf
from assistant.replay.methods.method import Asked, JudgedQuestion, Search
from experiments.methods.entropy_minimisation import (
    EntropyMinimisation,
    mean_entropy,
    norm_parameters,
)
from experiments.methods.luf_variants import LufVariant
from experiments.methods.rafe import Rafe, TemplatePolicy, content_words
from experiments.methods.tent import Tent
from stores.learning.lessons import Lesson, tells_when_to_end
from stores.search.encoder_versions import TRAINED
from stores.vectors.exact import vector_bytes


def judged(question: str, *scores: float, name: str = "") -> JudgedQuestion:
    """A question with so many passages judged; those from 1/2 on are answers."""
    verdicts = [Verdict("answer" if score >= 0.5 else "irrelevant", score) for score in scores]
    return JudgedQuestion(
        Asked(name or question, question),
        tuple(
            Judgement(candidate(rank), verdict, "judge", 1, 1)
            for rank, verdict in enumerate(verdicts, start=1)
        ),
    )


# RaFe


def test_reinforce_moves_towards_what_was_better_than_the_mean() -> None:
    policy = TemplatePolicy(2, learning_rate=4.0)
    # probabilities 1/2 each; advantages +1 and -1; both gradients are (1/2, -1/2)
    policy.learn([("tea", 0), ("tea", 1)], [1.0, 0.0])
    np.testing.assert_allclose(policy.weights[:, 0], [2.0, -2.0], rtol=1e-5)
    assert policy.probabilities("milk")[0] == pytest.approx(1 / (1 + math.exp(-4)), rel=1e-4)


def taught(seed: int, *, windows: int = 20) -> Rafe:
    """A rewriter for whom only searches without question words are rewarded, and for "when" as asked."""
    method = Rafe(seed=seed)
    for window in range(windows):
        told = []
        for number in range(40):
            text = f"{'when' if number % 2 else 'who'} was Ann {window} {number}?"
            space = WrittenSpace(SPACE)
            method.retrieve(Asked(text, text), search(space))
            wanted = text if number % 2 else content_words(text)
            told.append(judged(text, float(space.searched[0][0] == wanted)))
        method.learn(told)
    return method


def test_the_policy_learns_the_template_that_is_rewarded_for_each_kind_of_question() -> None:
    method = taught(seed=1)
    assert method.preferences("who is Bob?")["content words"] > 0.8
    assert method.preferences("when is noon?")["as asked"] > 0.8


# TENT


def test_entropy_of_searches_worked_out_by_hand() -> None:
    question = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    unsure = torch.tensor([[1.0, 0.0], [1.0, 0.0]])  # both alike: log 2
    surer = torch.tensor([[1.0, 0.0], [0.6, 0.8]])  # 0.4/τ = 1 apart: p = e / (1 + e)
    p = math.e / (1 + math.e)
    expected = (math.log(2) - p * math.log(p) - (1 - p) * math.log(1 - p)) / 2
    found = mean_entropy(question, torch.stack([unsure, surer]), temperature=0.4)
    assert found.item() == pytest.approx(expected, rel=1e-6)


@pytest.fixture
def network() -> Iterator[RetrieverNetwork]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield load_network(tiny_berts() / "mean")
    torch.set_num_threads(before)


TEXTS = ["where is the blue key?", "ask for the table"]


def documents(network: RetrieverNetwork) -> list[Vectors]:
    with torch.no_grad():
        (vectors,) = network.encode(network.passages(["the key", "a blue table", "ask 7", "9"]))
    rows: Vectors = vectors.numpy()
    return [rows[:3], rows[1:]]


def weights(network: RetrieverNetwork) -> dict[str, bytes]:
    return {name: value.numpy().tobytes() for name, value in network.transformer.state_dict().items()}


def test_a_step_changes_norms_and_nothing_else(network: RetrieverNetwork) -> None:
    before, found = weights(network), documents(network)
    EntropyMinimisation(network, learning_rate=1e-2).step(TEXTS, found)
    changed = {name for name, value in weights(network).items() if value != before[name]}
    assert changed == set(norm_parameters(network.transformer))
    assert len(changed) == 10  # one norm of the embeddings and two a layer, weight and bias each
    assert all("LayerNorm" in name for name in changed)


class NotedAdapting:
    """Encodes east until it was adapted, and then north."""

    def __init__(self) -> None:
        self.steps: list[tuple[list[str], list[int]]] = []
        self.is_adapted = False

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.array([NORTH if self.is_adapted else EAST for _ in texts], dtype=np.float32)

    def step(self, texts: Sequence[str], documents: Sequence[Vectors]) -> float:
        self.steps.append((list(texts), [len(rows) for rows in documents]))
        self.is_adapted = True
        return 0.5


def vectors_of(version_ids: Sequence[int]) -> Mapping[int, bytes]:
    return {i: vector_bytes(np.array(SPACE[i][1], dtype=np.float32)) for i in version_ids if i in SPACE}


def test_tent_searches_again_by_what_it_has_become() -> None:
    adapting = NotedAdapting()
    method = Tent(adapting, vectors_of, nearest=2)
    found = method.retrieve(Asked("q", "?"), search(WrittenSpace(SPACE)))
    assert adapting.steps == [(["?"], [2])]
    assert ids(found.dense) == [2, 3, 1]  # from the north
    np.testing.assert_array_equal(found.vector, NORTH)
    assert method.entropies == [0.5]


# LUF


class FakeTraining:
    """In place of the child: notes what it was shown, and leaves a folder."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def __call__(
        self, folder: Path, lessons: Sequence[Lesson], vectors: Mapping[int, bytes], **more: Any
    ) -> Path:
        inspect.signature(train_apart).bind(folder, lessons, vectors, **more)  # or it could not stand in
        made = folder / "candidate"
        (made / SERVED).mkdir(parents=True)
        self.calls.append({"lessons": list(lessons), "vectors": dict(vectors), **more})
        more["tell"]({"kind": "step", "loss": 0.25})
        more["tell"](None)
        more["tell"]({"kind": "done", "best_epoch": 2})
        return made


def luf(
    folder: Path, training: FakeTraining | None = None, kind: Callable[..., Luf] = Luf, **more: Any
) -> tuple[Luf, FakeTraining]:
    training = training or FakeTraining()
    method = kind(
        vectors_of,
        folder,
        dimension=4,
        train=training,
        load=lambda _folder: FixedEncoder({"tea": NORTH}),
        **more,
    )
    return method, training


TRAINED_ON = [text for text in (f"tea {n}" for n in range(40)) if not tells_when_to_end(text)]
HELD_OUT = [text for text in (f"tea {n}" for n in range(40)) if tells_when_to_end(text)]


def test_luf_is_frozen_until_it_was_taught(tmp_path: Path) -> None:
    method, _ = luf(tmp_path)
    asked, vectors = Asked("q", "tea"), {"tea": EAST}
    before = method.retrieve(asked, search(WrittenSpace(SPACE), vectors))
    np.testing.assert_array_equal(before.vector, EAST)
    method.learn([judged(TRAINED_ON[0], 1.0, 0.0)])
    after = method.retrieve(asked, search(WrittenSpace(SPACE), vectors))
    np.testing.assert_array_equal(after.vector, NORTH)
    assert after.tokens == 0


def test_lessons_are_what_was_judged(tmp_path: Path) -> None:
    method, training = luf(tmp_path)
    method.learn([judged(TRAINED_ON[0], 1.0, 0.0), judged(HELD_OUT[0], 0.0, 1.0)])
    one, other = training.calls[0]["lessons"]
    assert [(d.version_id, d.label, d.score, d.rank) for d in one.documents] == [
        (1, "answer", 1.0, 1),
        (2, "irrelevant", 0.0, 2),
    ]
    assert (one.is_held_out, other.is_held_out) == (False, True)
    assert (one.turn_id, other.turn_id) == (0, 1)


def test_luf_that_remembers_all_begins_anew_with_every_lesson(tmp_path: Path) -> None:
    method, training = luf(tmp_path)
    for text in TRAINED_ON[:2]:
        method.learn([judged(text, 1.0)])
    assert [len(call["lessons"]) for call in training.calls] == [1, 2]
    assert [lesson.turn_id for lesson in training.calls[1]["lessons"]] == [0, 1]
    assert [call["encoder"] for call in training.calls] == [None, None]


def test_luf_that_remembers_the_last_goes_on_from_what_it_made(tmp_path: Path) -> None:
    how: Any = {"remembers": "last", "search_by": None, "settings": {}}
    method, training = luf(tmp_path, kind=LufVariant, **how)
    for text in TRAINED_ON[:3]:
        method.learn([judged(text, 1.0)])
    assert [len(call["lessons"]) for call in training.calls] == [1, 1, 1]
    made = [None, tmp_path / "after-1" / "candidate", tmp_path / "after-2" / "candidate"]
    assert [call["encoder"] for call in training.calls] == made
    assert [folder.name for folder in tmp_path.iterdir()] == ["after-3"]


def test_what_was_trained_before_a_kill_is_taken_up_or_trained_again(tmp_path: Path) -> None:
    before, training = luf(tmp_path / "a")
    told = [judged(text, 1.0) for text in TRAINED_ON[:3]]
    assert before.learn(told[:2]) == {"lessons": 2, "best_epoch": 2}
    after, _ = luf(tmp_path / "a", training)
    after.take_up(told[:2])
    assert len(training.calls) == 1
    assert after.lessons == before.lessons
    asked, vectors = Asked("q", "tea"), {"tea": EAST}
    np.testing.assert_array_equal(after.retrieve(asked, search(WrittenSpace(SPACE), vectors)).vector, NORTH)
    luf(tmp_path / "b", training)[0].take_up(told[:2])  # what was made is gone
    assert len(training.calls) == 2
    assert before.learn(told[2:]) == after.learn(told[2:]) == {"lessons": 3, "best_epoch": 2}


@pytest.mark.parametrize("scores", [(0.0, 0.0), ()])
def test_nothing_is_trained_where_nothing_helped(tmp_path: Path, scores: tuple[float, ...]) -> None:
    method, training = luf(tmp_path)
    assert method.learn([judged(TRAINED_ON[0], *scores), judged(HELD_OUT[0], 1.0)]) == {}
    assert training.calls == []


def test_every_choice_of_the_losses_reaches_the_training(tmp_path: Path) -> None:
    chosen = {
        "strict_denominator": "all",
        "flaccid_support": "relevant",
        "rank_weights": "reciprocal",
        "hard_positives": "best",
        "hard_weight": 20.0,
        "seed": 7,
    }
    method, training = luf(tmp_path, settings=chosen)
    method.learn([judged(TRAINED_ON[0], 1.0)])
    assert chosen.items() <= training.calls[0]["settings"].items()
    RetrieverTraining(**training.calls[0]["settings"])  # refuses what it does not know


def test_of_both_sides_questions_meet_what_the_last_training_encodes(tmp_path: Path) -> None:
    asked, seen = Asked("q", "tea"), list[Path]()

    def by(folder: Path, _space: Any) -> Search:
        seen.append(folder)
        return search(WrittenSpace(SPACE), {"tea": NORTH})

    def base() -> Search:
        encoder = FixedEncoder({"tea": EAST})
        return Search(encoder, WrittenSpace(SPACE), keep=3, pool=3, fusion=FUSION)

    method, training = luf(tmp_path, kind=LufVariant, search_by=by, settings={"update_side": "both"})
    np.testing.assert_array_equal(method.retrieve(asked, base()).vector, EAST)
    assert seen == []
    for text in TRAINED_ON[:2]:
        method.learn([judged(text, 1.0)])
        np.testing.assert_array_equal(method.retrieve(asked, base()).vector, NORTH)
    assert seen == [tmp_path / name / "candidate" / SERVED for name in ("after-1", "after-2")]
    assert [call["name"] for call in training.calls] == [TRAINED, TRAINED]
