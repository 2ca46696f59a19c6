"""Which method a replay takes, what it keeps of trainings, and what simulated users say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from assistant.replay.methods.choice import OTHERS, KeptTrainings, MethodChoice
from experiments.replay import METHODS
from stores.base.errors import WrongUsage
from stores.learning.lessons import Lesson


class Trainer:
    """Makes a candidate that holds its number, and counts."""

    def __init__(self) -> None:
        self.begun_from: list[Path | None] = []

    def __call__(
        self, folder: Path, lessons: Any, vectors: Any, *, tell: Any, encoder: Path | None, **_: Any
    ) -> Path:
        self.begun_from.append(encoder)
        made = folder / "candidate"
        (made / "served").mkdir(parents=True)
        (made / "served" / "model").write_text(str(len(self.begun_from)))
        tell({"kind": "step", "loss": float(len(self.begun_from))})
        tell(None)
        return made


def lesson(question: str) -> Lesson:
    return Lesson(0, 0, question, (), "judge", "", "", False)


def trained(
    kept: KeptTrainings, folder: Path, questions: Sequence[str], **more: Any
) -> tuple[str, list[Any]]:
    """What the candidate holds, and what was told."""
    told: list[Any] = []
    folder.mkdir(parents=True)
    vectors: Mapping[int, bytes] = {1: b"12345678"}
    made = kept.train(
        folder, [lesson(q) for q in questions], vectors, settings={"seed": 1}, tell=told.append, **more
    )
    model = made / "served" / "model"
    return model.read_text() if model.exists() else "", [each for each in told if each]


def test_the_same_training_is_done_once_and_told_again(tmp_path: Path) -> None:
    trainer = Trainer()
    kept = KeptTrainings(tmp_path / "kept", start=None, train=trainer)
    first = trained(kept, tmp_path / "a", ["one"])
    again = trained(KeptTrainings(tmp_path / "kept", start=None, train=trainer), tmp_path / "b", ["one"])
    assert first == again == ("1", [{"kind": "step", "loss": 1.0}])
    assert trained(kept, tmp_path / "c", ["another"])[0] == "2"
    assert len(trainer.begun_from) == 2


def test_a_training_that_was_not_kept_whole_is_done_again(tmp_path: Path) -> None:
    trainer = Trainer()
    kept = KeptTrainings(tmp_path / "kept", start=None, train=trainer)
    trained(kept, tmp_path / "a", ["one"])
    for told in (tmp_path / "kept").glob("*/told.json"):
        told.unlink()
    assert trained(kept, tmp_path / "b", ["one"])[0] == "2"


def test_a_training_begins_with_the_encoder_that_is_searched(tmp_path: Path) -> None:
    trainer = Trainer()
    kept = KeptTrainings(tmp_path / "kept", start=tmp_path / "mine", train=trainer)
    trained(kept, tmp_path / "a", ["one"])
    trained(kept, tmp_path / "b", ["one"], encoder=tmp_path / "a" / "candidate")
    assert trainer.begun_from == [tmp_path / "mine", tmp_path / "a" / "candidate"]


def test_a_number_behind_a_writing_method_is_a_simulated_writers_quality(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for kind, method in METHODS.items():
        monkeypatch.setitem(OTHERS, kind, method)
    choice = MethodChoice.read("query2doc:0.8")
    assert (choice.label, choice.writes) == ("query2doc:simulated 0.8", False)
    assert MethodChoice.read("query-rewrite").writes
    with pytest.raises(WrongUsage, match="names no quality"):
        MethodChoice.read("query2doc:much")
    with pytest.raises(WrongUsage, match="rafe has no losses"):
        MethodChoice.read("rafe:strict")
    assert MethodChoice.read("tent").learns_by_searching
