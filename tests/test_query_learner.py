"""Rounds of the query model: begun where it can be trained, and what a winner changes in the chat."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli_helpers import Vouch
from store_fixtures import Stores, document
from test_lessons import ask

from agents.backends.query_model import SHIPPED
from assistant.learning.held_out.follow_ups import FollowUpSearch
from assistant.learning.recipes.query.recipe import PROGRAM, QUERY, lessons_of
from assistant.learning.training_process import Further
from assistant.settings.config import LearningSettings, Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from assistant.wiring.parts.models import Models
from assistant.wiring.parts.search import Search
from stores.base.errors import BackendMissing
from stores.learning.follow_ups import FollowUp

SESSIONS, FOLLOW_UPS = 30, 4  # of each


class Written:
    """A query model that makes a question stand alone where its adapters say so."""

    def __init__(self, adapters: Path) -> None:
        self.adapters, self.is_closed = adapters, False
        self._is_better = adapters.read_bytes() == b"better"

    def require_started(self) -> Written:
        return self

    def begin(self, question: str, _earlier: object) -> Future[str]:
        return _done(f"{question} alone" if self._is_better else "")

    def ways(self, question: str, _earlier: object, *, most: int, seed: int) -> Future[list[str]]:
        return _done([f"{question} {number}" for number in range(most)])

    def warm_up(self) -> None: ...

    def close(self) -> None:
        self.is_closed = True


def _done(found: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(found)
    return future


class Desk:
    """An assistant with the model added and some conversations, whose training is told what comes of it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        places = find_locations({"HOME": str(folder)})
        settings = Settings(learning=LearningSettings(fewest_lessons=10))
        self.assistant = Assistant(settings, places, offline=True)
        self.models: list[Written] = []
        self.rows: list[dict[str, Any]] = []
        self.meanwhile = lambda: None
        further = Further(PROGRAM, {"seed": 1}, 1, (), self.train)
        monkeypatch.setattr("assistant.learning.recipes.query.recipe.further_of", lambda _: further)
        monkeypatch.setattr("assistant.learning.held_out.follow_ups.DECIDING", 5)
        monkeypatch.setattr(Models, "query_model_of", lambda _, adapters, threads=0: self.written(adapters))
        monkeypatch.setattr(FollowUpSearch, "__init__", lambda *_: None)  # no encoder: what is found is told
        monkeypatch.setattr(FollowUpSearch, "found", lambda _, each, alone: 1.0 if "alone" in alone else 0.2)
        monkeypatch.setattr(Search, "searching", SimpleNamespace(retriever=None, spaces=None))

    def written(self, adapters: Path) -> Written:
        self.models.append(Written(adapters))
        return self.models[-1]

    def train(
        self, folder: Path, module: str, shown: Sequence[Path], options: Sequence[str], **_more: Any
    ) -> Path:
        assert module == PROGRAM
        self.rows = [json.loads(line) for line in shown[0].read_text().splitlines()]
        (folder / "candidate" / "served").mkdir(parents=True)
        (folder / "candidate" / "served" / SHIPPED.name).write_bytes(b"better")
        (folder / "candidate" / "settings.json").write_text(json.dumps({"best_epoch": 2}))
        self.meanwhile()
        return folder / "candidate"


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of somebody who has the model and asked follow-ups."""
    home = tmp_path_factory.mktemp("home")
    places = find_locations({"HOME": str(home)})
    places.chat_models.mkdir(parents=True)
    (places.chat_models / "smollm2.gguf").write_bytes(b"GGUF")
    assistant = Assistant(Settings(), places, offline=True)
    stores = Stores.over(assistant.stores.database)
    ann = stores.journal.user_id("ann")
    stores.add(ann, document("rules", "The room opens at ten."))
    [opens] = stores.texts()
    for number in range(SESSIONS):
        session = stores.journal.open_session(ann)
        for each in range(FOLLOW_UPS + 1):
            question = f"and room {each}?" if each else f"when does room {number} open?"
            ask(stores, ann, [(opens, "answer")], question=question, session=session)
    assistant.close()
    return home


@pytest.fixture
def desk(talked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    shutil.copytree(talked, tmp_path, dirs_exist_ok=True)
    made = Desk(tmp_path, monkeypatch)
    yield made
    made.assistant.close()


def test_a_winner_is_used_at_once_and_stepped_back_from(desk: Desk) -> None:
    assistant = desk.assistant
    assistant.models.keep_query_model()
    ended = assistant.learning.learner_of("query").run()
    assert ended.state == "promoted", ended.reason
    first, *_, last = desk.rows
    assert (first["own"], [way for way, _ in first["ways"]][:2]) == (0.2, ["and room 1? 0", "and room 1? 1"])
    assert {found for row in desk.rows for _, found in row["ways"]} == {0.2}
    assert all(row["earlier"] for row in (first, last))
    assert all(model.is_closed for model in desk.models[1:])
    before = desk.models[0]
    assert (before.adapters, before.is_closed) == (SHIPPED, False)
    live: Any = assistant.models.query_model
    assert live.adapters.read_bytes() == b"better"
    assert before.is_closed
    assistant.learning.step_back()
    back: Any = assistant.models.query_model
    assert (back.adapters, live.is_closed) == (SHIPPED, True)


def test_where_another_user_comes_the_shipped_one_is_used_again(desk: Desk) -> None:
    assistant = desk.assistant
    assert assistant.learning.learner_of("query").run().state == "promoted"
    assert assistant.models.query_adapters != SHIPPED
    assistant.stores.journal.user_id("ben")
    assert assistant.models.query_adapters == SHIPPED


def test_a_model_that_saw_what_is_forgotten_meanwhile_never_goes_live(desk: Desk) -> None:
    assistant = desk.assistant
    taught: FollowUp = next(each for each in lessons_of(assistant).all() if not each.is_held_out)
    session = assistant.stores.journal.turn(taught.user_id, taught.turn_id).session_id

    def forget() -> None:
        from stores.forgetting.forgetting import Forgetting

        Forgetting(assistant.stores.database).forget_sessions(taught.user_id, [session])

    desk.meanwhile = forget
    ended = assistant.learning.learner_of("query").run()
    assert ended.state == "refused"
    assert "forgotten" in ended.reason
    assert assistant.stores.checkpoints.versions(QUERY.name) == []


def test_a_damaged_one_is_told_and_the_shipped_one_used(desk: Desk) -> None:
    ended = desk.assistant.learning.learner_of("query").run()
    kept = desk.assistant.stores.checkpoints.place(QUERY.name, ended.version) / SHIPPED.name
    assert desk.assistant.models.query_adapters == kept
    kept.write_bytes(b"torn")
    assert desk.assistant.models.query_adapters == SHIPPED


def test_without_the_model_it_is_not_trained_and_told_why(desk: Desk) -> None:
    desk.assistant.models.query_base = None
    assert "query" not in desk.assistant.learning.recipes
    with pytest.raises(BackendMissing) as raised:
        desk.assistant.learning.learner_of("query")
    assert "`vouch models add smollm2`" in raised.value.hint


def test_the_command_tells_what_is_lacking(tmp_path: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    told = vouch.run("train", "--recipe", "query", code=2)
    assert "The query model cannot be trained here: the model smollm2 is not there" in told.err
    assert "vouch models add smollm2" in told.err
