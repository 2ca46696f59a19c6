"""The task-dialogue generator: what it reads, what it tells, and how a reply is scored."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_dialogues import HashedEncoder, write_dialogues

from agents.models.dialogue_arrays import END, Strings, Vocabulary, decoded
from agents.models.dialogue_generator import (
    SHIPPED,
    DialogueDescription,
    DialogueGenerator,
    DialogueUnavailable,
)
from agents.models.dialogue_inputs import MOST_WORDS, NAME, DialogueInputs, as_value, dialogue_inputs, spoken
from agents.models.networks.dialogue import DialogueBatch, DialogueNetwork, Shape
from assistant.learning.recipes.dialogue.batches import batch_of
from assistant.learning.recipes.dialogue.lessons import lessons, vocabulary_of
from assistant.learning.recipes.dialogue.replying import replies
from assistant.learning.recipes.training_state import write_checkpoint
from stores.base.entities import Entity
from training.dialogue.entity_retriever import supervised

ROWS = [
    Entity("kiku", {"food": "japanese", "phone": "555_1"}),
    Entity("pho_lan", {"food": "vietnamese", "phone": "555_2"}),
    Entity("anatolia", {"food": "turkish"}),
]
VOCABULARY = Vocabulary(["is", "a", "restaurant", "the", "of"])


STRINGS = Strings(HashedEncoder())


def inputs(*utterances: str, rows: Sequence[Entity] = ROWS) -> DialogueInputs:
    return dialogue_inputs(utterances, rows, {"food": "japanese"}, 1, {"japanese": "food"})


@pytest.fixture
def network() -> DialogueNetwork:
    torch.manual_seed(1)
    return DialogueNetwork(Shape(len(VOCABULARY), width=32, heads=4, inner=64)).eval()


def chances(network: DialogueNetwork, batch: DialogueBatch) -> tuple[torch.Tensor, torch.Tensor]:
    past = network.nothing_said(len(batch.said_ids))
    said = batch.said_ids, batch.said_vectors, batch.said_columns
    words, positions, _ = network.told(said, past, network.prepared(batch))
    return words, positions


def test_the_inputs_say_what_was_said_of_each_cell() -> None:
    read = inputs("japanese food", "kiku is japanese", "the phone ?")
    assert read.words == ("japanese", "food", "kiku", "is", "japanese", "the", "phone", "?")
    assert read.is_user == (True, True, False, False, False, True, True, True)
    assert read.turns_back == (2, 2, 1, 1, 1, 0, 0, 0)
    assert read.columns == (NAME, "food", "phone")
    assert [read.columns[c] if c >= 0 else "" for c in read.word_columns[:3]] == ["food", "", ""]
    (name, food, _phone), second, _ = read.rows
    assert name.features[:4] == (0, 0, 1, 1)  # named by the system, and just now
    assert food.features[:5] == (1, 0, 1, 1, 1)  # by the user before, and what is wanted
    assert second[1].features[7:9] == (0, 1 / 3)  # meets nothing, contradicts one
    assert inputs(" ".join(map(str, range(300)))).words[-1] == "299"
    assert len(inputs(" ".join(map(str, range(300)))).words) == MOST_WORDS


def test_probabilities_add_up_to_1_at_each_step(network: DialogueNetwork) -> None:
    batch = batch_of(
        [inputs("japanese food please"), inputs("hello", rows=[])],
        [["kiku", "is", "japanese"], ["the"]],
        VOCABULARY,
        STRINGS,
        most_rows=3,
    )
    words, positions = chances(network, batch)
    total = words.exp().sum(2) + positions.exp().sum(2)
    assert torch.allclose(total, torch.ones_like(total), atol=1e-5)


def test_what_is_computed_of_an_entity_does_not_depend_on_the_others(network: DialogueNetwork) -> None:
    whole = inputs("where is pho_lan", "it is in the centre", "its phone ?")
    together = batch_of([whole], [[]], VOCABULARY, STRINGS, most_rows=3)
    alone = batch_of([replace(whole, rows=whole.rows[1:2])], [[]], VOCABULARY, STRINGS, most_rows=3)
    length, cells = together.word_ids.shape[1], together.cell_vectors.shape[2]
    _, _, of_all = network.memory(together)
    _, _, of_one = network.memory(alone)
    second = of_all[0, length + cells : length + 2 * cells]
    assert torch.allclose(second, of_one[0, length:], atol=1e-5)


def test_a_reply_is_scored_as_the_sum_of_its_steps_and_padding_changes_nothing(
    network: DialogueNetwork,
) -> None:
    first, second = inputs("japanese food please"), inputs("a very long message " * 5 + "about food")
    reply = ["kiku", "is", "a", "japanese", "restaurant"]
    alone = batch_of([first], [reply], VOCABULARY, STRINGS, most_rows=3)
    padded = batch_of([first, second], [reply, [*reply, "of", "the"]], VOCABULARY, STRINGS, most_rows=3)
    assert torch.allclose(network.likelihood(alone), network.likelihood(padded)[:1], atol=1e-5)
    total = 0.0
    for step in range(len(reply) + 1):  # word by word: fed what came before, asked for what comes next
        begun = batch_of([first], [reply[:step]], VOCABULARY, STRINGS, most_rows=3)
        words, positions = chances(network, begun)
        right = [*reply, END][step]
        chance = positions[0, step].exp()[alone.target_positions[0, step]].sum()
        if VOCABULARY.id(right) >= 0:
            chance = chance + words[0, step, VOCABULARY.id(right)].exp()
        total += float(chance.log().detach())
    assert float(network.likelihood(alone).detach()) == pytest.approx(total / (len(reply) + 1), abs=1e-5)


def test_a_word_without_a_source_is_left_out_of_the_likelihood() -> None:
    batch = batch_of([inputs("hello")], [["unheard", "is", "555_2"]], VOCABULARY, STRINGS, most_rows=3)
    assert batch.target_mask.tolist() == [[False, True, True, True]]
    assert int(batch.target_positions[0, 2].sum()) == 1  # the phone of the second row
    assert not batch_of([inputs("hello")], [["555_2"]], VOCABULARY, STRINGS, most_rows=1).target_mask[0, 0]


def test_values_of_several_words_are_one_word_of_what_is_spoken() -> None:
    values = {as_value("7 Milton Road, Chesterton"), as_value("Milton Road"), "thai"}
    told = spoken("It's at 7 Milton Road, Chesterton; don't go to the 'Thai' on Milton road at 3.50!", values)
    assert told == (
        "it 's at 7_milton_road_,_chesterton ; do n't go to the ' thai ' on milton_road at 3.50 !"
    )
    assert spoken("", values) == as_value(" ") == ""


def test_groups_of_a_beam_differ_and_no_value_is_told_twice() -> None:
    texts: dict[str, list[int]] = {"kiku": [0, 2], "555_1": [1], "is": [3]}

    def step(ids: np.ndarray, *_: object) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
        words = np.log(np.full((len(ids), len(VOCABULARY)), 0.01, np.float32))
        words[:, VOCABULARY.id(END)] = np.log(0.1)
        return words, np.log(np.tile(np.array([[0.1, 0.3, 0.3, 0.0001]], np.float32), (len(ids), 1)))

    columns = np.array([[0, 1, 0, 2]] * 3)
    alone, *_ = decoded(step, [texts], columns, VOCABULARY, STRINGS)
    assert alone.words == ["kiku", "555_1"]  # the likeliest at both its places together, then the other
    assert alone.positions == [2, 1]
    assert alone.log_likelihood == pytest.approx((np.log(0.4) + np.log(0.3) + np.log(0.1)) / 3, abs=1e-3)
    beam = decoded(step, [texts] * 3, columns, VOCABULARY, STRINGS, penalty=5.0)
    assert [told.words[:1] for told in beam] == [["kiku"], ["555_1"], []]


def exported(weights: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "agents.models.exporters.export_dialogue", str(weights), str(folder)]
    home = Path(__file__).parent.parent
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=home)


@pytest.mark.slow
def test_what_is_served_replies_as_the_network_does(network: DialogueNetwork, tmp_path: Path) -> None:
    file = tmp_path / "dialogue.safetensors"
    facts = {"words": VOCABULARY.words, "shape": {"width": 32, "heads": 4, "inner": 64}}
    write_checkpoint(file, network.state_dict(), facts)
    assert exported(file, tmp_path / "served").returncode == 0
    served = DialogueGenerator(tmp_path / "served", HashedEncoder())
    for asked in (inputs("japanese food"), inputs("the phone of kiku ?", "555_1", "and pho_lan"), inputs("")):
        greedy, *_ = served.replies(asked, most=1)
        assert greedy.words == replies(network, [asked], VOCABULARY, STRINGS, most_rows=7)[0]
    assert served.replies(inputs("hello", rows=[]))
    (tmp_path / "served" / "step.onnx").write_bytes(b"something else")
    with pytest.raises(DialogueUnavailable, match="has changed since it was exported"):
        DialogueGenerator(tmp_path / "served", HashedEncoder())
    (tmp_path / "broken").write_bytes(b"nothing")
    refused = exported(tmp_path / "broken", tmp_path / "never")
    assert refused.returncode == 3
    assert "holds no task-dialogue generator" in refused.stderr
    assert not (tmp_path / "never").exists()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_dialogues(tmp_path)


def test_turns_become_lessons_at_both_levels(data: Path) -> None:
    found = list(lessons(data, "camrest", "train", "session", STRINGS))
    assert [len(lesson.inputs.rows) for lesson in found[:2]] == [2, 2]
    assert found[0].inputs.rows[0][0].value == "place_0"  # it meets what is wanted
    assert found[1].inputs.rows[0][0].value == "place_0"  # it is talked about
    assert found[1].inputs.utterances == ("thai food please", "place_0 serves thai food", "its phone ?")
    everywhere = list(lessons(data, "camrest", "train", "dataset", STRINGS))
    assert len(everywhere[0].inputs.rows) == 4
    words = vocabulary_of(found, {"thai", "greek", "place_0", "place_1", "place_2", "place_3"}.__contains__)
    assert {"serves", "food", "it", "is"} <= set(words)
    assert "thai" not in words


def test_a_turn_is_about_the_entity_whose_values_are_told_most() -> None:
    assert supervised(ROWS, "japanese food", "kiku 's phone is 555_1") == 0
    assert supervised(ROWS, "japanese or turkish", "anatolia") == 2  # more of its values
    assert supervised(ROWS, "japanese or turkish", "turkish") == 2  # as many, and more in the reply
    assert supervised(ROWS, "japanese or turkish", "well") == 0  # the first
    assert supervised([Entity("x", {"parking": "yes"})], "yes x", "yes") is None
    assert supervised([], "japanese", "kiku") is None


def test_the_shipped_generator_is_whole_small_and_described() -> None:
    facts, files = DialogueDescription.read(SHIPPED)
    assert facts.largest_difference < 1e-3
    assert sum(map(len, files.values())) < 20_000_000
    assert "restaurant" in facts.words
    assert not any(word.startswith(("book", "reserv")) for word in facts.words)  # it promises no booking
    with pytest.raises(DialogueUnavailable, match="not whole"):
        DialogueDescription.read(SHIPPED.parent)


@pytest.mark.slow
def test_a_training_that_was_stopped_goes_on_to_the_same_network(data: Path, tmp_path: Path) -> None:
    def run(out: str, *options: str) -> str:
        command = [sys.executable, "-m", "training.dialogue.train_dialogue", str(data)]
        ran = subprocess.run(
            [*command, "--out", str(tmp_path / out), "--epochs", "2", *options],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent.parent,
        )
        return ran.stdout

    told = run("whole", "--test")
    assert "camrest test, 8 turns, session level" in told
    assert "out of time" in run("parts", "--minutes", "0.0001")
    assert "epoch 2" in run("parts")
    whole, parts = (tmp_path / name / "state.safetensors" for name in ("whole", "parts"))
    assert whole.read_bytes() == parts.read_bytes()
