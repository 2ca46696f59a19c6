"""The encoder gives the vectors of its original, and is exported once, whole or not at all."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from tiny_sources import TEXTS, export_of_mean, tiny_berts

from agents.models.concurrent_runs import batches_by_length
from agents.models.encoders.encoder import EncoderDescription, OnnxEncoder
from agents.models.encoders.prepared import PACKAGED_NAME, prepare_encoder
from agents.models.exported_folders import MODEL_FILE
from agents.models.exporter_process import PARTIAL_PREFIX
from agents.models.exporters.export_encoder import read_source
from stores.base.errors import EncoderUnavailable

REPOSITORY = Path(__file__).parents[1]


@dataclass(frozen=True)
class Prepared:
    """A tiny encoder's source, the cache it was exported to, and its exported folder."""

    source: Path
    cache: Path
    folder: Path

    def prepare_again(self) -> tuple[Path, list[str]]:
        """The folder, and what the person who waits was told."""
        told: list[str] = []
        return prepare_encoder(str(self.source), self.cache, tell=told.append, offline=True), told


@pytest.fixture
def sources() -> Path:
    return tiny_berts()


def prepare(source: Path, cache: Path) -> Prepared:
    return Prepared(source, cache, prepare_encoder(str(source), cache, tell=print, offline=True))


@pytest.fixture
def mean() -> Prepared:
    return prepare(tiny_berts() / "mean", export_of_mean())


@pytest.fixture
def copied(mean: Prepared, tmp_path: Path) -> Prepared:
    """One of them in a cache of the test's own, to do harm to."""
    shutil.copytree(mean.cache, tmp_path / "cache")
    return Prepared(mean.source, tmp_path / "cache", tmp_path / "cache" / mean.folder.name)


@pytest.fixture
def broken_source(sources: Path, tmp_path: Path) -> Path:
    """A model whose weights were cut off, as by a full disk."""
    shutil.copytree(sources / "mean", tmp_path / "broken")
    weights = tmp_path / "broken" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    return tmp_path / "broken"


# The vectors


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_vectors_are_those_of_torch(mean: Prepared, sources: Path, tmp_path: Path, pooling: str) -> None:
    prepared = mean if pooling == "mean" else prepare(sources / "cls", tmp_path)
    vectors = OnnxEncoder(prepared.folder).encode_passages(TEXTS)
    np.testing.assert_allclose(vectors, np.load(prepared.source / "reference.npy"), atol=1e-4, rtol=0)


@pytest.mark.parametrize("batch_tokens", [1, 40])
def test_a_vector_does_not_depend_on_its_batch(mean: Prepared, batch_tokens: int) -> None:
    encoder = OnnxEncoder(mean.folder, batch_tokens=batch_tokens)
    alone = np.concatenate([encoder.encode_passages([text]) for text in TEXTS])
    np.testing.assert_allclose(encoder.encode_passages(TEXTS), alone, atol=1e-5)


def test_what_lies_beyond_the_window_changes_nothing(mean: Prepared) -> None:
    start = "the key is on the table " * 5
    vectors = OnnxEncoder(mean.folder).encode_passages([start + "blue", start + "where is it"])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)


def test_queries_and_passages_get_their_own_prefix(mean: Prepared) -> None:
    encoder = OnnxEncoder(mean.folder)
    asked, stored = encoder.encode_queries(["key"])[0], encoder.encode_passages(["key"])[0]
    assert np.abs(asked - stored).max() > 1e-3
    described = EncoderDescription.read(mean.folder)
    assert (described.query_prefix, described.passage_prefix) == ("ask: ", "text: ")


def test_half_a_surrogate_pair_is_encoded_like_a_question_mark(mean: Prepared) -> None:
    vectors = OnnxEncoder(mean.folder).encode_passages(["key \ud83d", "key ?"])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)


def test_batches_hold_like_lengths_and_keep_to_their_tokens() -> None:
    # Longest first: 9 alone (2 x 9 > 12), then 4 and 3 and 3 (3 x 4 = 12), then 1.
    assert list(batches_by_length([3, 9, 1, 4, 3], 12)) == [[1], [3, 0, 4], [2]]


def test_serving_loads_no_torch(mean: Prepared) -> None:
    program = (
        "import sys; from pathlib import Path; from agents.models.encoders.encoder import OnnxEncoder;"
        "OnnxEncoder(Path(sys.argv[1])).encode_queries(['key']);"
        "print(sorted({'torch', 'transformers', 'huggingface_hub'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, mean.folder],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    assert ran.stdout.strip() == "[]"


# The export


def test_a_second_preparation_does_not_export_again(mean: Prepared) -> None:
    before = (mean.folder / MODEL_FILE).stat().st_mtime_ns
    folder, told = mean.prepare_again()
    assert (folder, told) == (mean.folder, [])
    assert (folder / MODEL_FILE).stat().st_mtime_ns == before


def test_a_source_with_the_same_content_is_not_exported_again(copied: Prepared) -> None:
    (copied.cache / "index.json").unlink()
    assert copied.prepare_again() == (copied.folder, [])


def test_the_version_is_made_from_content_and_fits_in_names(sources: Path, mean: Prepared) -> None:
    version = OnnxEncoder(mean.folder).version
    assert version == mean.folder.name
    assert re.fullmatch(r"(mean|cls)-[0-9a-f]{12}", version)
    source = read_source(sources / "mean", "._ the/model: " + "x" * 100)
    assert re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,58}[a-zA-Z0-9]", source.version())
    other_pooling = read_source(sources / "cls", source.name)
    assert other_pooling.version() != source.version()


