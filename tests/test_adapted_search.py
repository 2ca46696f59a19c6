"""Collections that have learned: whose vectors are read, and what they change in a search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from store_fixtures import Stores
from test_collections import place
from test_library import add

from agents.models.encoders.adapted_encoder import Adapter, DamagedAdapter
from assistant.search.adapted import FILE, Adapted, read_adapters
from stores.base.errors import EncoderUnavailable, VouchError
from stores.base.passages import SHARED, Passage, own_space
from stores.database.database import Database
from stores.search.adapted_vectors import AdaptedVectors, key_of

ENCODER = "tiny-0123456789ab"


def adapter(seed: int = 0, *, rank: int = 2, width: int = 4, encoder: str = ENCODER) -> Adapter:
    draw = np.random.default_rng(seed)
    down = draw.normal(size=(1, 2, rank, width)).astype(np.float32)
    return Adapter.of(down, draw.normal(size=(1, 2, width, rank)).astype(np.float32), encoder_version=encoder)


class Axes:
    """Of an adapter a question has the first axis, and each passage the one that its last word numbers."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def encode_query(self, text: str, adapters: Sequence[Adapter]) -> np.ndarray:
        self.asked.append(len(adapters))
        return np.eye(4, dtype=np.float32)[[0] * len(adapters)]

    def encode_passages_under(self, texts: Sequence[str], adapter: Adapter) -> np.ndarray:
        return np.eye(4, dtype=np.float32)[[int(text.split()[-1]) for text in texts]]


def filled(stores: Stores, ann: int, bob: int) -> dict[str, int]:
    """Version ids by text: of Ann's collection "work", of Bob's of the same name, of a shared one."""
    for user, space, source, collection in (
        (ann, own_space(ann), "/a.md", "work"),
        (bob, own_space(bob), "/b.md", "work"),
        (ann, SHARED, "/c.md", "laws"),
        (ann, own_space(ann), "/d.md", ""),
    ):
        add(stores, user, space, source, f"{source} 0", f"{source} 1")
        if collection:
            place(stores, user, space, source, collection)
    return {
        text: version
        for space in (SHARED, own_space(ann), own_space(bob))
        for version, text in stores.texts(space).items()
    }


def found(stores: Stores, user: int) -> dict[int, Passage]:
    from stores.versions.live import live_passages

    with stores.database.reading() as sql:
        spaces = (SHARED, own_space(user))
        return {i: p for i, p in live_passages(sql, range(1, 20), spaces).items() if p.kind == "document"}


def test_a_key_tells_a_collection_by_space_and_name_and_holds_no_word() -> None:
    keys = {key_of(space, name) for space in ("shared", "user:1", "user:2") for name in ("work", "laws")}
    assert len(keys) == 6
    assert not any("work" in key or "laws" in key for key in keys)


def test_each_passage_is_compared_under_the_adapter_of_its_own_collection(
    stores: Stores, ann: int, bob: int
) -> None:
    versions, vectors, encoder = filled(stores, ann, bob), AdaptedVectors(stores.database), Axes()
    work, laws = key_of(own_space(ann), "work"), key_of(SHARED, "laws")
    adapted = Adapted({work: adapter(1), laws: adapter(2)}, vectors, lambda: encoder)  # type: ignore[arg-type, return-value]
    assert adapted.encode_missing() == 4
    assert adapted.encode_missing() == 0
    mine = adapted.cosines("what?", found(stores, ann))
    assert mine == {versions[f"{source} {n}"]: 1.0 - n for source in ("/a.md", "/c.md") for n in (0, 1)}
    his = adapted.cosines("what?", found(stores, bob))
    assert set(his) == {versions["/c.md 0"], versions["/c.md 1"]}
    assert encoder.asked == [2, 1]  # a question is encoded under those adapters alone whose passages it found


def test_what_moved_or_was_added_is_compared_as_in_any_other_collection(
    stores: Stores, ann: int, bob: int
) -> None:
    filled(stores, ann, bob)
    vectors, encoder = AdaptedVectors(stores.database), Axes()
    adapted = Adapted({key_of(own_space(ann), "work"): adapter(1)}, vectors, lambda: encoder)  # type: ignore[arg-type, return-value]
    adapted.encode_missing()
    add(stores, ann, own_space(ann), "/a.md", "/a.md 0", "/a.md 2")  # read again
    place(stores, ann, own_space(ann), "/a.md", "work")
    assert adapted.cosines("what?", found(stores, ann)) == {}
    assert adapted.encode_missing() == 2
    assert len(adapted.cosines("what?", found(stores, ann))) == 2
    place(stores, ann, own_space(ann), "/a.md", "elsewhere")
    assert adapted.cosines("what?", found(stores, ann)) == {}


