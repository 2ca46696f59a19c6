"""vouch replay over conversations: searched as in a chat, learned from, and gone on with."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import Vouch

from agents.backends.query_model import SHIPPED
from assistant.learning.recipes.run import SETTINGS
from assistant.replay.methods.choice import MethodChoice
from assistant.replay.runs.follow_ups import FollowUpReplay
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.streams.follow_ups import Conversations, read_conversations
from assistant.settings.config import Settings
from assistant.settings.locations import Locations, find_locations
from stores.base.errors import UnreadableDocument, WrongUsage

PLACES = ("pool", "hall", "museum", "library", "market", "garden", "harbour", "castle")
QUESTIONS = ("when may we go in?", "at what hour is that?", "is it late?", "and the time?")
UNIRAG = MethodChoice.read("unirag")


def write_places(folder: Path, *, conversations: int) -> Path:
    """Conversations about when places open, as a set has them. Returns the folder of the sets."""
    own = folder / "inscit"
    own.mkdir(parents=True)
    with gzip.open(own / "passages.jsonl.gz", "wt") as file:
        for number, place in enumerate(PLACES):
            told = {"id": place, "title": "", "text": f"The {place} opens at {number + 1} o'clock."}
            file.write(json.dumps(told) + "\n")
    with gzip.open(own / "test.jsonl.gz", "wt") as file:
        for number in range(conversations):
            place = PLACES[number % len(PLACES)]
            history = [
                {"question": f"we are at the {place}", "answer": "Lovely."},
                {"question": "it rains", "answer": ""},
            ]
            for question in QUESTIONS:
                told = {
                    "conversation": f"c{number}",
                    "history": history,
                    "question": question,
                    "passage_ids": [place],
                }
                file.write(json.dumps(told) + "\n")
    return folder


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    return write_places(tmp_path / "sets", conversations=56)


class Written:
    """A query model: with the shipped adapters it leaves every question, with others it names the place."""

    def __init__(self, _base: Path, adapters: Path, *, threads: int) -> None:
        self._is_better = adapters != SHIPPED

    def require_started(self) -> Written:
        return self

    def begin(self, question: str, earlier: Sequence[tuple[str, str]]) -> Future[str]:
        return _done(f"when does the {earlier[0][0].split()[-1]} open?" if self._is_better else "")

    def ways(self, question: str, _earlier: object, *, most: int, seed: int) -> Future[list[str]]:
        return _done([f"{question} please"])

    def close(self) -> None: ...


def _done(found: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(found)
    return future


class Training:
    """In a training's place: other adapters come of it."""

    def __init__(self) -> None:
        self.rows: list[list[dict[str, Any]]] = []

    def __call__(self, folder: Path, module: str, shown: Sequence[Path], *_options: Any, **how: Any) -> Path:
        self.rows.append([json.loads(line) for line in shown[0].read_text().splitlines()])
        made = folder / "candidate"
        (made / "served").mkdir(parents=True)
        (made / "served" / SHIPPED.name).write_bytes(b"better")
        (made / SETTINGS).write_text(json.dumps({"best_epoch": 2}))
        return made


def streamed(sets: Path) -> Conversations:
    return read_conversations("inscit", sets, "test")


def over(places: Locations, sets: Path, out: Path, training: Training, **how: Any) -> FollowUpReplay:
    plan = ReplayPlan(methods=(UNIRAG,), **({"interval": 180, "accuracy": 1} | how))
    return FollowUpReplay(
        plan,
        streamed(sets),
        out,
        settings=Settings(),
        live=places,
        base=Path("base.gguf"),
        train=training,
        model=Written,
    )


@pytest.fixture
def places(tmp_path: Path, minilm_folder: Path) -> Locations:
    found = find_locations(os.environ, data=str(tmp_path / "data"))
    assert minilm_folder.is_relative_to(found.cache)
    return found


def mean(steps: Any, measure: str) -> float:
    return float(sum(step.figures[measure] for step in steps) / len(steps))


@pytest.mark.slow
def test_it_learns_after_each_interval_and_goes_on_where_it_was(
    tmp_path: Path, sets: Path, places: Locations
) -> None:
    def stop(what: str, done: int, of: int) -> None:
        if what.startswith("unirag") and "questions" in what and done == 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        over(places, sets, tmp_path / "out", training := Training()).play(stop)
    assert len(training.rows) == 1
    runs = over(places, sets, tmp_path / "out", training).play()
    learning, frozen = runs["unirag", 1], runs["frozen", 1]
    assert [step.facts["is_promoted"] for step in learning.learned] == [True]
    assert len(training.rows) == 1  # what was promoted is taken up, not trained again
    assert mean(frozen.asked, "follow-up MRR") < 0.6
    assert mean(learning.asked[:180], "follow-up MRR") == mean(frozen.asked[:180], "follow-up MRR")
    assert mean(learning.asked[180:], "follow-up MRR") == 1.0
    assert learning.asked[-1].reply.startswith("when does the")
    first = training.rows[0][0]
    assert first["earlier"] == [["we are at the pool", "Lovely."], ["it rains", ""]]
    assert [way for way, _ in first["ways"]] == [f"{first['question']} please"]
    assert not (tmp_path / "out" / "runs" / "unirag-seed-1" / "trained").exists()


@pytest.mark.slow
def test_a_user_who_is_wrong_names_what_does_not_answer(
    tmp_path: Path, sets: Path, places: Locations
) -> None:
    training = Training()
    over(places, sets, tmp_path / "wrong", training, accuracy=0, interval=40, first=24).play()
    assert all(row["own"] > 0 for row in training.rows[0])  # the nearest that does not answer


def test_of_answers_each_question_has_that_of_the_next_ones_history(tmp_path: Path) -> None:
    own = tmp_path / "canard"
    own.mkdir()
    first = {"question": "who?", "answer": "Unitas"}
    rows = [
        {"id": "1", "conversation": "c", "history": [], "question": "who?", "rewrite": "who won?"},
        {"id": "2", "conversation": "c", "history": [first], "question": "when?", "rewrite": "when?"},
        {
            "id": "3",
            "conversation": "c",
            "history": [first, {"question": "when?", "answer": "1956"}],
            "question": "so?",
            "rewrite": "so?",
        },
    ]
    with gzip.open(own / "test.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    found = read_conversations("canard", tmp_path, "test")
    assert [(each.id, each.text) for each in found.passages] == [("1", "Unitas"), ("2", "1956")]
    [asked] = found.asked
    assert (asked.question, asked.earlier, asked.right) == ("when?", (("who won?", "Unitas"),), {"2"})


def test_what_cannot_be_read_is_said(tmp_path: Path, sets: Path) -> None:
    with pytest.raises(WrongUsage, match="squad is no set of conversations"):
        read_conversations("squad", sets, "test")
    with pytest.raises(WrongUsage, match="is not there"):
        read_conversations("inscit", sets, "train")
    (sets / "inscit" / "test.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(UnreadableDocument):
        read_conversations("inscit", sets, "test")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "The query model cannot be trained here"),
        (("--method", "luf"), "unirag plays conversations of the named sets, and nothing beside frozen"),
        (("--split", "dev", "--split", "test"), "one part of one set"),
    ],
)
def test_what_it_does_not_play_is_refused(
    tmp_path: Path, sets: Path, minilm_folder: Path, given: tuple[str, ...], said: str
) -> None:
    vouch = Vouch(tmp_path / "home", minilm_folder.parent)
    told = ("replay", "inscit", "--sets", str(sets), "--method", "unirag")
    assert said in vouch.run(*told, *given, code=2).err
