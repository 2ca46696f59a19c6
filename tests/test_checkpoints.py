"""Trained models: whole or not there, and never loaded with another content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stores.learning.checkpoints import MANIFEST, Checkpoints, DamagedCheckpoint


def made(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content)
    return folder


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path / "models")


def test_what_is_kept_is_found_again_with_its_card(checkpoints: Checkpoints, tmp_path: Path) -> None:
    version = checkpoints.keep("retriever", made(tmp_path / "a", weights="1", settings="2"), {"seed": 1})
    place = checkpoints.verified("retriever", version)
    assert (place / "weights").read_text() == "1"
    assert checkpoints.card("retriever", version) == {"seed": 1}
    assert checkpoints.versions("retriever") == [version]
    assert checkpoints.versions("reader") == []


def test_a_version_is_its_content(checkpoints: Checkpoints, tmp_path: Path) -> None:
    first = checkpoints.keep("retriever", made(tmp_path / "a", weights="1"), {})
    assert checkpoints.keep("retriever", made(tmp_path / "b", weights="1"), {}) == first
    assert checkpoints.keep("retriever", made(tmp_path / "c", weights="2"), {}) != first


@pytest.mark.parametrize("harm", ["changed", "missing", "no manifest", "torn manifest"])
def test_a_harmed_model_is_not_loaded(checkpoints: Checkpoints, tmp_path: Path, harm: str) -> None:
    version = checkpoints.keep("retriever", made(tmp_path / "a", weights="1"), {})
    place = checkpoints.place("retriever", version)
    if harm == "changed":
        (place / "weights").write_text("2")
    elif harm == "missing":
        (place / "weights").unlink()
    elif harm == "no manifest":
        (place / MANIFEST).unlink()
    else:
        (place / MANIFEST).write_text('{"files": {"weights"')
    with pytest.raises(DamagedCheckpoint):
        checkpoints.verified("retriever", version)


def test_what_was_half_written_is_no_version(
    checkpoints: Checkpoints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", dies)
    with pytest.raises(KeyboardInterrupt):
        checkpoints.keep("retriever", made(tmp_path / "a", weights="1"), {})
    assert checkpoints.versions("retriever") == []


def test_the_oldest_go_and_those_in_use_stay(checkpoints: Checkpoints, tmp_path: Path) -> None:
    versions = []
    for number in range(4):
        versions.append(checkpoints.keep("retriever", made(tmp_path / f"m{number}", weights=str(number)), {}))
        moment = 1_000_000_000 + number
        os.utime(checkpoints.place("retriever", versions[-1]), (moment, moment))
    assert checkpoints.prune("retriever", keep={versions[0]}, newest=2) == [versions[1]]
    assert checkpoints.versions("retriever") == [versions[0], *versions[2:]]


def test_a_workplace_is_taken_over_with_its_files_and_others_are_deleted(checkpoints: Checkpoints) -> None:
    first = checkpoints.workplace("7-0")
    (first / "checkpoint").write_text("step 4")
    (first.parent / ".work-70-0").mkdir()  # of another round, whose name begins alike
    second = checkpoints.workplace("7-1", going_on_from="7-")
    assert (second / "checkpoint").read_text() == "step 4"
    assert [folder.name for folder in first.parent.iterdir()] == [second.name]


def test_the_workplace_of_a_round_that_goes_on_later_stays(checkpoints: Checkpoints) -> None:
    waiting = checkpoints.workplace("7-0")
    other = checkpoints.workplace("8-0", keep=["7-"])
    assert sorted(folder.name for folder in other.parent.iterdir()) == [waiting.name, other.name]


def test_folders_within_a_model_are_kept_as_well(checkpoints: Checkpoints, tmp_path: Path) -> None:
    folder = made(tmp_path / "a", weights="1")
    made(folder / "pooling", config="mean")
    version = checkpoints.keep("encoder", folder, {})
    place = checkpoints.verified("encoder", version)
    assert (place / "pooling" / "config").read_text() == "mean"
    (place / "pooling" / "config").write_text("cls")
    with pytest.raises(DamagedCheckpoint):
        checkpoints.verified("encoder", version)
