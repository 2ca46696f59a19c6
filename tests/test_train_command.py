"""vouch train: what a person and a script see of a round, and what a running assistant searches with then."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from os import terminal_size
from pathlib import Path
from typing import Any

import click
import pytest
from agent_fakes import FixedEncoder, FixedReader
from click.testing import CliRunner, Result
from sqlalchemy.exc import OperationalError
from store_fixtures import Stores, document, findable
from test_learner import FakeTraining
from test_lessons import ask
from tiny_sources import export_of_mean, tiny_berts

from agents.base.interfaces import Candidate, Judged, Vectors, Verdict
from agents.retrieval.reader_judge import ReaderJudge, Readings
from agents.retrieval.score_judge import ScoreJudge
from assistant.cli import cli
from assistant.commands.training.train import Duration
from assistant.invocation import ProgressLine
from assistant.learning.background import follow
from assistant.learning.held_out.bootstrap import Promotion
from assistant.learning.held_out.retrieval import Comparison
from assistant.learning.learner import Learner
from assistant.learning.recipes.retriever.recipe import ROLE, UNTRAINED, over
from assistant.learning.training_process import TimeOver, TrainingFailed, TrainingKilled
from assistant.settings.config import (
    EncoderSettings,
    LearningSettings,
    RerankingSettings,
    Settings,
    TrainingSettings,
)
from assistant.settings.locations import Locations
from assistant.terminal.comparison.training_commands import steer_training
from assistant.wiring.assistant import Assistant
from assistant.wiring.parts.search import weights_at
from stores.base.errors import (
    EncoderUnavailable,
    OverTime,
    StoreUnavailable,
    TryAgain,
    VouchError,
    WrongUsage,
)

ANSWER = "What everybody asks for."
WRONG = [f"Passage {number}." for number in range(12)]
UP, DOWN = [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]
BASE = FixedEncoder({ANSWER: UP, **dict.fromkeys(WRONG, DOWN)})  # knows no question
GOOD, BAD = json.dumps(UP), json.dumps(DOWN)  # what a trained one makes of any question
QUESTIONS = [f"why {number}?" for number in range(220)]


class TrainedEncoder(FixedEncoder):
    """Makes the vector of every question that its file holds."""

    def __init__(self, folder: Path, *, threads: int) -> None:
        super().__init__({})
        self._vector = json.loads((folder / "model.onnx").read_text().removeprefix("model.onnx "))
        self.version = f"trained {self._vector}"

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return FixedEncoder(dict.fromkeys(texts, self._vector)).encode_queries(texts)


class TextJudge:
    """Knows the one text that answers."""

    name = "by text"

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        right, wrong = Verdict("answer", 0.5), Verdict("irrelevant", 0.5)
        return Judged(tuple(right if c.passage.text == ANSWER else wrong for c in candidates), 0, 0)


def locations(folder: Path) -> Locations:
    return Locations(
        data=folder / "data",
        settings=folder / "settings.toml",
        cache=folder / "cache",
        state=folder / "state",
    )


def fake(assistant: Assistant, training: FakeTraining) -> Assistant:
    assistant.search.__dict__["wanted_encoder"] = BASE
    assistant.models.__dict__["judge"] = TextJudge()
    real = assistant.learning.learner_of

    def learner_of(recipe: str) -> Learner[Any]:
        learner = real(recipe)
        if recipe == "retriever":
            learner.trainable = over(assistant, train=training)
        return learner

    assistant.learning.__dict__["learner_of"] = learner_of
    return assistant


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with judged turns."""
    folder = tmp_path_factory.mktemp("judged")
    assistant = Assistant(Settings(), locations(folder))
    assistant.search.__dict__["wanted_encoder"] = BASE
    stores = Stores.over(assistant.stores.database)
    ann = stores.journal.user_id("ann")
    for text in [*WRONG, ANSWER]:
        stores.add(ann, document(text, text))
    by_text = {text: version for version, text in stores.texts().items()}
    for number, question in enumerate(QUESTIONS):  # of many users: one's own questions are found as well
        user = stores.journal.user_id(f"user {number}")
        ask(stores, user, [(by_text[WRONG[0]], "irrelevant"), (by_text[ANSWER], "answer")], question=question)
    assistant.catch_up()
    assistant.close()
    return folder


