"""A foreign cross-encoder gives the scores of its original, and is exported once, whole or not at all."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from agents.models.cross_encoder import (
    DESCRIPTION_FILE,
    CrossEncoderDescription,
    CrossEncoderUnavailable,
    OnnxCrossEncoder,
    PairTokenizer,
    prepare_cross_encoder,
    probabilities,
    useful_class,
)
from agents.models.exported_folders import MODEL_FILE
from agents.models.exporters.export_cross_encoder import read_config

QUESTION = "where is the key?"
PASSAGES = [
    "the key is on the table",
    "",
    "Where is the BLUE key?",
    "the table is blue, " * 15
    + "the key is on the table "
    + "the table is blue, " * 5,  # several windows of 64
    "naïve 東京 🎉",
    "key",
]
REPOSITORY = Path(__file__).parents[1]


@dataclass(frozen=True)
class Prepared:
    """A tiny cross-encoder's source, the cache it was exported to, and its exported folder."""

    source: Path
    cache: Path
    folder: Path

    def prepare_again(self) -> tuple[Path, list[str]]:
        """The folder, and what the person who waits was told."""
        told: list[str] = []
        return prepare_cross_encoder(str(self.source), self.cache, tell=told.append, offline=True), told


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    (folder / "texts.json").write_text(json.dumps([QUESTION, *PASSAGES]), encoding="utf-8")
    script = REPOSITORY / "tests" / "tiny_cross_encoders.py"
    subprocess.run([sys.executable, script, folder, folder / "texts.json"], check=True, capture_output=True)
    return folder


def prepare(source: Path, cache: Path) -> Prepared:
    return Prepared(source, cache, prepare_cross_encoder(str(source), cache, tell=print, offline=True))


@pytest.fixture(scope="session")
def bert(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepare(sources / "bert", tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def xlmr(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepare(sources / "xlmr", tmp_path_factory.mktemp("cache"))


@pytest.fixture(params=["bert", "xlmr"])
def prepared(request: pytest.FixtureRequest) -> Prepared:
    found: Prepared = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def copied(bert: Prepared, tmp_path: Path) -> Prepared:
    """One of them in a cache of the test's own, to do harm to."""
    shutil.copytree(bert.cache, tmp_path / "cache")
    return Prepared(bert.source, tmp_path / "cache", tmp_path / "cache" / bert.folder.name)


@pytest.fixture
def changed(sources: Path, tmp_path: Path) -> Path:
    """A source of the test's own, to do harm to."""
    shutil.copytree(sources / "bert", tmp_path / "changed")
    return tmp_path / "changed"


def refusal(source: Path, cache: Path) -> str:
    """What is said of a source that cannot be prepared; nothing of it may stay in the cache."""
    with pytest.raises(CrossEncoderUnavailable) as caught:
        prepare_cross_encoder(str(source), cache, tell=print, offline=True)
    assert caught.value.exit_code == 3
    assert caught.value.hint
    assert [file.name for file in cache.iterdir()] == [".lock"]
    return caught.value.message


# The scores


def test_scores_are_those_of_torch(prepared: Prepared) -> None:
    scores = OnnxCrossEncoder(prepared.folder).scores(QUESTION, PASSAGES)
    expected = json.loads((prepared.source / "reference.json").read_text(encoding="utf-8"))
    np.testing.assert_allclose(scores, expected, atol=1e-4, rtol=0)
    assert np.ptp(expected) > 0.1  # so that no two passages could be mistaken for each other
    assert CrossEncoderDescription.read(prepared.folder).largest_difference < 1e-4


@pytest.mark.parametrize("batch_tokens", [1, 200])
def test_a_score_does_not_depend_on_its_batch_or_place(bert: Prepared, batch_tokens: int) -> None:
    cross_encoder = OnnxCrossEncoder(bert.folder, batch_tokens=batch_tokens)
    alone = [cross_encoder.scores(QUESTION, [passage])[0] for passage in PASSAGES]
    np.testing.assert_allclose(cross_encoder.scores(QUESTION, PASSAGES), alone, atol=1e-5)
    np.testing.assert_allclose(cross_encoder.scores(QUESTION, PASSAGES[::-1]), alone[::-1], atol=1e-5)


def test_a_long_passage_is_as_useful_as_its_best_window(bert: Prepared) -> None:
    cross_encoder = OnnxCrossEncoder(bert.folder)
    ends = ["the key is on the table", "blue", "9 9 9 9"]
    begin = "table " * 100  # more than one window by itself
    scores = cross_encoder.scores(QUESTION, [begin, *(begin + end for end in ends)])
    assert all(score >= scores[0] - 1e-6 for score in scores)
    assert max(scores) > scores[0] + 0.01


def test_of_a_long_question_the_beginning_is_read(prepared: Prepared) -> None:
    cross_encoder = OnnxCrossEncoder(prepared.folder)
    (first,) = cross_encoder.scores("where is the key " * 8, ["the key"])  # 32 words; 30 tokens are read
    (second,) = cross_encoder.scores("where is the key " * 7 + "where is blue", ["the key"])
    assert first == pytest.approx(second, abs=1e-6)


def test_tokens_are_counted_with_their_frame(bert: Prepared) -> None:
    # [CLS] key [SEP] blue [SEP], and [CLS] key [SEP] the table [SEP]
    assert OnnxCrossEncoder(bert.folder).count_tokens("key", ["blue", "the table"]) == 5 + 6


def test_windows_share_half_of_the_passage_when_they_are_small(sources: Path) -> None:
    tokenizer = PairTokenizer((sources / "bert" / "tokenizer.json").read_bytes(), window=15, pad_id=0)
    # "1" ... "9", "a" ... are one token each; 15 - 3 of the frame - 2 of the question leave 10.
    ids = tokenizer.ids("a b c d e f g h i j k l m n o p q r")  # 18
    (windows,) = tokenizer.windows("blue key", ["a b c d e f g h i j k l m n o p q r"])
    head = [2, *tokenizer.ids("blue key"), 3]
    assert [w.ids for w in windows] == [[*head, *ids[at : at + 10], 3] for at in (0, 5, 10)]
    assert {w.second_at for w in windows} == {4}
    (one,) = tokenizer.windows("blue key", ["a b c d e f g h i j"])
    assert [w.ids for w in one] == [[*head, *ids[:10], 3]]


@pytest.mark.parametrize(
    ("name", "text", "end"), [("xlmr", "key </s> <pad> table <s>", 2), ("bert", "[SEP]", 3)]
)
def test_a_text_cannot_end_itself(sources: Path, name: str, text: str, end: int) -> None:
    content = (sources / name / "tokenizer.json").read_bytes()
    tokenizer = PairTokenizer(content, window=64, pad_id=1 if name == "xlmr" else 0)
    ((window,),) = tokenizer.windows("", [text])
    ((empty,),) = tokenizer.windows("", [""])
    assert window.ids.count(end) == empty.ids.count(end)
    assert window.length > empty.length


def test_one_class_goes_through_a_sigmoid_and_more_through_a_softmax() -> None:
    one = np.array([[0.0], [math.log(3)], [-1000.0]], dtype=np.float32)
    np.testing.assert_allclose(probabilities(one, 0), [1 / 2, 3 / 4, 0], atol=1e-7)
    three = np.array([[0, math.log(2), 0], [math.log(8), 0, 0]], dtype=np.float32)
    np.testing.assert_allclose(probabilities(three, 1), [2 / 4, 1 / 10], atol=1e-7)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["LABEL_0"], 0),
        (["LABEL_0", "LABEL_1", "LABEL_2"], 2),
        (["contradiction", "entailment", "neutral"], 1),
        (["irrelevant", "answer", "relevant"], 1),
    ],
)
def test_the_useful_class_is_the_one_so_named_or_the_last(names: list[str], expected: int) -> None:
    assert useful_class(dict(enumerate(names))) == expected


