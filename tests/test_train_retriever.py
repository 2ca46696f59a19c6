"""The retriever's training: the encoder in torch, the steps, and the program that leaves a folder or none."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from kill_points import ALL
from safetensors.torch import load_file
from tiny_sources import TEXTS, tiny_berts
from torch import Tensor

from agents.models.encoders.encoder import EncoderDescription, OnnxEncoder
from agents.models.exporters.export_encoder import CHECK_TEXTS
from assistant.learning.recipes import pacing
from assistant.learning.recipes import run as training_run
from assistant.learning.recipes.retriever import network as retriever_network
from assistant.learning.recipes.retriever import train as train_retriever
from assistant.learning.recipes.retriever.batches import JudgedDocument, Lesson, LessonBatch, lesson_batch
from assistant.learning.recipes.retriever.network import FrozenVectors, RetrieverNetwork, export, load_network
from assistant.learning.recipes.retriever.training import (
    RetrieverTraining,
    StepReport,
    TrainingState,
    answer_ranks,
    batch_losses,
    epoch_order,
    figures,
    train,
)
from assistant.learning.recipes.run import StopSignal
from assistant.settings.config import LearningSettings, TrainingSettings
from stores.base.errors import InvalidSetting

REPOSITORY = Path(__file__).parents[1]
WORDS = "key table blue where ask text sun moon cat dog red green tea milk bread salt".split()
QUICK = {"learning_rate": 1e-3, "batch_questions": 4, "epochs": 2}


@pytest.fixture(scope="module")
def sources() -> Path:
    return tiny_berts()


@pytest.fixture
def network(sources: Path) -> RetrieverNetwork:
    return load_network(sources / "mean")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def judged(number: int, word: str, label: Any, rank: int) -> JudgedDocument:
    return JudgedDocument(number, f"the {word} is on the {word}", "", label, float(label == "answer"), rank)


def lessons(count: int, *, first: int = 0) -> list[Lesson]:
    """Question n asks for word n, which document n holds; document n + 1 does not, and came before it."""
    return [
        Lesson(
            f"q{n:02}",
            f"where is {WORDS[n]}?",
            (
                judged(n, WORDS[n], "answer", 2),
                judged((n + 1) % len(WORDS), WORDS[(n + 1) % len(WORDS)], "irrelevant", 1),
            ),
        )
        for n in range(first, first + count)
    ]


def batches() -> list[LessonBatch]:
    return [lesson_batch(lessons(4, first=first)) for first in (0, 4, 8)]


def frozen(network: RetrieverNetwork, every: list[LessonBatch]) -> FrozenVectors:
    texts = {i: t for batch in every for i, t in zip(batch.documents, batch.texts, strict=True)}
    with torch.no_grad():
        (vectors,) = network.encode(network.passages(list(texts.values())))
    return FrozenVectors(list(texts), vectors)


def weights(network: RetrieverNetwork) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in network.transformer.state_dict().items()}


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def digest(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


# The network


def test_minilm_gives_the_vectors_of_its_served_form(minilm_folder: Path) -> None:
    network, encoder = load_network(), OnnxEncoder(minilm_folder, threads=1)
    with torch.no_grad():
        (vectors,) = network.encode(network.passages(CHECK_TEXTS))
    assert np.abs(vectors.numpy() - encoder.encode_passages(CHECK_TEXTS)).max() < 1e-4
    np.testing.assert_allclose(vectors.norm(dim=1), 1, atol=1e-6)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_vectors_are_those_of_the_original(sources: Path, pooling: str) -> None:
    network = load_network(sources / pooling)
    with torch.no_grad():
        (vectors,) = network.encode(network.passages(TEXTS))
    reference = np.load(sources / pooling / "reference.npy")
    np.testing.assert_allclose(vectors.numpy(), reference, atol=1e-4, rtol=0)


def test_sides_are_encoded_together_each_with_its_own_prefix(network: RetrieverNetwork) -> None:
    with torch.no_grad():
        asked, stored = network.encode(network.questions(TEXTS), network.passages(TEXTS[:2]))
        alone = network.encode(network.questions(TEXTS[1:2]))[0]
        nothing, one = network.encode(network.questions([]), network.passages(["key"]))
        assert [tuple(v.shape) for v in network.encode(network.questions([]))] == [(0, 32)]
    assert (asked.shape, stored.shape) == ((len(TEXTS), 32), (2, 32))
    torch.testing.assert_close(asked[1:2], alone)
    assert (asked[0] - stored[0]).abs().max() > 1e-3
    assert (nothing.shape, one.shape) == ((0, 32), (1, 32))


@pytest.mark.parametrize(("batch_tokens", "kept_tokens"), [(40, 0), (40, 60)])
def test_gradients_do_not_depend_on_how_the_texts_pass_through(
    network: RetrieverNetwork, batch_tokens: int, kept_tokens: int
) -> None:
    def gradients() -> list[Tensor]:
        (vectors,) = network.encode(network.questions(TEXTS))
        return list(torch.autograd.grad((vectors @ vectors.T)[0].sum(), trained))

    trained = [p for p in network.parameters() if p.requires_grad]
    network.batch_tokens, network.kept_tokens = 10**6, 10**6
    wanted = gradients()
    network.batch_tokens, network.kept_tokens = batch_tokens, kept_tokens
    for one, other in zip(gradients(), wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_a_saved_network_is_an_encoder_again(network: RetrieverNetwork, tmp_path: Path) -> None:
    with torch.no_grad():
        network.transformer.get_parameter("embeddings.LayerNorm.weight").mul_(1.5)
        (changed,) = network.encode(network.questions(TEXTS))
        network.save(tmp_path)
        again = load_network(tmp_path)
        torch.testing.assert_close(again.encode(again.questions(TEXTS))[0], changed)
    assert again.source.version() != network.source.version()
    assert (again.source.query_prefix, again.source.max_tokens) == ("ask: ", 16)


@pytest.mark.parametrize("odd", [0.01, float("nan")])
def test_a_served_form_with_other_vectors_is_refused(
    network: RetrieverNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: float
) -> None:
    class Served:
        def __init__(self, folder: Path, *, threads: int) -> None:
            assert folder == tmp_path / "served"

        def encode_queries(self, texts: list[str]) -> Any:
            with torch.no_grad():
                (vectors,) = network.encode(network.questions(texts))
            vectors[0, 0] += odd
            return vectors.numpy()

    monkeypatch.setattr(retriever_network, "run_exporter", lambda *given, **how: None)
    monkeypatch.setattr(retriever_network, "OnnxEncoder", Served)
    with pytest.raises(ValueError, match="differs from what was trained"):
        export(network, tmp_path, lambda sentence: None)


# The steps


def test_the_query_side_leaves_documents_bit_for_bit(network: RetrieverNetwork, sources: Path) -> None:
    every, files = batches(), digest(sources / "mean")
    documents = frozen(network, every)
    numbers = [number for batch in every for number in batch.documents]
    before, start = documents.of(numbers).numpy().tobytes(), weights(network)
    reports = list(train(network, every, RetrieverTraining(**QUICK), documents=documents))
    assert documents.of(numbers).numpy().tobytes() == before
    assert not documents.of(numbers).requires_grad
    assert digest(sources / "mean") == files
    assert not same(weights(network), start)
    assert [report.step for report in reports] == [1, 2, 3, 4, 5, 6]
    assert {report.steps for report in reports} == {6}


@pytest.mark.parametrize("side", ["query", "both"])
def test_what_is_trained_comes_to_find_its_answers(network: RetrieverNetwork, side: Any) -> None:
    every = batches()
    documents = frozen(network, every) if side == "query" else None
    settings = RetrieverTraining(update_side=side, **QUICK | {"epochs": 12})
    reports = list(train(network, every, settings, documents=documents))
    first, last = (sum(r.strict for r in part) for part in (reports[:3], reports[-3:]))
    assert last < 0.5 * first


def test_a_step_tells_its_losses(network: RetrieverNetwork) -> None:
    settings = RetrieverTraining(update_side="both", hard_weight=5.0, **QUICK)
    report = next(train(network, batches(), settings))
    wanted = report.strict + 0.5 * report.flaccid + 5 * report.hard
    assert report.loss == pytest.approx(wanted, rel=1e-5)
    assert report.questions == 4


def test_16_bits_give_nearly_the_same_losses(network: RetrieverNetwork) -> None:
    every = batches()
    documents = frozen(network, every)
    exact, short = (
        next(train(network, every, RetrieverTraining(learning_rate=1e-9, bf16=bf16), documents=documents))
        for bf16 in (False, True)
    )
    assert short.loss != exact.loss
    assert short.loss == pytest.approx(exact.loss, rel=0.05)


@pytest.mark.parametrize(("side", "given"), [("query", False), ("both", True)])
def test_given_vectors_belong_to_the_query_side(network: RetrieverNetwork, side: Any, given: bool) -> None:
    documents = frozen(network, batches()) if given else None
    with pytest.raises(ValueError, match="query side"):
        next(train(network, batches(), RetrieverTraining(update_side=side), documents=documents))


def first_step(network: RetrieverNetwork, **settings: Any) -> tuple[StepReport, dict[str, Tensor]]:
    """What is told of one step, and how far it moved each parameter."""
    before = weights(network)
    chosen = RetrieverTraining(update_side="both", **QUICK | settings)
    report = next(train(network, batches(), chosen))
    after = weights(network)
    network.transformer.load_state_dict(before)
    return report, {name: after[name] - old for name, old in before.items()}


def furthest(moved: dict[str, Tensor]) -> float:
    return max(float(change.abs().max()) for change in moved.values())


def test_a_step_is_as_long_as_the_learning_rate_that_it_tells(network: RetrieverNetwork) -> None:
    """The first step of Adam moves each weight by the learning rate, whatever its gradient."""
    slow, moved = first_step(network, warm_up=1.0, weight_decay=0.0)
    assert slow.learning_rate == pytest.approx(1e-3 / 6)  # the first of six steps in which it rises
    assert furthest(moved) == pytest.approx(slow.learning_rate, rel=0.01)
    quick, moved = first_step(network, warm_up=0.0, weight_decay=0.0)
    assert quick.learning_rate == 1e-3
    assert furthest(moved) == pytest.approx(1e-3, rel=0.01)


def test_weights_decay_and_biases_and_norms_do_not(network: RetrieverNetwork) -> None:
    _, without = first_step(network, weight_decay=0.0)
    _, decayed = first_step(network, weight_decay=10.0)
    flat = {name for name, change in without.items() if change.ndim == 1}
    assert all(torch.equal(without[name], decayed[name]) for name in flat)
    assert all(not torch.equal(without[name], decayed[name]) for name in without.keys() - flat)


def test_a_long_gradient_is_shortened(network: RetrieverNetwork) -> None:
    _, usual = first_step(network, weight_decay=0.0)
    _, short = first_step(network, weight_decay=0.0, longest_gradient=1e-10)
    assert furthest(short) < 0.1 * furthest(usual)  # Adam's own epsilon is no longer small beside it


def richly_judged() -> LessonBatch:
    """Of each question two answers, two documents that only help, and two useless ones."""
    labels = ("irrelevant", "answer", "relevant", "relevant", "answer", "irrelevant")
    scores = (0.1, 0.9, 0.7, 0.2, 0.9, 0.0)
    return lesson_batch(
        [
            Lesson(
                f"q{n}",
                f"where is {WORDS[n]}?",
                tuple(
                    replace(judged(n + i, WORDS[n + i], label, i + 1), score=score)
                    for i, (label, score) in enumerate(zip(labels, scores, strict=True))
                ),
            )
            for n in range(0, 8, 2)
        ]
    )


def measured(network: RetrieverNetwork, *, step: int = 0, **settings: Any) -> dict[str, float]:
    """The three losses. The margin is so wide that every hinge is open."""
    chosen = RetrieverTraining(update_side="both", **{"margin": 3.0} | settings)
    with torch.no_grad():
        losses = batch_losses(network, richly_judged(), chosen, documents=None, step=step)
    return {name: round(float(loss), 6) for name, loss in losses._asdict().items()}


@pytest.mark.parametrize(
    ("name", "value", "moves"),
    [
        ("temperature", 0.2, {"strict", "flaccid"}),
        ("judge_temperature", 1.0, {"flaccid"}),
        ("margin", 2.0, {"hard"}),
        ("strict_denominator", "all", {"strict"}),
        ("flaccid_support", "relevant", {"flaccid"}),
        ("rank_weights", "reciprocal", {"hard"}),
        ("hard_positives", "best", {"hard"}),
        ("most_negatives", 1, {"hard"}),
    ],
)
def test_each_setting_changes_its_losses_alone(
    network: RetrieverNetwork, name: str, value: object, moves: set[str]
) -> None:
    usual, changed = measured(network), measured(network, **{name: value})
    assert {loss for loss in usual if usual[loss] != changed[loss]} == moves


def test_which_answer_is_drawn_hangs_on_seed_and_step(network: RetrieverNetwork) -> None:
    drawn = [measured(network, step=step, hard_positives="random")["hard"] for step in range(8)]
    assert len(set(drawn)) > 1
    assert drawn == [measured(network, step=step, hard_positives="random")["hard"] for step in range(8)]
    assert drawn != [measured(network, step=s, hard_positives="random", seed=2)["hard"] for s in range(8)]


def test_every_epoch_takes_all_batches_in_an_order_of_its_own() -> None:
    orders = [epoch_order(20, seed=1, epoch=epoch) for epoch in (0, 1)]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(20))
    assert orders[0] != orders[1]
    assert orders[0] == epoch_order(20, seed=1, epoch=0)


def scripted(network: RetrieverNetwork, scores: list[float]) -> tuple[Callable[[], float], list[Any]]:
    """A held-out share with these scores, and the weights whenever it was asked."""
    seen: list[dict[str, Tensor]] = []

    def held_out() -> float:
        seen.append(weights(network))
        return scores[len(seen) - 1]

    return held_out, seen


@pytest.mark.parametrize(
    ("scores", "patience", "steps", "best"),
    [
        ([0.5, 0.6, 0.6, 0.9], 1, 6, 1),  # the second epoch brings nothing, and is the last
        ([0.5, 0.4, 0.6, 0.5, 0.5], 2, 12, 2),
        ([0.1, 0.2, 0.3, 0.4, 0.5], 1, 12, 4),  # to the end
    ],
)
def test_it_ends_when_the_held_out_share_rises_no_more(
    network: RetrieverNetwork, scores: list[float], patience: int, steps: int, best: int
) -> None:
    held_out, seen = scripted(network, scores)
    settings = RetrieverTraining(update_side="both", patience=patience, **QUICK | {"epochs": 4})
    assert len(list(train(network, batches(), settings, held_out=held_out))) == steps
    assert len(seen) == steps // 3 + 1
    assert same(weights(network), seen[best])


def test_a_run_goes_on_from_its_state(sources: Path) -> None:
    every = batches()
    settings = RetrieverTraining(update_side="both", hard_positives="random", **QUICK)

    def fresh() -> tuple[RetrieverNetwork, TrainingState, Callable[[], float]]:
        network = load_network(sources / "mean")
        return network, TrainingState(network, settings), lambda: float(state_of[0].step)

    state_of: list[TrainingState] = []
    whole, state, held_out = fresh()
    state_of[:] = [state]
    wanted = list(train(whole, every, settings, state=state, held_out=held_out))
    for stop_after in range(1, 6, 1 if ALL else 4):
        network, state, held_out = fresh()
        state_of[:] = [state]
        running = train(network, every, settings, state=state, held_out=held_out)
        begun = [next(running) for _ in range(stop_after)]
        kept = {name: value.clone() for name, value in state.tensors().items()}, state.facts()
        network, state, held_out = fresh()
        state_of[:] = [state]
        state.restore(*kept)
        rest = list(train(network, every, settings, state=state, held_out=held_out))
        assert begun + rest == wanted
        assert same(weights(network), weights(whole))


def test_the_places_of_answers_among_all_documents() -> None:
    questions = torch.eye(2)
    documents = torch.tensor([[0.9, 0.1], [0.8, 0.9], [0.8, 0.2], [0.6, 0.9], [0.5, 0.4]])
    for at_once in (1, 2):
        ranks = answer_ranks(questions, documents, [[1, 2, 4], [3]], at_once=at_once)
        assert ranks == [[2, 3, 5], [2]]  # of equals the earlier comes first


def test_figures_by_hand() -> None:
    found = figures([[2, 6], [1], [11]])
    log = math.log2
    assert found["recall_at_5"] == pytest.approx(2 / 3)
    assert found["reciprocal_rank"] == pytest.approx((1 / 2 + 1 + 1 / 11) / 3)
    first = (1 / log(3) + 1 / log(7)) / (1 + 1 / log(3))
    assert found["ndcg_at_10"] == pytest.approx((first + 1 + 0) / 3)


def test_every_setting_of_a_training_can_be_set_in_the_file_with_the_same_default_and_rule() -> None:
    of_file = vars(TrainingSettings())
    of_rounds = {"update_side": "query", "epochs": 4, "learning_rate": 1e-5, "seed": 1}
    assert vars(RetrieverTraining()) == of_file | of_rounds
    assert {name: getattr(LearningSettings(), name) for name in of_rounds} == of_rounds
    wrong = {name: -1 if isinstance(value, int | float) else "none" for name, value in of_file.items()}
    for name in set(wrong) - {"bf16"}:
        for kind in (TrainingSettings, RetrieverTraining):
            with pytest.raises(InvalidSetting, match=rf"^training\.{name} "):
                kind(**{name: wrong[name]})


def test_a_training_without_any_loss_is_refused() -> None:
    none = {f"{loss}_weight": 0.0 for loss in ("strict", "flaccid", "hard")}
    with pytest.raises(InvalidSetting, match="above 0 where no other loss is on"):
        TrainingSettings(**none)
    TrainingSettings(**(none | {"hard_weight": 1.0}))


# The program


def write_lessons(file: Path, every: list[Lesson], held_out: list[Lesson]) -> Path:
    with file.open("w", encoding="utf-8") as lines:
        for lesson in [*every, *held_out]:
            documents = [vars(document) for document in lesson.documents]
            kept = {"id": lesson.id, "question": lesson.question, "held_out": lesson in held_out}
            lines.write(json.dumps(kept | {"documents": documents}) + "\n")
    return file


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_lessons(tmp_path / "lessons.jsonl", lessons(12), lessons(3, first=12))


def saved(network: RetrieverNetwork, folder: Path, _: object) -> tuple[EncoderDescription, float]:
    """Saves the weights without the half minute that an export takes."""
    network.save(folder)
    names = [field.name for field in fields(EncoderDescription)]
    return EncoderDescription(**dict.fromkeys(names, "v")), 0.0  # type: ignore[arg-type]


@pytest.fixture
def unexported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_retriever, "export", saved)


def program(data: Path, out: Path, sources: Path, *more: object, **settings: Any) -> list[str]:
    chosen = json.dumps({"update_side": "both", "patience": 9} | QUICK | settings)
    encoder = ["--encoder", str(sources / "mean"), "--device", "cpu"]
    return [str(data), "--out", str(out), "--settings", chosen, *encoder, *map(str, more)]


def told(captured: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in captured.splitlines()]


def test_the_program_leaves_a_folder_that_serves(
    data: Path, sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "made" / "candidate"
    out.parent.mkdir()
    assert train_retriever.main(program(data, out, sources, "--name", "tiny-2")) == 0
    lines = told(capsys.readouterr().out)
    steps = [line for line in lines if line["kind"] == "step"]
    assert [line["step"] for line in steps] == list(range(1, 7))
    assert steps[0].keys() >= {"steps", "loss", "strict", "flaccid", "hard", "learning_rate"}
    assert all(line["examples_per_second"] > 0 and line["seconds_left"] >= 0 for line in steps)
    assert [line["epoch"] for line in lines if line["kind"] == "held_out"] == [0, 1, 2]
    assert lines[-1]["kind"] == "done"
    assert [entry.name for entry in out.parent.iterdir()] == ["candidate"]

    served, network = OnnxEncoder(out / "served"), load_network(out)
    with torch.no_grad():
        (vectors,) = network.encode(network.questions(TEXTS))
    assert np.abs(served.encode_queries(TEXTS) - vectors.numpy()).max() < 1e-4
    assert served.version.startswith("tiny-2-")

    facts = json.loads((out / "settings.json").read_text())
    assert facts["version"] == served.version == lines[-1]["version"]
    assert facts["data_sha256"] == hashlib.sha256(data.read_bytes()).hexdigest()
    assert facts["counts"]["trained_on"] == 12
    assert facts["counts"]["measured_on"] == 3
    assert facts["settings"]["temperature"] == 0.05
    assert (facts["seed"], facts["update_side"], facts["steps"]) == (1, "both", 6)
    assert facts["largest_difference"] < 1e-4
    measured = json.loads((out / "figures.json").read_text())
    assert measured["chosen"] == measured["epochs"][facts["best_epoch"]]
    assert measured["start"] == measured["epochs"][0]


@pytest.fixture(scope="module")
def whole(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run in one go leaves, with what it told beside it."""
    folder = tmp_path_factory.mktemp("whole")
    lines = write_lessons(folder / "lessons.jsonl", lessons(12), lessons(3, first=12))
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(io.StringIO()) as said:
        patched.setattr(train_retriever, "export", saved)
        assert train_retriever.main(program(lines, folder / "made", sources)) == 0
    (folder / "told").write_text(said.getvalue())
    return folder / "made"


