"""The packaged encoder that knows sixteen languages, as it is exported and served."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from agents.models.encoders.multilingual import TABLE_FILE, MultilingualDescription, MultilingualEncoder
from agents.models.encoders.prepared import MULTILINGUAL, open_encoder, prepare_encoder
from assistant.settings.locations import find_locations
from stores.base.errors import EncoderUnavailable


@pytest.fixture(scope="module")
def folder() -> Path:
    cache = find_locations(os.environ).cache
    return prepare_encoder(MULTILINGUAL, cache / "encoders", tell=print, offline=True)


@pytest.fixture(scope="module")
def encoder(folder: Path) -> MultilingualEncoder:
    return MultilingualEncoder(folder, threads=1)


def test_it_gives_what_the_package_gives(folder: Path) -> None:
    described = MultilingualDescription.read(folder)
    assert described.lowest_cosine > 0.9999
    assert described.largest_difference < 1e-4


@pytest.mark.parametrize(
    "told",
    [
        "Meine Katze heißt Mimi.",
        "Мою кошку зовут Мими.",
        "我的猫叫咪咪。",
        "قطتي اسمها ميمي.",
        "Kedimin adı Mimi.",
    ],
)
def test_a_question_finds_what_was_told_in_another_language(encoder: MultilingualEncoder, told: str) -> None:
    others = ["I work as a nurse.", "The meeting is on Friday.", "We moved to Porto."]
    vectors = encoder.encode_passages([told, *others])
    (asked,) = encoder.encode_queries(["What is my cat called?"])
    assert int((vectors @ asked).argmax()) == 0


def test_a_text_alone_and_in_a_batch_has_the_same_vector(encoder: MultilingualEncoder) -> None:
    texts = [
        "a",
        "Where did I leave my keys?",
        "One sentence after another fills the window. " * 60,
        "",
        "  ",
    ]
    together = encoder.encode_passages(texts)
    assert together.shape == (len(texts), encoder.dimension)
    for text, vector in zip(texts, together, strict=True):
        assert encoder.encode_queries([text])[0] == pytest.approx(vector, abs=1e-5)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_half_a_character_is_encoded_as_what_is_shown_for_it(encoder: MultilingualEncoder) -> None:
    broken, shown = encoder.encode_queries(["key \ud83d", "key ?"])
    assert broken == pytest.approx(shown)


def test_no_text_has_no_vector(encoder: MultilingualEncoder) -> None:
    assert encoder.encode_queries([]).shape == (0, encoder.dimension)


def test_a_damaged_table_is_noticed(folder: Path, tmp_path: Path) -> None:
    copied = tmp_path / folder.name
    shutil.copytree(folder, copied)
    assert open_encoder(copied, threads=1).version == folder.name
    with (copied / TABLE_FILE).open("r+b") as table:
        table.seek(1_000)
        table.write(b"\xff\xff")
    with pytest.raises(EncoderUnavailable, match=r"table\.npy has changed"):
        open_encoder(copied, threads=1)