def test_vectors_of_other_adapters_are_taken_away_and_plain_ones_stay(
    stores: Stores, ann: int, bob: int
) -> None:
    filled(stores, ann, bob)
    vectors, encoder, laws = AdaptedVectors(stores.database), Axes(), key_of(SHARED, "laws")
    before = stores_vectors(stores.database)
    for each in (adapter(1), adapter(2)):
        Adapted({laws: each}, vectors, lambda: encoder).encode_missing()  # type: ignore[arg-type, return-value]
    vectors.discard(keep={adapter(2).version})
    left = stores_vectors(stores.database)
    assert {version for _, version in left.keys() - before.keys()} == {adapter(2).version}
    assert {key: left[key] for key in before} == before
    vectors.discard(keep=())
    assert stores_vectors(stores.database) == before


def stores_vectors(database: Database) -> dict[tuple[int, str], bytes]:
    from stores.database.rows import rows

    with database.reading() as sql:
        read = rows(sql, "SELECT version_id, encoder_version, vector FROM passage_vectors")
    return {(version_id, encoder): bytes(vector) for version_id, encoder, vector in read}


def test_a_question_in_a_language_that_no_adapter_knows_is_not_encoded(
    stores: Stores, ann: int, bob: int
) -> None:
    filled(stores, ann, bob)
    adapted = Adapted(
        {key_of(SHARED, "laws"): adapter(1)},
        AdaptedVectors(stores.database),
        lambda: pytest.fail("it was encoded"),
        is_read=lambda question: False,
    )
    assert adapted.cosines("wie lange?", found(stores, ann)) == {}


def test_where_the_encoder_cannot_be_had_it_is_searched_without_adapters(
    stores: Stores, ann: int, bob: int
) -> None:
    filled(stores, ann, bob)
    vectors, encoder, told = AdaptedVectors(stores.database), Axes(), list[VouchError]()
    laws = {key_of(SHARED, "laws"): adapter(1)}
    Adapted(laws, vectors, lambda: encoder).encode_missing()  # type: ignore[arg-type, return-value]

    def gone() -> Any:
        raise EncoderUnavailable("its weights are gone")

    adapted = Adapted(laws, vectors, gone, failed=told.append)
    assert adapted.cosines("what?", found(stores, ann)) == {}
    assert [error.message for error in told] == ["its weights are gone"]


def test_adapters_are_read_as_they_were_written(tmp_path: Path) -> None:
    made = adapter(1)
    made.write(tmp_path / "a.safetensors")
    (tmp_path / FILE).write_text(json.dumps({"shared/1": "a.safetensors"}))
    [(key, read)] = read_adapters(tmp_path, encoder_version=ENCODER).items()
    assert (key, read.version) == ("shared/1", made.version)
    assert (read.down == made.down).all()
    assert (read.up == made.up).all()
    assert read_adapters(tmp_path, encoder_version="other-0123456789ab")[key].version != made.version


@pytest.mark.parametrize("listed", ["", "[]", '{"a": "b"}', '{"a": "../a.safetensors"}', '{"a": 1}'])
def test_a_folder_that_holds_no_adapters_is_refused(tmp_path: Path, listed: str) -> None:
    folder = tmp_path / "within"
    folder.mkdir()
    adapter(1).write(tmp_path / "a.safetensors")
    (folder / FILE).write_text(listed)
    with pytest.raises(DamagedAdapter):
        read_adapters(folder, encoder_version=ENCODER)


def test_a_file_whose_matrices_do_not_fit_is_refused(tmp_path: Path) -> None:
    good = adapter(1)
    for number, (down, up) in enumerate(
        (
            (good.down, good.up[:, :, :, :1]),
            (good.down[0], good.up[0]),
            (np.full_like(good.down, np.nan), good.up),
            (good.down.astype(np.float64), good.up.astype(np.float64)),
        )
    ):
        file = tmp_path / f"{number}.safetensors"
        Adapter("", down, up).write(file)
        with pytest.raises(DamagedAdapter):
            Adapter.read(file, encoder_version=ENCODER)