@pytest.mark.usefixtures("unexported")
@pytest.mark.parametrize("stop_at", ["step", "held_out"])
def test_a_stopped_run_goes_on_as_if_it_had_not_been(
    data: Path,
    sources: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    whole: Path,
    stop_at: str,
) -> None:
    before = told(whole.with_name("told").read_text())
    tell, seen = training_run.tell, []

    def stop_at_the_second(kind: str, **facts: Any) -> None:
        tell(kind, **facts)
        seen.append(kind)
        if seen.count(stop_at) == 2 and kind == stop_at:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(training_run, "tell", stop_at_the_second)
    stopped = program(data, tmp_path / "stopped", sources, "--checkpoint-seconds", 0)
    assert train_retriever.main(stopped) == 130
    first = capsys.readouterr()
    assert "--resume" in first.err
    assert not (tmp_path / "stopped").exists()
    assert train_retriever.main([*stopped, "--resume"]) == 0
    after = told(first.out) + told(capsys.readouterr().out)

    def losses(lines: list[dict[str, Any]]) -> list[tuple[int, float]]:
        return [(line["step"], line["loss"]) for line in lines if line["kind"] == "step"]

    assert losses(after) == losses(before)
    one, other = (load_file(made / "model.safetensors") for made in (whole, tmp_path / "stopped"))
    assert same(one, other)
    assert (whole / "figures.json").read_text() == (tmp_path / "stopped" / "figures.json").read_text()
    assert not (tmp_path / "stopped.training").exists()


