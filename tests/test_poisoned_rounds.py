"""A round whose labels were falsified does not go live: real training, real promotion, a small network.

Questions and the passages that answer them share no word, so that only what was trained can find them. Of the
real things only the ONNX export is missing: the served form is the weights, and torch encodes.
"""

from __future__ import annotations

import atexit
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load
from store_fixtures import Stores, document
from test_lessons import ask
from test_train_command import locations
from tiny_sources import tiny_berts

from agents.base.interfaces import Candidate, Judged, Vectors, Verdict
from agents.models.encoders.encoder import EncoderDescription
from agents.models.exporters.export_encoder import read_source
from assistant.learning.held_out.bootstrap import Gain
from assistant.learning.outcome import Ended
from assistant.learning.recipes.retriever import train
from assistant.learning.recipes.retriever.apart import _write_lessons
from assistant.learning.recipes.retriever.network import RetrieverNetwork, load_network
from assistant.learning.recipes.retriever.recipe import ROLE, over
from assistant.settings.config import EncoderSettings, LearningSettings, Settings, TrainingSettings
from assistant.wiring.assistant import Assistant
from stores.database.tables import Judgement
from stores.learning.lessons import Lesson
from stores.search.encoder_versions import TRAINED
from stores.vectors.exact import read_vectors

ASKED = "cat sun key blue".split()
ANSWERING = "lamp door wall roof".split()
QUESTIONS = 320
EPOCHS, RATE = 20, {"query": 1e-2, "both": 5e-3}
WHOLE = {word: f"the {answer} is on the table" for word, answer in zip(ASKED, ANSWERING, strict=True)}


class TorchEncoder:
    """An encoder's folder, or that of a candidate, by torch."""

    source: Path  # whose tokenizer and form all have

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        self.version = read_source(self.source, "mean").version()
        weights = folder / "model.onnx"
        if (folder.parent / "modules.json").is_file():  # the served form within a whole candidate
            self.version = read_source(folder.parent, TRAINED).version()
        self._network = load_network(self.source, name="mean")
        self.dimension = self._network.width
        if weights.is_file():
            self._network.transformer.load_state_dict(load(weights.read_bytes()))

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self._encode(self._network.questions(texts))

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encode(self._network.passages(texts))

    def _encode(self, side: Any) -> Vectors:
        with torch.no_grad():
            found: Vectors = self._network.encode(side)[0].numpy()
        return found


class Truth:
    """Knows which passage answers which question."""

    name = "test"  # as of the judgements that are stored

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        right = next((WHOLE[word] for word in question.split()[3:4] if word in WHOLE), None)
        verdicts = [
            Verdict("answer", 0.9) if c.passage.text == right else Verdict("irrelevant", 0.9)
            for c in candidates
        ]
        return Judged(tuple(verdicts), 0, 0)


@pytest.fixture
def tiny() -> Path:
    return tiny_berts() / "mean"


def exported(network: RetrieverNetwork, folder: Path, _: object) -> tuple[EncoderDescription, float]:
    network.save(folder)
    served = folder / "served"
    served.mkdir()
    shutil.copyfile(folder / "model.safetensors", served / "model.onnx")
    (served / "tokenizer.json").write_text("{}")
    described = EncoderDescription.of(
        served,
        name=TRAINED,
        version=read_source(folder, TRAINED).version(),
        dimension=network.width,
        max_tokens=64,
        pooling="mean",
        query_prefix="",
        passage_prefix="",
        pad_id=0,
        lowest_cosine=1.0,
    )
    described.write(served)
    return described, 0.0


def train_here(folder: Path, lessons: Sequence[Lesson], vectors: Mapping[int, bytes], **more: Any) -> Path:
    """As `train_apart`, in this process."""
    rows, arrays, made = folder / "lessons.jsonl", folder / "vectors.npz", folder / "candidate"
    _write_lessons(rows, lessons, more["measured_on"])
    ids = sorted(vectors)
    np.savez(arrays, ids=np.array(ids), vectors=read_vectors([vectors[i] for i in ids], more["dimension"]))
    code = train.main(
        [
            *(str(rows), "--out", str(made), "--encoder", str(more["encoder"])),
            *(() if more["settings"]["update_side"] == "both" else ("--vectors", str(arrays))),
            *("--settings", json.dumps(more["settings"]), "--device", "cpu", "--resume"),
        ]
    )
    assert code == 0
    return made