class Person:
    """Runs the command over a copy of the data, with a training that leaves what it is told to."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.training = FakeTraining(GOOD, start=BASE.version)
        self.training.dimension = BASE.dimension
        self.told: list[str] = []
        self.assistants: list[Assistant] = []
        locations(folder).settings.touch()
        for name in ("DATA", "SETTINGS"):
            monkeypatch.setenv(f"VOUCH_{name}", str(getattr(locations(folder), name.lower())))
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        monkeypatch.setattr("assistant.wiring.assistant.Assistant", self.made)
        monkeypatch.setattr("agents.models.encoders.prepared.OnnxEncoder", TrainedEncoder)

    def made(self, settings: Settings, places: Locations, **more: Any) -> Assistant:
        self.assistants.append(fake(Assistant(settings, places, **more), self.training))
        return self.assistants[-1]

    def train(self, *options: str, code: int = 0, content: str = GOOD) -> Result:
        self.training.content = content
        ran = CliRunner().invoke(cli, ["train", *options], standalone_mode=False)
        if ran.exception:
            raise ran.exception
        assert ran.return_value == code, ran.output
        return ran

    def running(self) -> Assistant:
        """An assistant in another place, such as an open chat."""
        return fake(Assistant(Settings(), locations(self.folder), tell=self.told.append), FakeTraining())


@pytest.fixture
def person(judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    shutil.copytree(judged / "data", tmp_path / "data")
    return Person(tmp_path, monkeypatch)


@pytest.fixture
def chat(person: Person) -> Iterator[Assistant]:
    assistant = person.running()
    yield assistant
    assistant.close()


def first(assistant: Assistant) -> str:
    searching = assistant.search.searching
    space = searching.spaces.of(assistant.stores.journal.user_id("ann"))
    found = searching.retriever.retrieve("why not?", space).candidates
    return next(each.passage.text for each in found if each.passage.kind == "document")


def texts_encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that any encoder is given from now on."""
    seen: list[str] = []
    for encoder in (FixedEncoder, TrainedEncoder):

        def encode(self: Any, texts: Sequence[str], plain: Any = encoder.encode_queries) -> Vectors:
            seen.extend(texts)
            return plain(self, texts)  # type: ignore[no-any-return]

        monkeypatch.setattr(encoder, "encode_queries", encode)
    return seen