@pytest.mark.usefixtures("unexported")
def test_a_killed_run_goes_on_from_its_last_checkpoint(
    data: Path, sources: Path, tmp_path: Path, whole: Path
) -> None:
    """SIGKILL at the third step, with a checkpoint after each."""
    script = (
        "import os, sys\n"
        "from assistant.learning.recipes import run\n"
        "from assistant.learning.recipes.retriever import train as t\n"
        "tell = run.tell\n"
        "def until_the_third(kind, **facts):\n"
        "    tell(kind, **facts)\n"
        "    if facts.get('step') == 3: os.kill(os.getpid(), 9)\n"
        "run.tell = until_the_third\n"
        "t.main(sys.argv[1:])\n"
    )
    killed = program(data, tmp_path / "killed", sources, "--checkpoint-seconds", 0)
    child = subprocess.run([sys.executable, "-c", script, *killed], cwd=REPOSITORY, capture_output=True)
    assert child.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed").exists()
    assert train_retriever.main([*killed, "--resume"]) == 0
    one, other = (load_file(made / "model.safetensors") for made in (whole, tmp_path / "killed"))
    assert same(one, other)


def checkpoints(
    monkeypatch: pytest.MonkeyPatch, *, takes: float, every: float = 60.0
) -> tuple[pacing.Checkpoints, list[float], list[float]]:
    """With a clock of its own, which a checkpoint moves by what it takes; and when they were written."""
    clock, written = [0.0], []

    def write() -> None:
        written.append(clock[0])
        clock[0] += takes

    monkeypatch.setattr(pacing.time, "monotonic", lambda: clock[0])
    return pacing.Checkpoints(write, every), clock, written