def test_a_truncated_model_is_noticed_and_exported_anew(
    mean: Prepared, copied: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = copied.folder / MODEL_FILE
    model.write_bytes(model.read_bytes()[:-100])
    with pytest.raises(EncoderUnavailable, match="not whole"):
        OnnxEncoder(copied.folder)
    exported: list[str] = []

    def export(module: str, arguments: Sequence[str], **_how: object) -> Path:
        exported.append(arguments[0])
        shutil.copytree(mean.folder, copied.folder, dirs_exist_ok=True)
        return copied.folder

    monkeypatch.setattr("agents.models.encoders.prepared.run_exporter", export)
    folder, _ = copied.prepare_again()
    assert (folder, exported) == (copied.folder, [str(copied.source)])
    assert OnnxEncoder(folder).encode_passages(TEXTS).shape == (len(TEXTS), 32)
    assert {f.name for f in copied.cache.iterdir()} == {".lock", "index.json", folder.name}


def test_a_model_that_changed_at_its_length_is_noticed(copied: Prepared) -> None:
    model = copied.folder / MODEL_FILE
    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 1
    model.write_bytes(content)
    with pytest.raises(EncoderUnavailable, match="has changed"):
        OnnxEncoder(copied.folder)


@pytest.mark.parametrize("content", ["", '{"dimension": "x"}'])
def test_a_malformed_description_is_noticed(copied: Prepared, content: str) -> None:
    (copied.folder / "encoder.json").write_text(content, encoding="utf-8")
    with pytest.raises(EncoderUnavailable, match="not whole"):
        OnnxEncoder(copied.folder)


def test_an_exported_folder_is_its_own_source(mean: Prepared, tmp_path: Path) -> None:
    assert prepare_encoder(str(mean.folder), tmp_path, tell=print, offline=True) == mean.folder


def test_a_failed_export_leaves_nothing_and_says_why(broken_source: Path, tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match=r"broken could not be prepared: .*SafetensorError"):
        prepare_encoder(str(broken_source), tmp_path / "cache", tell=print, offline=True)
    assert [f.name for f in (tmp_path / "cache").iterdir()] == [".lock"]


def test_a_killed_export_leaves_no_encoder(sources: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "agents.models.exporters.export_encoder",
        sources / "mean",
        tmp_path / "target",
    ]
    with subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.DEVNULL) as exporter:
        while not list(tmp_path.glob(f"{PARTIAL_PREFIX}*/whole")):
            assert exporter.poll() is None
            time.sleep(0.02)
        exporter.kill()
    assert not (tmp_path / "target").exists()


def test_one_process_waits_for_another(copied: Prepared) -> None:
    lock = FileLock(copied.cache / ".lock")
    index = (copied.cache / "index.json").read_bytes()
    (copied.cache / "index.json").unlink()
    lock.acquire()

    def other_finishes(sentence: str) -> None:
        assert "Waiting" in sentence
        (copied.cache / "index.json").write_bytes(index)
        lock.release()

    assert (
        prepare_encoder(str(copied.source), copied.cache, tell=other_finishes, offline=True) == copied.folder
    )


def test_pickled_weights_are_refused(sources: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(sources / "mean", folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(EncoderUnavailable, match=r"only safetensors .* pytorch_model\.bin"):
        prepare_encoder(str(folder), tmp_path / "cache", tell=print, offline=True)


def test_an_unknown_step_is_refused(sources: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dense"
    shutil.copytree(sources / "mean", folder)
    steps = [{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]
    (folder / "modules.json").write_text(json.dumps(steps), encoding="utf-8")
    with pytest.raises(EncoderUnavailable, match="Dense step"):
        read_source(folder, "dense")


@pytest.mark.parametrize(
    ("config", "pooling"),
    [({"pooling_mode": "cls"}, "cls"), ({"pooling_mode": ["mean"]}, "mean"), ({}, "mean")],
)
def test_newer_pooling_settings_are_read(
    sources: Path, tmp_path: Path, config: dict[str, object], pooling: str
) -> None:
    shutil.copytree(sources / "mean", tmp_path / "model")
    (tmp_path / "model" / "1_Pooling" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert read_source(tmp_path / "model", "model").pooling == pooling


def test_a_hub_model_that_is_not_cached_says_so_offline(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="not downloaded before, and this is offline"):
        prepare_encoder("nobody/such-encoder", tmp_path, tell=print, offline=True)


def test_a_folder_that_is_not_there_is_no_hub_name(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="no such folder"):
        prepare_encoder(str(tmp_path / "nothing"), tmp_path, tell=print, offline=True)


# The packaged encoder


@pytest.fixture(scope="module")
def minilm(minilm_folder: Path) -> OnnxEncoder:
    return OnnxEncoder(minilm_folder)


def test_close_sentences_score_higher_than_unrelated_ones(minilm: OnnxEncoder) -> None:
    assert minilm.dimension == 384
    assert minilm.version.startswith(PACKAGED_NAME + "-")
    (question,) = minilm.encode_queries(["Where are my keys?"])
    passages = minilm.encode_passages(
        ["The keys are on the kitchen table.", "Water boils at 100 degrees at sea level."]
    )
    close, unrelated = (passages @ question).tolist()
    assert close > 0.4 > 0.2 > unrelated
