"""What an exported folder says of itself is checked, whichever model lies in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.models.cross_encoder import CrossEncoderDescription
from agents.models.encoders.encoder import EncoderDescription
from agents.models.exported_folders import MODEL_FILE, TOKENIZER_FILE, Description, exporting_into, loading
from agents.models.exporters.onnx_export import must_be_the_same, whole_folder
from agents.models.reader_files import ReaderDescription
from stores.base.errors import EncoderUnavailable, VouchError

FACTS: dict[type[Description], dict[str, Any]] = {
    EncoderDescription: {
        "name": "Ä",
        "dimension": 32,
        "max_tokens": 16,
        "pooling": "mean",
        "query_prefix": "",
        "passage_prefix": "",
        "pad_id": 0,
        "lowest_cosine": 1.0,
    },
    CrossEncoderDescription: {"window": 64, "pad_id": 0, "useful_class": 1},
    ReaderDescription: {
        "precision": "int8",
        "window": 48,
        "temperatures": {"judge": 1.0, "spans": 1.0, "verify": 1.0, "sort": 1.0, "relate": 1.0},
    },
}


@pytest.fixture(params=FACTS, ids=lambda kind: str(kind.__name__))
def kind(request: pytest.FixtureRequest) -> type[Description]:
    made: type[Description] = request.param
    return made


@pytest.fixture
def described(kind: type[Description], tmp_path: Path) -> Description:
    (tmp_path / MODEL_FILE).write_bytes(b"model")
    (tmp_path / TOKENIZER_FILE).write_bytes(b"tokenizer")
    made = kind.of(tmp_path, version="one-1", **FACTS[kind])
    made.write(tmp_path)
    return made


def change(kind: type[Description], folder: Path, **facts: object) -> None:
    file = folder / kind.FILE
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | facts), encoding="utf-8")


def test_a_description_comes_back_as_it_was_written(described: Description, tmp_path: Path) -> None:
    kind = type(described)
    assert kind.read(tmp_path) == described
    assert kind.is_there(tmp_path)
    assert described.read_files(tmp_path) == (b"model", b"tokenizer")


@pytest.mark.parametrize("file", [MODEL_FILE, TOKENIZER_FILE])
def test_a_missing_file_is_noticed(described: Description, tmp_path: Path, file: str) -> None:
    (tmp_path / file).unlink()
    assert not described.is_there(tmp_path)
    with pytest.raises(VouchError, match="not whole"):
        described.read_files(tmp_path)


@pytest.mark.parametrize("file", [MODEL_FILE, TOKENIZER_FILE])
def test_a_changed_file_is_noticed(described: Description, tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_bytes((tmp_path / file).read_bytes()[::-1])
    with pytest.raises(VouchError, match=f"{file} has changed"):
        described.read_files(tmp_path)


@pytest.mark.usefixtures("described")
@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"format": 2}, "its format is 2, not 1"),
        ({"model_bytes": 6}, "has 5 bytes, not 6"),
        ({"version": 1}, "version in .* is malformed"),
        ({"model_bytes": 5.0}, "model_bytes in .* is malformed"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_does_not_fit_is_refused(
    kind: type[Description], tmp_path: Path, facts: dict[str, object], reason: str
) -> None:
    change(kind, tmp_path, **facts)
    with pytest.raises(VouchError, match=f"not whole: .*{reason}"):
        kind.read(tmp_path)


@pytest.mark.parametrize("temperature", [0, -1.0, "1", None])
def test_a_reader_needs_a_temperature_above_zero_for_each_head(tmp_path: Path, temperature: object) -> None:
    for file in (MODEL_FILE, TOKENIZER_FILE):
        (tmp_path / file).write_bytes(b"x")
    ReaderDescription.of(tmp_path, version="one", **FACTS[ReaderDescription]).write(tmp_path)
    heads = FACTS[ReaderDescription]["temperatures"]
    change(ReaderDescription, tmp_path, temperatures=heads | {"sort": temperature})
    with pytest.raises(VouchError, match="temperatures"):
        ReaderDescription.read(tmp_path)


def test_what_goes_wrong_while_loading_names_model_and_folder(tmp_path: Path) -> None:
    with (
        pytest.raises(EncoderUnavailable, match=f"exported encoder in {tmp_path} does not load: odd"),
        loading(tmp_path, "encoder", EncoderUnavailable),
    ):
        raise RuntimeError("odd")


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(EncoderUnavailable, match="The encoder cannot be kept in"),
        exporting_into(tmp_path / "file", "encoder", EncoderUnavailable, tell=print),
    ):
        pass


def test_a_whole_folder_takes_its_place_and_half_a_one_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "models" / "one"

    def fail_half_way() -> None:
        with whole_folder(target) as folder:
            (folder / "half").write_text("")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert list(target.parent.iterdir()) == []
    with whole_folder(target) as folder:
        (folder / "all").write_text("")
    assert [file.name for file in target.iterdir()] == ["all"]
    assert [file.name for file in target.parent.iterdir()] == ["one"]


@pytest.mark.parametrize("difference", [2e-4, float("nan")])
def test_an_export_that_differs_is_refused(difference: float) -> None:
    must_be_the_same(1e-4, 1e-4, name="one", unavailable=EncoderUnavailable)
    with pytest.raises(EncoderUnavailable, match=r"of one differs .* more than 1e-04"):
        must_be_the_same(difference, 1e-4, name="one", unavailable=EncoderUnavailable)