def test_a_winner_is_searched_with_at_once_and_a_step_takes_it_back(
    person: Person, chat: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, vectors = first(chat), findable(chat.stores.database)
    assert before != ANSWER
    ran = person.train()
    assert ran.stdout.startswith("round 1\tpromoted\tnDCG@10 +")
    assert ran.stderr == ""  # nobody watches a pipe
    assert first(chat) == ANSWER
    assert findable(chat.stores.database) == vectors  # of documents, bit for bit

    assert chat.search.encoder.version == BASE.version
    encoded, trained = texts_encoded(monkeypatch), person.training.shown
    assert person.train("--back").stdout == f"live now: {UNTRAINED}\n"
    assert (encoded, person.training.shown is trained) == ([], True)  # only the pointer is swapped
    assert first(chat) == before
    assert encoded == ["why not?"]
    assert findable(chat.stores.database) == vectors
    assert json.loads(person.train("--back", "--json").stdout)["live"] == chat.stores.live_models.live(ROLE)
    assert first(chat) == ANSWER


def test_who_watches_sees_how_far_a_round_is(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_REDRAWN_EVERY_SECONDS", "_SAID_EVERY_SECONDS"):
        monkeypatch.setattr(f"assistant.invocation.{name}", 0.0)
    line = ProgressLine(is_shown=True, is_plain=True)
    monkeypatch.setattr("assistant.invocation.Invocation.progress_line", lambda call: line)
    ran = person.train()
    assert ran.stderr.startswith("Round 1, reading the lessons.\n")
    assert "Round 1, compared on " in ran.stderr
    assert ran.stdout.startswith("round 1\tpromoted\tnDCG@10 +")


def test_one_that_does_not_win_changes_nothing(person: Person, chat: Assistant) -> None:
    before = first(chat)
    assert "\trefused\t" in person.train("--require-better", content=BAD, code=1).stdout
    assert (first(chat), chat.stores.live_models.live(ROLE)) == (before, None)


def test_a_script_reads_progress_and_end_as_json(person: Person) -> None:
    lines = [json.loads(line) for line in person.train("--json").stdout.splitlines()]
    assert all(line["schema"] == 1 and line["round"] == 1 for line in lines)
    assert [line.get("phase") for line in lines[:3]] == ["reading", "training", "training"]
    assert (lines[2]["step"], lines[2]["loss"]) == (1, 0.5)
    end = lines[-1]
    assert (end["state"], end["figures"]["comparison"]["R@5"]["gain"]) == ("promoted", 1.0)
    [domain] = end["figures"]["comparison"]["domains"]
    assert domain["name"] == ANSWER, "the name under which the document stands that answers"
    assert domain["gain"] > 0.9
    [status] = person.train("--status", "--json").stdout.splitlines()
    row = json.loads(status)
    assert (row["state"], len(row["settings"]["turns"])) == ("promoted", len(QUESTIONS))


def test_the_last_rounds_are_shown(person: Person) -> None:
    ran = person.train("--status", code=1)
    assert (ran.stdout, ran.stderr) == ("", "No round was begun yet. `vouch train` begins one.\n")
    ran = person.train("--status", "--json", code=1)
    assert ran.stdout == ""  # no object, as of every list that is empty
    person.train()
    cells = person.train("--status").stdout.split("\t")
    assert [cells[0], cells[1], cells[3]] == ["1", "promoted", f"{len(QUESTIONS)} lessons"]


_HOLDS_A_ROUND = """
import sys
from pathlib import Path
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
assistant = Assistant(Settings(), find_locations({}, data=sys.argv[1]), offline=True)
print(assistant.stores.rounds.begin("retriever", {"training": "another"}), flush=True)
sys.stdin.read()
"""


def test_a_round_whose_learner_was_killed_is_told_so_and_makes_room_at_once(
    person: Person, chat: Assistant
) -> None:
    command = [sys.executable, "-c", _HOLDS_A_ROUND, str(chat.given.locations.data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as learner:
        assert learner.stdout is not None
        assert learner.stdout.readline() == "1\n"
        assert person.train("--status").stdout.split("\t")[1] == "running"
        with pytest.raises(TryAgain, match="round 1 is being trained"):
            person.train()
        learner.kill()
    cells = person.train("--status").stdout.split("\t")
    assert (cells[1], cells[4]) == ("broken off", "its learner is gone; it goes on at the next occasion")
    told = json.loads(person.train("--status", "--json").stdout)
    assert (told["state"], told["is_broken_off"]) == ("running", True)
    assert next(steer_training(chat, "")).startswith("round 1: broken off")
    assert "\tpromoted\t" in person.train().stdout
    ended = json.loads(person.train("--status", "--json").stdout.splitlines()[-1])
    assert (ended["round"], ended["is_broken_off"]) == (1, False)


def test_a_round_is_stopped_by_another_call(person: Person) -> None:
    assert person.train("--stop", code=1).stdout == "no round runs\n"
    nothing = json.loads(person.train("--stop", "--json", code=1).stdout)
    assert nothing == {"schema": 1, "round": None, "stopped": False}
    said: list[str] = []

    def stop() -> None:
        asked = ["train", "--stop", *(["--json"] if said else [])]
        said.append(CliRunner().invoke(cli, asked, standalone_mode=False).stdout)
        time.sleep(0.6)  # the next word of the child is heard after that

    person.training.on_step = stop
    assert person.train(code=1).stdout == "round 1\tstopped\tby command\n"
    assert said == ["round 1 stops\n"]
    person.train(code=1)
    assert json.loads(said[1]) == {"schema": 1, "round": 2, "stopped": True}


@pytest.mark.parametrize(
    ("error", "code", "state"),
    [
        (OverTime("the judge did not answer within 60 s"), 4, "failed"),
        (OSError(28, "No space left on device"), 3, "failed"),
        (TrainingKilled(9), 3, "broken off"),
        (TimeOver(), 4, "waiting"),
        (TrainingFailed("the loss is no number"), 1, "failed"),
        (TrainingFailed("IndexError", exit_code=70), 70, "failed"),
    ],
)
def test_why_a_round_failed_is_in_its_exit_code(
    person: Person, error: Exception, code: int, state: str
) -> None:
    def fails() -> None:
        raise error

    person.training.on_step = fails
    assert f"\t{state}\t" in person.train(code=code).stdout
    assert f"\t{state}\t" in person.train("--status").stdout


def test_a_disk_that_is_too_full_to_say_so_leaves_a_round_that_is_seen_to_be_broken_off(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fills() -> None:
        raise OSError(28, "No space left on device")

    def refuses(*_: object) -> None:
        raise OperationalError("UPDATE", {}, sqlite3.OperationalError("database or disk is full"))

    person.training.on_step = fills
    with monkeypatch.context() as full:
        full.setattr("stores.learning.rounds._close", refuses)
        with pytest.raises(StoreUnavailable, match=r"vouch\.db: the disk is full") as told:
            person.train()
    assert told.value.exit_code == 3
    assert told.value.hint.endswith("Nothing was lost.")
    assert list((person.folder / "data" / "models").iterdir()) == []  # what took up the room
    assert person.train("--status").stdout.split("\t")[1] == "broken off"
    person.training.on_step = lambda: None
    assert person.train().stdout.startswith("round 1\tpromoted")  # it makes room for nobody else


def test_a_chat_leads_a_round_by_its_input(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told to wait, then left: the round waits to be gone on with."""
    read, write = os.pipe()
    monkeypatch.setattr("assistant.learning.background.follow", lambda _, steering: follow(read, steering))
    waited: list[bool] = []

    def steer() -> None:
        steering = person.assistants[-1].learning.steering
        os.write(write, b"wait answering\n")
        while not steering.is_paused:
            time.sleep(0.01)
        os.write(write, b"go on answering\nwait asked\n")
        waited.append(steering.is_paused)
        os.close(write)
        while not steering.is_left:
            time.sleep(0.01)

    person.training.on_step = steer
    *_, end = [json.loads(line) for line in person.train("--led", str(Path.cwd())).stdout.splitlines()]
    os.close(read)
    assert (end["state"], waited) == ("waiting", [True])
    assert person.assistants[-1].given.settings.encoder.threads == LearningSettings().threads
    person.training.on_step = lambda: None
    assert '"state": "promoted"' in person.train("--json").stdout


def test_a_chat_shows_and_steers_training(person: Person, chat: Assistant) -> None:
    with pytest.raises(VouchError, match=r"^No round runs\.$"):
        list(steer_training(chat, "stop"))
    person.train()
    shown, new = steer_training(chat, "")
    assert shown.startswith("round 1: promoted, nDCG@10 +")
    assert new == "0 questions were judged that no round has learned from; with 100 a round begins."
    [said] = steer_training(chat, "back")
    assert said == f"Vouch uses {UNTRAINED} again. /train back takes this back."
    assert chat.stores.live_models.live(ROLE) == UNTRAINED
    list(steer_training(chat, "pause"))
    assert chat.learning.background_learner.is_paused
    assert list(steer_training(chat, ""))[-1] == "Training in this chat is paused. /train continue goes on."
    list(steer_training(chat, "continue"))
    assert not chat.learning.background_learner.is_paused
    with pytest.raises(WrongUsage, match=r"There is no /train faster: start, stop, pause"):
        list(steer_training(chat, "faster"))


def test_the_status_of_a_round_tells_how_far_it_is_and_that_it_is_paused(
    person: Person, chat: Assistant
) -> None:
    round_id = chat.stores.rounds.begin("retriever", {})
    progress = {"step": 3, "steps": 9, "loss": 0.5, "seconds_left": 240.0}
    chat.stores.rounds.note(round_id, {"phase": "training", "progress": progress, "is_paused": False})
    cells = person.train("--status").stdout.split("\t")
    assert (cells[1], cells[4]) == ("running", "step 3 of 9, loss 0.50, about 4 min left")
    assert json.loads(person.train("--status", "--json").stdout)["is_paused"] is False
    chat.stores.rounds.note(round_id, {"is_paused": True})
    cells = person.train("--status").stdout.split("\t")
    assert (cells[1], cells[4]) == ("paused", "step 3 of 9, loss 0.50, paused")
    assert json.loads(person.train("--status", "--json").stdout)["is_paused"] is True
    with pytest.raises(TryAgain, match="round 1 is paused"):
        person.train()
    chat.stores.rounds.end(round_id, "stopped", "by command")
    assert json.loads(person.train("--status", "--json").stdout)["is_paused"] is False


@pytest.mark.parametrize("width", [80, 40])
def test_the_status_has_a_head_on_a_terminal_and_fits_its_width(
    person: Person, chat: Assistant, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    person.train(content=BAD)
    version = json.loads(person.train("--status", "--json").stdout)["version"]
    piped = person.train("--status").stdout.rstrip("\n").split("\t")
    assert piped[5] == version
    monkeypatch.setattr(
        "assistant.commands.training.train.get_terminal_size", lambda: terminal_size((width, 24))
    )
    monkeypatch.setattr("assistant.commands.training.train.is_terminal", lambda: True)
    shown = person.train("--status").stdout.splitlines()
    assert (shown[0].split() == ["round", "state", "began", "lessons", "version"]) == (width == 80)
    assert all(len(line) <= width for line in shown)
    assert " ".join(" ".join(shown).split()).endswith(f"{version} {piped[4]}")


@pytest.mark.parametrize("text", ["0h0m", "-5", "1m1h", "soon", ""])
def test_a_budget_that_is_no_time_begins_no_round(person: Person, text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no time"):
        person.train("--budget", text)
    person.train("--status", code=1)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10", 10), ("1.5m", 90), ("1h5s", 3605)],
)
def test_a_budget_is_read_in_its_units(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


def test_what_excludes_one_another_is_refused(person: Person) -> None:
    with pytest.raises(WrongUsage):
        person.train("--stop", "--back")


def test_a_damaged_model_is_told_and_search_goes_on_without_it(person: Person, chat: Assistant) -> None:
    before = first(chat)
    person.train()
    [model] = (person.folder / "data" / "models").glob("retriever/*/model.onnx")
    model.write_text("torn")
    assert first(chat) == before
    assert first(chat) == before
    [told] = person.told  # once
    assert "has another content. Search goes on without it" in told
    assert "vouch train --back" in told
    shutil.rmtree(model.parent)
    afterwards = person.running()
    assert first(afterwards) == before
    afterwards.close()


def test_watching_goes_on_whatever_a_round_comes_to(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed round is not tried again before more was judged."""
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            raise KeyboardInterrupt

    person.training.start = "another"
    monkeypatch.setattr("assistant.commands.training.train.time.sleep", sleep)
    ran = CliRunner().invoke(cli, ["train", "--watch"], standalone_mode=False)
    assert isinstance(ran.exception, click.Abort)  # what click makes of Ctrl+C
    assert ran.stdout.count("failed") == 1
    assert len(slept) == 3
    assert ran.stderr.strip() == "0 of 100 new questions are judged; with 100 a round begins. Ctrl+C leaves."
    assert ran.stderr.count("Ctrl+C") == 1  # it is said once


def test_who_watches_is_told_of_a_store_that_cannot_be_written(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only of another learner, which is at it, nobody has to know."""

    def sleep(_: float) -> None:
        raise KeyboardInterrupt

    def run(*_given: Any, **_more: Any) -> None:
        raise StoreUnavailable("vouch.db: the disk is full", hint="Make room.")

    monkeypatch.setattr("assistant.commands.training.train.time.sleep", sleep)
    monkeypatch.setattr(Learner, "run", run)
    ran = CliRunner().invoke(cli, ["train", "--watch"], standalone_mode=False)
    assert ran.stderr.startswith("vouch.db: the disk is full. Make room.")


def test_no_retriever_s_own_scores_decide_about_it(tmp_path: Path) -> None:
    settings = Settings(reranking=RerankingSettings(judge="scores"))
    assistant = Assistant(settings, locations(tmp_path))
    assistant.models.__dict__["readings"] = Readings(FixedReader({}))
    assert isinstance(assistant.models.judge, ScoreJudge)
    assert isinstance(assistant.models.judge_of_candidates, ReaderJudge)
    assistant.close()


def test_what_is_set_of_learning_reaches_training_and_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learning = LearningSettings(epochs=2, learning_rate=3e-5, seed=7, threads=2, least_gain=0.02, margin=0.03)
    training = TrainingSettings(hard_weight=5.0, rank_weights="reciprocal", batch_questions=8)
    given: dict[str, Any] = {}

    def compare(lessons: Sequence[Any], **how: Any) -> Comparison:
        given.update(how)
        return Comparison(Promotion(False, "Refused."), 0)

    monkeypatch.setattr("assistant.learning.held_out.retrieval.compare", compare)
    monkeypatch.setattr("agents.models.encoders.prepared.OnnxEncoder", TrainedEncoder)
    (tmp_path / "model.onnx").write_text(f"model.onnx {GOOD}")
    assistant = fake(
        Assistant(Settings(learning=learning, training=training), locations(tmp_path)), FakeTraining(GOOD)
    )
    try:
        trained = over(assistant)
        of_round = {"update_side": "query", "epochs": 2, "learning_rate": 3e-5, "seed": 7}
        assert trained.settings == of_round | vars(training)
        assert trained.settings["hard_weight"] == 5.0
        assert not trained.compare(tmp_path, [], lambda done, of: None).decision.is_promoted
    finally:
        assistant.close()
    assert (given["threshold"], given["margin"], given["seed"]) == (0.02, 0.03, 7)


def test_an_encoder_whose_weights_are_gone_is_told(tmp_path: Path) -> None:
    assert weights_at(str(tmp_path)) == tmp_path
    with pytest.raises(EncoderUnavailable, match="nobody/nothing are not here"):
        weights_at("nobody/nothing")


# With nothing faked but the judge


def tiny(folder: Path) -> Path:
    """A small network in a folder of the test's own."""
    return Path(shutil.copytree(tiny_berts() / "mean", folder / "mean"))


def test_a_round_from_end_to_end_with_a_small_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An encoder of one's own: the training starts from its weights, and what it leaves is loaded."""
    # so that the last weights are kept, which are not those that it began with
    monkeypatch.setattr(
        "assistant.learning.recipes.retriever.recipe.tells_when_to_end", lambda question: False
    )
    settings = Settings(
        encoder=EncoderSettings(source=str(tiny_berts() / "mean")),
        learning=LearningSettings(fewest_lessons=10, epochs=1, learning_rate=1e-3),
    )
    shutil.copytree(export_of_mean(), locations(tmp_path).cache / "encoders")
    assistant = Assistant(settings, locations(tmp_path), offline=True)
    try:
        stores = Stores.over(assistant.stores.database)
        ann = stores.journal.user_id("ann")
        words = "key table blue where".split()
        for word in words:
            stores.add(ann, document(word, f"the {word} is on the {word}"))
        assistant.catch_up()
        by_word = {text.split()[1]: version for version, text in stores.texts().items()}
        for number in range(12):
            word, other = words[number % 4], words[(number + 1) % 4]
            verdicts = [(by_word[other], "irrelevant"), (by_word[word], "answer")]
            ask(stores, ann, verdicts, question=f"where is {word}? {number}")
        assistant.models.__dict__["judge"] = TextJudge()
        vectors = findable(assistant.stores.database)
        before = assistant.search.encoder.encode_queries(["where is the key?"])
        phases: list[str] = []
        ended = assistant.learning.learner_of("retriever").run(
            tell=lambda progress: phases.append(progress.phase)
        )
        assert (ended.state, ended.reason) == ("refused", "Refused: no held-out question has an answer.")
        assert list(dict.fromkeys(phases)) == ["reading", "training", "exporting", "comparing"]

        round_id = assistant.stores.rounds.begin("retriever", {})
        details = {"encoder_version": assistant.search.encoder.version}
        assistant.stores.rounds.promote(
            round_id,
            ROLE,
            ended.version,
            "",
            details=details,
            figures={},
            before_the_first=UNTRAINED,
            compared_with={ROLE: None},
        )
        after = assistant.search.encoder.encode_queries(["where is the key?"])
        assert abs(after - before).max() > 1e-3
        assert findable(assistant.stores.database) == vectors
        assert assistant.stores.live_models.step_back(ROLE) == UNTRAINED
        assert (assistant.search.encoder.encode_queries(["where is the key?"]) == before).all()
    finally:
        assistant.close()
