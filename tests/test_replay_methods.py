"""Which method an experiment takes, and with which options it trains."""

from __future__ import annotations

import pytest

from assistant.replay.methods.choice import OTHERS, MethodChoice
from experiments.replay import METHODS, checked_training
from stores.base.errors import WrongUsage


@pytest.fixture(autouse=True)
def methods(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, check in METHODS.items():
        monkeypatch.setitem(OTHERS, kind, check)


@pytest.mark.parametrize("text", ["query2doc:0.8", "query-rewrite", "rafe", "luf", "luf:strict+hard"])
def test_a_method_of_an_experiment_is_named_as_it_is_written(text: str) -> None:
    assert MethodChoice.read(text).label == text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("query2doc:much", "'much' is no quality between 0 and 1"),
        ("rafe:strict", "nothing stands behind this method's colon"),
        ("luf:soft", "there is no loss 'soft'"),
        ("nothing", "there is no method 'nothing'"),
    ],
)
def test_what_a_method_cannot_take_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(WrongUsage, match=complaint):
        MethodChoice.read(text)


def test_settings_of_a_training_are_checked_before_it() -> None:
    given = ["update_side=both", "learning_rate=2e-5", "bf16=true", "epochs=2"]
    expected = {"update_side": "both", "learning_rate": 2e-5, "bf16": True, "epochs": 2}
    assert checked_training(given) == expected
    assert checked_training([]) == {}
    with pytest.raises(WrongUsage, match="has no setting 'colour'"):
        checked_training(["colour=red"])
    with pytest.raises(WrongUsage, match="--training epochs is 0, but must be 1 or more"):
        checked_training(["epochs=0"])