# The export


def test_a_truncated_model_is_noticed(copied: Prepared) -> None:
    model = copied.folder / MODEL_FILE
    model.write_bytes(model.read_bytes()[:-100])
    with pytest.raises(CrossEncoderUnavailable, match="not whole"):
        OnnxCrossEncoder(copied.folder)


@pytest.mark.parametrize("file", [MODEL_FILE, "tokenizer.json"])
def test_a_file_that_changed_at_its_length_is_noticed(copied: Prepared, file: str) -> None:
    content = bytearray((copied.folder / file).read_bytes())
    content[len(content) // 2] ^= 1
    (copied.folder / file).write_bytes(content)
    with pytest.raises(CrossEncoderUnavailable, match="has changed"):
        OnnxCrossEncoder(copied.folder)


@pytest.mark.parametrize("content", ["", '{"window": "x"}'])
def test_a_malformed_description_is_noticed(copied: Prepared, content: str) -> None:
    (copied.folder / DESCRIPTION_FILE).write_text(content, encoding="utf-8")
    with pytest.raises(CrossEncoderUnavailable, match="not whole"):
        OnnxCrossEncoder(copied.folder)


def test_weights_without_a_head_are_refused(changed: Path, tmp_path: Path) -> None:
    weights = load_file(changed / "model.safetensors")
    body = {name: value for name, value in weights.items() if not name.startswith("classifier")}
    save_file(body, changed / "model.safetensors", metadata={"format": "pt"})
    assert "lack classifier.bias, classifier.weight" in refusal(changed, tmp_path / "cache")


def test_pickled_weights_are_refused(changed: Path, tmp_path: Path) -> None:
    (changed / "model.safetensors").rename(changed / "pytorch_model.bin")
    assert "only safetensors weights are read, and pytorch_model.bin" in refusal(changed, tmp_path / "cache")


def test_a_model_that_wants_a_prompt_is_refused(changed: Path, tmp_path: Path) -> None:
    settings = {"prompts": {"query": "judge this: "}, "default_prompt_name": "query"}
    (changed / "config_sentence_transformers.json").write_text(json.dumps(settings), encoding="utf-8")
    assert "wants a prompt" in refusal(changed, tmp_path / "cache")


@pytest.mark.parametrize(
    "config",
    [
        "",
        "{}",
        '{"architectures": ["BertForSequenceClassification"], "problem_type": "multi_label_classification"}',
    ],
)
def test_a_config_that_tells_of_no_classes_is_refused(tmp_path: Path, config: str) -> None:
    (tmp_path / "config.json").write_text(config, encoding="utf-8")
    with pytest.raises(CrossEncoderUnavailable):
        read_config(tmp_path)