@cache
def judged(tiny: Path) -> Path:
    """The data directory of a store in which many users' questions were judged; it takes long to fill."""
    folder = Path(tempfile.mkdtemp(prefix="judged-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    settings = Settings(encoder=EncoderSettings(source=str(tiny)))
    assistant = Assistant(settings, locations(folder), offline=True)
    assistant.search.__dict__["wanted_encoder"] = TorchEncoder(tiny)
    stores = Stores.over(assistant.stores.database)
    ann = stores.journal.user_id("ann")
    for text in WHOLE.values():
        stores.add(ann, document(text, text))
    assistant.catch_up()
    ask_each(stores, range(QUESTIONS))
    assistant.catch_up()
    assistant.close()
    return locations(folder).data


def ask_each(stores: Stores, numbers: Iterable[int]) -> None:
    """A judged question each, of many users: one's own questions are found as well."""
    by_text = {text: version for version, text in stores.texts().items()}
    for number in numbers:
        word, other = ASKED[number % 4], ASKED[(number + 1) % 4]
        verdicts = [(by_text[WHOLE[other]], "irrelevant"), (by_text[WHOLE[word]], "answer")]
        user = stores.journal.user_id(f"user {number}")
        ask(stores, user, verdicts, question=f"where is the {word} {number}?")


class World:
    """Judged questions over a small network."""

    def __init__(self, folder: Path, tiny: Path, *, side: Any = "query") -> None:
        settings = Settings(
            encoder=EncoderSettings(source=str(tiny)),
            learning=LearningSettings(
                fewest_lessons=10, epochs=EPOCHS, learning_rate=RATE[side], update_side=side
            ),
            training=TrainingSettings(patience=5),
        )
        shutil.copytree(judged(tiny), locations(folder).data)
        self.assistant = Assistant(settings, locations(folder), offline=True)
        self.assistant.search.__dict__["wanted_encoder"] = TorchEncoder(tiny)
        self.assistant.models.__dict__["judge"] = Truth()

    def round(
        self, *, train: Callable[..., Path] | None = None, compare: Any = None, seed: int = 1, **more: Any
    ) -> Ended:
        """train, compare: in place of what it does by itself."""
        learner, made = (
            self.assistant.learning.learner_of("retriever"),
            over(self.assistant, train=train or train_here),
        )
        settings = {**made.settings, "seed": seed}
        learner.trainable = replace(made, compare=compare or made.compare, settings=settings)
        return learner.run(**more)

    def ask_more(self, numbers: range) -> None:
        """What judged a candidate judges no other."""
        ask_each(Stores.over(self.assistant.stores.database), numbers)
        self.assistant.catch_up()

    def falsify(self, share: float) -> None:
        """Of so many questions, held-out ones among them, what answers and what does not change places."""
        with self.assistant.stores.database.writing() as sql:
            for row in sql.query(Judgement):
                if random.Random(row.turn_id).random() < share:
                    row.label = "irrelevant" if row.label == "answer" else "answer"

    def found(self) -> float:
        """The share of new questions whose answer comes first."""
        searching = self.assistant.search.searching
        asked = [f"where is the {word} {number}?" for word in ASKED for number in range(1000, 1005)]
        space = searching.spaces.of(self.assistant.stores.journal.user_id("ann"))
        first = [searching.retriever.retrieve(q, space).candidates for q in asked]
        texts = [next(c.passage.text for c in found if c.passage.kind == "document") for found in first]
        return sum(text == WHOLE[q.split()[3]] for q, text in zip(asked, texts, strict=True)) / len(asked)


@pytest.fixture
def torch_encodes(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "export", exported)
    monkeypatch.setattr(TorchEncoder, "source", tiny, raising=False)
    monkeypatch.setattr("agents.models.encoders.prepared.OnnxEncoder", TorchEncoder)
    # real questions are noise to weights that were drawn: test_known_questions.py has them
    monkeypatch.setattr(
        "assistant.learning.held_out.known_questions.gain_on_known", lambda *_, **__: Gain(0.0, 0.0, 0.0, 200)
    )


@pytest.fixture
def world(tmp_path: Path, tiny: Path, torch_encodes: None) -> Iterator[World]:
    made = World(tmp_path, tiny)
    yield made
    made.assistant.close()


def test_true_labels_go_live_and_falsified_ones_never_after_them(world: World) -> None:
    before = world.found()
    first = world.round()
    assert first.state == "promoted", first.reason
    good = world.found()
    assert good > before + 0.15

    world.ask_more(range(400, 500))
    world.falsify(0.3)
    some = world.round()
    assert (some.state, world.assistant.stores.live_models.live(ROLE)) == ("refused", first.version)
    assert some.figures["comparison"]["nDCG@10"]["low"] <= 0

    world.ask_more(range(500, 600))
    world.falsify(1.0)  # those that were false are true again, and all others are false
    most = world.round()
    assert (most.state, world.assistant.stores.live_models.live(ROLE)) == ("refused", first.version)
    assert most.figures["comparison"]["nDCG@10"]["gain"] < -0.1
    assert world.found() == good
