"""The served reader gives what its weights give, is exported once, and reads passages of any length."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tiny_sources import tiny_berts

from agents.base.interfaces import ReadAnswer
from agents.models.exported_folders import MODEL_FILE
from agents.models.reader import FLOOR, OnnxReader
from agents.models.reader_files import DamagedReader, ReaderUnavailable
from agents.models.reader_inputs import ReaderTokenizer
from training.reader.served_form import Precision, reader_version

PAIRS = [
    ("where is the key", "the key is on the blue table"),
    ("where", ""),
    ("", "the table"),
    ("is the text blue?", "the text is blue, " * 20),  # far beyond the window of 48 tokens
    ("where is the key " * 20, "table"),  # so is the question
    ("[SEP] the [CLS]", "naïve 東京 🎉 key"),
]
LONG = "the text is on the table. " * 30 + "the blue key"
REPOSITORY = Path(__file__).parents[1]


@dataclass(frozen=True)
class Prepared:
    """A tiny reader: its weights, its body, and the folder it was exported to."""

    base: Path
    weights: Path
    cache: Path
    folder: Path


def exported(weights: Path, cache: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """What the exporter says; the folder is named last."""
    command = [sys.executable, "-m", "training.reader.export", str(weights), str(cache), *more]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=REPOSITORY, env=environment, timeout=300
    )


def folder_of(weights: Path, cache: Path, base: Path, precision: Precision = "int8") -> Path:
    ran = exported(weights, cache, "--base", str(base), "--precision", precision)
    assert ran.returncode == 0, ran.stderr
    return Path(ran.stdout.strip())


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    made = tmp_path_factory.mktemp("reader")
    pairs = made / "pairs.json"
    pairs.write_text(json.dumps(PAIRS), encoding="utf-8")
    base, weights = tiny_berts() / "mean", made / "weights"
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, REPOSITORY / "tests" / "tiny_reader.py", base, weights, pairs]
    subprocess.run(command, check=True, capture_output=True, env=environment, timeout=300)
    file = weights / "reader.safetensors"
    folder = folder_of(file, made / "cache", base)
    return Prepared(base, file, made / "cache", folder)


@pytest.fixture
def reader(prepared: Prepared) -> OnnxReader:
    return OnnxReader(prepared.folder, threads=1)


@pytest.mark.parametrize(
    ("precision", "mean", "largest"),
    [("fp32", 1e-5, 1e-4), ("int8", 0.3, 3.0)],
)
@pytest.mark.slow
def test_logits_are_those_of_torch(
    prepared: Prepared, precision: Precision, mean: float, largest: float
) -> None:
    tokenizer = ReaderTokenizer(prepared.base / "tokenizer.json")
    reference = np.load(prepared.weights.with_name("reference.npz"))
    tokens = [(tokenizer.tokens(first), tokenizer.tokens(second)) for first, second in PAIRS]
    windows = [tokenizer.pair(first, second, 0, limit=48) for first, second in tokens]
    folder = prepared.folder  # int8
    if precision == "fp32":
        folder = folder_of(prepared.weights, prepared.cache / precision, prepared.base, precision)
    rows = OnnxReader(folder, threads=1).logits(windows)
    found = [(row[name], reference[f"{name}{n}"]) for n, row in enumerate(rows) for name in row]
    differences = np.concatenate([np.abs(one - other) for one, other in found])
    assert differences.mean() < mean
    assert differences.max() < largest


def test_reading_is_judging_and_answering_at_once(reader: OnnxReader) -> None:
    question, passages = "where is the key", ["the key is on the table", LONG, ""]
    readings = reader.read(question, passages)
    assert [reading.verdict for reading in readings] == reader.judge(question, passages)
    assert [reading.answer for reading in readings] == reader.answer(question, passages)
    assert readings[1].tokens > 48 > readings[0].tokens  # read in several windows


def test_answers_are_pieces_of_the_passage_best_first_and_apart(reader: OnnxReader) -> None:
    for passage in ("the key is on the blue table", LONG):
        (answer,) = reader.answer("where is the key", [passage], best=4)
        assert [passage[span.start : span.end] for span in answer.spans] == [
            span.text for span in answer.spans
        ]
        probabilities = [span.probability for span in answer.spans]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) + answer.no_answer <= 1 + 1e-9
        ordered = sorted(answer.spans, key=lambda span: span.start)
        assert all(a.end <= b.start for a, b in pairwise(ordered))


def test_an_empty_passage_answers_nothing(reader: OnnxReader) -> None:
    assert reader.answer("where", [""]) == [ReadAnswer((), 1.0)]


def test_the_end_of_a_long_passage_is_read(reader: OnnxReader) -> None:
    assert reader.answer_log_probability("where is the key", LONG, "blue key") > FLOOR


def test_a_given_answer_has_the_probability_of_its_spans(reader: OnnxReader) -> None:
    passage = "the key is on a blue table"  # nothing stands in it twice
    (answer,) = reader.answer("where is the key", [passage], best=1)
    given = reader.answer_log_probability("where is the key", passage, answer.spans[0].text)
    assert given == pytest.approx(math.log(answer.spans[0].probability))


def test_case_and_space_of_a_given_answer_do_not_matter(reader: OnnxReader) -> None:
    passage = "the key is on the blue table"
    found = reader.answer_log_probability("where", passage, "blue table")
    assert found > FLOOR
    assert reader.answer_log_probability("where", passage, " BLUE\n table ") == found


@pytest.mark.parametrize("answer", ["chair", "", "  "])
def test_an_answer_that_stands_nowhere_gets_the_floor(reader: OnnxReader, answer: str) -> None:
    assert reader.answer_log_probability("where", "the key is on the table", answer) == FLOOR


def test_probabilities_of_each_task_sum_to_one(reader: OnnxReader) -> None:
    found = [*reader.verify([("the key is blue", "the key"), ("text", LONG)]), *reader.sort(["the key", ""])]
    assert [sum(probabilities) for probabilities in found] == pytest.approx([1.0] * 4)


def test_half_a_surrogate_pair_is_read(reader: OnnxReader) -> None:
    assert len(reader.read("where \ud83c", ["the \udf89 key"])) == 1


def test_other_facts_are_another_reader(prepared: Prepared, tmp_path: Path) -> None:
    weights = Path(shutil.copytree(prepared.weights.parent, tmp_path / "weights")) / "reader.safetensors"
    facts = json.loads(weights.with_suffix(".json").read_text())
    facts["temperatures"]["judge"] = 1.5
    weights.with_suffix(".json").write_text(json.dumps(facts))
    assert reader_version(weights, "int8", base=prepared.base) != prepared.folder.name


def test_a_model_that_changed_at_its_length_is_noticed(prepared: Prepared, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(prepared.folder, tmp_path / "copy"))
    content = bytearray((folder / MODEL_FILE).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / MODEL_FILE).write_bytes(content)
    with pytest.raises(DamagedReader, match="has changed"):
        OnnxReader(folder)


def test_weights_of_another_network_are_refused(prepared: Prepared, tmp_path: Path) -> None:
    ran = exported(prepared.weights, tmp_path / "cache")  # the packaged body is wider
    assert ran.returncode != 0
    assert "does not fit" in ran.stderr
    assert not list(tmp_path.glob("cache/*/*"))


def test_weights_that_are_not_there_say_so(tmp_path: Path) -> None:
    with pytest.raises(ReaderUnavailable, match="cannot be read"):
        reader_version(tmp_path / "reader.safetensors", "int8")