def test_checkpoints_come_soon_at_first_and_then_more_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    found, clock, written = checkpoints(monkeypatch, takes=0.0)
    for second in range(251):
        clock[0] = float(second)
        found.after_step()
    assert written == [10, 20, 40, 80, 140, 200]


@pytest.mark.parametrize(("takes", "count"), [(0.1, 2), (1.5, 1)])
def test_a_stop_waits_for_a_checkpoint_only_when_it_is_quick(
    monkeypatch: pytest.MonkeyPatch, takes: float, count: int
) -> None:
    found, clock, written = checkpoints(monkeypatch, takes=takes)
    found.before_stop()
    assert not written  # how long it would take is not known yet
    clock[0] = 11.0
    found.after_step()
    found.before_stop()
    assert len(written) == count


def test_a_stop_that_is_not_urgent_waits_for_a_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _, written = checkpoints(monkeypatch, takes=1.5)
    stop = StopSignal()
    stop(signal.SIGINT, None)
    found.before_stop(is_urgent=stop.is_urgent)
    assert len(written) == 1
    stop(signal.SIGTERM, None)
    found.before_stop(is_urgent=stop.is_urgent)
    assert len(written) == 1


@pytest.mark.usefixtures("unexported")
def test_a_run_whose_reader_is_gone_stops_and_can_go_on(
    data: Path, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(kind: str, **facts: Any) -> None:
        if kind == "step":
            raise BrokenPipeError

    with monkeypatch.context() as patched:
        patched.setattr(training_run, "tell", gone)
        assert train_retriever.main(program(data, tmp_path / "out", sources)) == 130
    assert train_retriever.main(program(data, tmp_path / "out", sources, "--resume")) == 0
    assert train_retriever.main(program(data, tmp_path / "out", sources, "--resume")) == 0  # done already


@pytest.mark.usefixtures("unexported")
def test_the_query_side_learns_on_given_vectors(data: Path, sources: Path, tmp_path: Path) -> None:
    network = load_network(sources / "mean")
    texts = [judged(n, word, "answer", 1).text for n, word in enumerate(WORDS)]
    with torch.no_grad():
        (vectors,) = network.encode(network.passages(texts))
    given = tmp_path / "vectors.npz"
    np.savez(given, ids=np.arange(len(texts)), vectors=vectors.numpy())
    before = given.read_bytes()
    for name, more in (("given", ["--vectors", given]), ("own", [])):
        assert train_retriever.main(program(data, tmp_path / name, sources, *more, update_side="query")) == 0
    assert given.read_bytes() == before
    one, other = (load_file(tmp_path / name / "model.safetensors") for name in ("given", "own"))
    for name in one:  # batches of other texts differ in the last bits
        torch.testing.assert_close(one[name], other[name], atol=1e-3, rtol=1e-3)
    facts = json.loads((tmp_path / "given" / "settings.json").read_text())
    assert facts["vectors_sha256"] == hashlib.sha256(before).hexdigest()


def refused(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    assert train_retriever.main(arguments) not in (0, 130)
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert error.count("\n") == 1
    return error


@pytest.mark.usefixtures("unexported")
def test_what_cannot_be_trained_is_said(
    data: Path, sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    np.savez(tmp_path / "few.npz", ids=np.arange(2), vectors=np.eye(2, 32, dtype=np.float32))
    few = program(data, out, sources, "--vectors", tmp_path / "few.npz", update_side="query")
    assert "lacks document 2" in refused(capsys, few)
    np.savez(tmp_path / "wide.npz", ids=np.arange(16), vectors=np.eye(16, 33, dtype=np.float32))
    wide = program(data, out, sources, "--vectors", tmp_path / "wide.npz", update_side="query")
    assert "33 components" in refused(capsys, wide)
    torn = program(data, out, sources, "--vectors", data, update_side="query")
    assert "no ids and vectors" in refused(capsys, torn)
    assert "No such file" in refused(capsys, program(tmp_path / "none", out, sources))
    (tmp_path / "bad.jsonl").write_text("{}\n")
    assert "line 1 of" in refused(capsys, program(tmp_path / "bad.jsonl", out, sources))
    assert "model.safetensors" in refused(capsys, program(data, out, tmp_path))
    assert not out.exists()

    assert train_retriever.main(program(data, out, sources, update_side="query")) == 0
    assert "exists already" in refused(capsys, program(data, out, sources))
    next_round = program(data, tmp_path / "next", sources, update_side="query")
    next_round[next_round.index("--encoder") + 1] = str(out)
    assert "--vectors" in refused(capsys, next_round)


@pytest.mark.usefixtures("unexported")
def test_a_run_goes_on_only_with_its_own_settings_and_data(
    data: Path, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    out = tmp_path / "out"

    def stop(kind: str, **_: Any) -> None:
        if kind == "step":
            os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as patched:
        patched.setattr(training_run, "tell", stop)
        assert train_retriever.main(program(data, out, sources, "--checkpoint-seconds", 0)) == 130
    capsys.readouterr()
    assert "settings" in refused(capsys, program(data, out, sources, "--resume", seed=2))
    other = write_lessons(tmp_path / "other.jsonl", lessons(11), [])
    assert "data_sha256" in refused(capsys, program(other, out, sources, "--resume"))
    checkpoint = tmp_path / "out.training" / "checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    assert "nothing to go on from" in refused(capsys, program(data, out, sources, "--resume"))


@pytest.mark.usefixtures("unexported")
def test_a_loss_that_is_no_number_leaves_nothing(
    data: Path, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def diverging(*_: object, **__: object) -> Iterator[StepReport]:
        yield StepReport(1, 6, float("nan"), 0.0, 0.0, 0.0, 1e-5, 4)

    monkeypatch.setattr(train_retriever, "train", diverging)
    assert "nan" in refused(capsys, program(data, tmp_path / "out", sources))
    assert not (tmp_path / "out").exists()


def test_settings_that_are_none_are_wrong_usage(
    data: Path, sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for changed, reason in (({"temperature": 0}, "above 0"), ({"speed": 1}, "speed")):
        with pytest.raises(SystemExit, match="2"):
            train_retriever.main(program(data, tmp_path / "out", sources, **changed))
        assert reason in capsys.readouterr().err
