"""A round of learning: what goes live, what does not, and what is left of one that was stopped or killed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any

import numpy as np
import pytest
from cli_helpers import runs
from store_fixtures import DIMENSION, ENCODER, Stores, document
from test_lessons import ask

from assistant.learning import training_process
from assistant.learning.held_out.bootstrap import Promotion
from assistant.learning.learner import Learner, TooFewLessons
from assistant.learning.outcome import Compared, Ended
from assistant.learning.progress import MOST_POINTS, LossCurve, Progress
from assistant.learning.recipe import Trainable
from assistant.learning.recipes.retriever.apart import train_apart
from assistant.learning.recipes.retriever.recipe import ROLE, UNTRAINED, trainable
from assistant.learning.training_process import TrainingFailed
from stores.base.clock import now
from stores.base.errors import OverTime, TryAgain
from stores.base.passages import own_space
from stores.database.database import Database
from stores.database.tables import Judgement, PassageVersion, Round, Turn
from stores.forgetting.forgetting import Forgetting
from stores.learning.checkpoints import Checkpoints
from stores.learning.lessons import Lesson, Lessons, tells_when_to_end
from stores.learning.rounds import Rounds
from stores.search.live_models import LiveModels

QUESTIONS = [f"when does room {number} open?" for number in range(20)]
TEACH, JUDGE = QUESTIONS[:10], QUESTIONS[10:]
BETTER, WORSE = Promotion(True, "Promoted: it wins."), Promotion(False, "Refused: it does not win.")


def candidate_in(folder: Path, content: str, *, start: str = ENCODER, best_epoch: int | None = None) -> Path:
    """A folder such as the child leaves."""
    made = folder / "candidate"
    shutil.rmtree(made, ignore_errors=True)  # of a round that goes on
    (made / "served").mkdir(parents=True)
    for name in ("model.onnx", "tokenizer.json", "encoder.json"):
        (made / "served" / name).write_text(f"{name} {content}")
    (made / "model.safetensors").write_text(content)
    (made / "settings.json").write_text(json.dumps({"start_version": start, "best_epoch": best_epoch}))
    return made


class FakeTraining:
    """In place of the child: leaves what it is told to, and remembers what it was shown."""

    def __init__(self, content: str = "better", *, start: str = ENCODER) -> None:
        self.content, self.start = content, start
        self.best_epoch: int | None = None
        self.shown: list[Lesson] = []
        self.vectors: dict[int, bytes] = {}
        self.measured: list[str] = []
        self.on_step: Callable[[], None] = lambda: None
        self.folder = Path()
        self.dimension = DIMENSION

    def __call__(
        self, folder: Path, lessons: Sequence[Lesson], vectors: Mapping[int, bytes], **more: Any
    ) -> Path:
        self.folder, self.shown, self.vectors = folder, list(lessons), dict(vectors)
        self.measured = [lesson.question for lesson in lessons if more["measured_on"](lesson)]
        assert more["dimension"] == self.dimension
        more["tell"]({"kind": "phase", "phase": "training"})
        self.on_step()
        more["tell"]({"kind": "step", "step": 1, "loss": 0.5})
        return candidate_in(folder, self.content, start=self.start, best_epoch=self.best_epoch)


def judge_questions(stores: Stores) -> None:
    ann = stores.journal.user_id("ann")
    stores.add(ann, document("rules", "The room opens at ten.", "The cellar floods."))
    opens, floods = sorted(stores.texts())
    for question in QUESTIONS:
        ask(stores, ann, [(floods, "irrelevant"), (opens, "answer")], question=question)


@cache
def judged_database() -> bytes:
    """A database with judged turns."""
    with tempfile.TemporaryDirectory() as folder:
        stores = Stores.fresh(Path(folder))
        judge_questions(stores)
        stores.database.close()
        return (Path(folder) / "vouch.db").read_bytes()


class World:
    """A learner over a database with judged turns."""

    def __init__(self, stores: Stores, folder: Path, decision: Promotion = BETTER) -> None:
        self.stores, self.folder = stores, folder
        self.rounds, self.live = Rounds(stores.database), LiveModels(stores.database)
        self.checkpoints = Checkpoints(folder / "models")
        self.training = FakeTraining()
        self.decision = decision
        self.compared: list[tuple[Path, list[Lesson]]] = []

    @classmethod
    def fresh(cls, folder: Path) -> World:
        (folder / "vouch.db").write_bytes(judged_database())
        return cls(Stores.over(Database.at(folder)), folder)

    def compare(self, served: Path, lessons: Sequence[Lesson], tell: Callable[[int, int], None]) -> Compared:
        self.compared.append((served, list(lessons)))
        tell(1, 2)
        return Compared(self.decision, {"questions": 2})

    def learner(self, *, fewest: int = 10, rounds: Rounds | None = None, **more: Any) -> Learner[Lesson]:
        """more: of what it trains."""
        return Learner(
            self.trainable(**more),
            rounds=rounds or self.rounds,
            live_models=self.live,
            checkpoints=self.checkpoints,
            fewest=fewest,
        )

    def trainable(self, **more: Any) -> Trainable[Lesson]:
        parts: dict[str, Any] = {
            "encoder_version": ENCODER,
            "dimension": lambda: DIMENSION,
            "compare": self.compare,
            "settings": {"seed": 1},
            "threads": 1,
            "train": self.training,
        }
        return trainable(Lessons(self.stores.database), **{**parts, **more})

    def run(self, content: str = "better", **more: Any) -> Ended:
        self.training.content = content
        if self.rounds.judged_until("retriever"):
            self.ask_something_new()
        return self.learner().run(**more)

    def ask_something_new(self) -> None:
        """What judged a candidate judges no other."""
        _, floods = sorted(self.stores.texts())[:2]
        question = f"is the cellar of house {len(self.rounds.latest())} dry?"
        ask(self.stores, self.stores.journal.user_id("ann"), [(floods, "answer")], question=question)

    @property
    def last(self) -> Round:
        return self.rounds.latest(1)[0]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.fresh(tmp_path)


def expire(stores: Stores) -> None:
    with stores.database.writing() as sql:
        for row in sql.query(Round).filter_by(state="running"):
            row.figures = {**row.figures, "lease_until": (now() - timedelta(seconds=1)).isoformat()}


# What goes live


def test_a_winner_goes_live_with_its_lineage(world: World) -> None:
    ended = world.run()
    assert (ended.state, world.live.live(ROLE)) == ("promoted", ended.version)
    known = world.live.known(ROLE, ended.version)
    assert known is not None
    assert known.details == {"encoder_version": ENCODER}
    row = world.last
    assert (row.state, row.reason, row.model_version_id is not None) == ("promoted", BETTER.reason, True)
    assert row.settings["turns"] == [lesson.turn_id for lesson in Lessons(world.stores.database).all()]
    assert row.figures["comparison"] == {"questions": 2, "asked": 2}
    assert "lease_until" not in row.figures
    assert world.checkpoints.card("retriever", ended.version)["round"] == ended.round_id


def test_one_that_does_not_win_changes_nothing(world: World) -> None:
    first = world.run()
    world.decision = WORSE
    ended = world.run("worse")
    assert (ended.state, ended.reason) == ("refused", WORSE.reason)
    assert (world.live.live(ROLE), world.live.previous(ROLE)) == (first.version, UNTRAINED)


def test_stepping_back_goes_to_the_one_before_and_forward_again(world: World) -> None:
    versions = [world.run(content).version for content in ("one", "two")]
    assert world.live.step_back(ROLE) == versions[0]
    assert world.live.step_back(ROLE) == versions[1]


def test_the_live_one_is_never_promoted_again(world: World) -> None:
    first = world.run()
    again = world.run()
    assert (again.state, again.version) == ("refused", first.version)
    assert "live already" in again.reason
    assert len(world.compared) == 1
    assert world.live.previous(ROLE) == UNTRAINED


def test_one_that_was_stepped_back_from_does_not_come_back_by_itself(world: World) -> None:
    world.run()
    world.live.step_back(ROLE)
    again = world.run()
    assert again.state == "refused"
    assert "stepped back" in again.reason
    assert world.live.live(ROLE) == UNTRAINED


def test_one_that_beat_a_model_that_is_live_no_more_does_not_go_live(world: World) -> None:
    """Somebody steps back while the candidate is compared."""
    world.run("first")
    decide = world.compare

    def stepped_back_meanwhile(*given: Any) -> Compared:
        world.live.step_back(ROLE)
        return decide(*given)

    world.training.content = "second"
    world.ask_something_new()
    ended = world.learner(compare=stepped_back_meanwhile).run()
    assert (ended.state, "changed meanwhile" in ended.reason) == ("refused", True)
    assert world.live.live(ROLE) == UNTRAINED


def test_one_whose_encoder_is_live_no_more_is_refused_without_a_comparison(world: World) -> None:
    """Its own vectors would be searched for the live model's questions, which are of other vectors."""
    world.live.make_live("encoder", ENCODER)
    world.training.on_step = lambda: world.live.make_live("encoder", "another")
    ended = world.run()
    assert (ended.state, ended.reason) == ("refused", "Refused: the live model changed meanwhile.")
    assert (world.compared, world.live.live(ROLE)) == ([], None)


def test_one_does_not_go_live_whose_encoder_was_replaced_while_it_was_compared(world: World) -> None:
    world.live.make_live("encoder", ENCODER)

    def compare(*given: Any) -> Compared:
        world.live.make_live("encoder", "another")
        return world.compare(*given)

    ended = world.learner(compare=compare).run()
    assert (ended.state, ended.reason) == ("refused", "Refused: the live model changed meanwhile.")
    assert (world.last.state, world.live.live(ROLE)) == ("refused", None)


def test_going_live_and_the_round_s_end_are_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails between the two leaves neither."""

    def broken(*_: Any) -> None:
        raise RuntimeError("killed here")

    monkeypatch.setattr("stores.learning.rounds.model_id", broken)
    with pytest.raises(RuntimeError):
        world.run()
    assert world.live.live(ROLE) is None
    assert world.last.state == "failed"


NO_EPOCH = (
    "Refused: no epoch was better than the live model on the questions that tell when to end the training."
)


def test_a_training_that_kept_its_start_is_refused_without_a_comparison(world: World) -> None:
    world.training.best_epoch = 0
    ended = world.run()
    assert (ended.state, ended.reason) == ("refused", NO_EPOCH)
    assert (world.compared, world.live.live(ROLE)) == ([], None)


def test_a_training_that_kept_its_start_is_compared_with_a_model_that_was_trained(world: World) -> None:
    """What it started from is not what answers by then."""
    world.run("first")
    world.training.best_epoch = 0
    world.decision = WORSE
    assert world.run("as it was").reason == WORSE.reason
    world.live.step_back(ROLE)
    assert world.run("as it was, again").reason == NO_EPOCH


# What is learned from


def test_held_out_lessons_are_shown_to_the_comparison_alone(world: World) -> None:
    world.run()
    shown = {lesson.question for lesson in world.training.shown}
    assert shown == set(TEACH)
    assert {lesson.question for lesson in world.compared[0][1]} == set(QUESTIONS)
    assert world.training.measured == [q for q in QUESTIONS if q in shown and tells_when_to_end(q)]
    assert world.training.measured
    assert all(len(vector) == 4 * DIMENSION for vector in world.training.vectors.values())


def test_a_lesson_names_the_message_that_it_was(world: World) -> None:
    lesson = Lessons(world.stores.database).all()[3]
    ann = world.stores.journal.user_id("ann")
    texts = world.stores.texts(own_space(ann))
    assert [texts[version] for version in lesson.message_versions] == [QUESTIONS[3]]


def test_documents_without_a_vector_of_the_live_encoder_are_left_out(world: World) -> None:
    with pytest.raises(TooFewLessons, match="there are 0 lessons"):
        world.learner(encoder_version="another").run()
    assert world.rounds.latest() == []


def test_too_few_lessons_begin_no_round(world: World) -> None:
    with pytest.raises(TooFewLessons, match="20 lessons, and a round wants 21") as refused:
        world.learner(fewest=21).run()
    assert refused.value.hint == "Every question whose passages were judged is a lesson."
    assert world.rounds.latest() == []


def test_a_candidate_that_was_trained_from_another_encoder_fails(world: World) -> None:
    world.training.start = "another"
    assert world.run().state == "failed"
    assert "trained from another" in world.last.reason
    assert world.live.live(ROLE) is None


# One at a time, and how a round ends early


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_of_two_learners_at_once_one_is_sent_away(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if kind == "postgresql":
        server = request.getfixturevalue("postgres")
        stores = Stores.over(Database(server.new_database(template="vouch_empty")))
    else:
        stores = Stores.fresh(tmp_path)
    judge_questions(stores)
    world = World(stores, tmp_path)
    both, is_sent_away, ends = Barrier(2), Event(), list[Any]()

    def other_is_sent_away_first() -> None:
        assert is_sent_away.wait(60)

    def learn() -> None:
        both.wait()
        training = FakeTraining()
        training.on_step = other_is_sent_away_first
        try:
            ends.append(world.learner(train=training).run().state)
        except TryAgain:
            ends.append("sent away")
            is_sent_away.set()

    threads = [Thread(target=learn) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["promoted", "sent away"]
    stores.database.close()


def test_a_lease_that_ended_makes_room_and_the_first_learner_changes_nothing_more(world: World) -> None:
    """The first one sleeps past its lease, the second goes on with its round and wins, the first wakes up."""
    seconds: list[Ended] = []

    def sleep() -> None:
        world.training.on_step = lambda: None
        expire(world.stores)
        second = FakeTraining("second")
        seconds.append(world.learner(train=second, rounds=Rounds(world.stores.database)).run())

    world.training.on_step = sleep
    ended = world.run("first")
    assert (ended.state, seconds[0].state) == ("stopped", "promoted")
    assert (ended.reason, ended.exit_code) == ("another learner took its place", 1)
    assert world.live.live(ROLE) == seconds[0].version
    assert [row.state for row in world.rounds.latest()] == ["promoted"]
    assert ended.round_id == seconds[0].round_id


def test_a_round_told_to_stop_just_before_it_goes_live_does_not(world: World) -> None:
    decide = world.compare

    def stopped_meanwhile(*given: Any) -> Compared:
        found = decide(*given)
        world.rounds.ask_to_stop()
        return found

    ended = world.learner(compare=stopped_meanwhile).run()
    assert (ended.state, world.last.state, world.live.live(ROLE)) == ("stopped", "stopped", None)
    assert (ended.reason, world.last.reason, ended.exit_code) == ("by command", "by command", 1)


@pytest.mark.parametrize(
    ("error", "state", "reason"),
    [
        (KeyboardInterrupt(), "stopped", "interrupted"),
        (RuntimeError("a bug"), "failed", "RuntimeError: a bug"),
    ],
)
def test_what_breaks_off_a_round_is_noted_and_passed_on(
    world: World, error: BaseException, state: str, reason: str
) -> None:
    def breaks() -> None:
        raise error

    world.training.on_step = breaks
    with pytest.raises(type(error)):
        world.run()
    assert (world.last.state, reason in world.last.reason) == (state, True)
    assert list((world.folder / "models").iterdir()) == []


@pytest.mark.parametrize("error", [TrainingFailed("it did not go"), OSError(28, "No space left on device")])
def test_what_fails_is_told_and_the_next_round_may_begin(world: World, error: Exception) -> None:
    def fails() -> None:
        raise error

    world.training.on_step = fails
    ended = world.run()
    assert ended.state == "failed"
    assert ended.reason.endswith(("it did not go", "No space left on device"))
    world.training.on_step = lambda: None
    assert world.run().state == "promoted"


def test_a_round_without_a_place_to_work_in_ends(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: Any, **_more: Any) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(world.checkpoints, "workplace", full)
    with pytest.raises(TrainingFailed, match="No space left") as raised:
        world.run()
    assert (raised.value.exit_code, world.last.state) == (3, "failed")


def test_who_interrupts_twice_leaves_no_round_that_is_said_to_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_given: Any, **_more: Any) -> None:
        raise KeyboardInterrupt

    def interrupt_now_and_while_it_ends() -> None:
        monkeypatch.setattr(shutil, "rmtree", interrupt)
        interrupt()

    world.training.on_step = interrupt_now_and_while_it_ends
    with pytest.raises(KeyboardInterrupt):
        world.run()
    assert (world.last.state, world.last.reason) == ("stopped", "it was interrupted")


# The files


def test_what_a_killed_round_left_is_deleted_by_the_next(world: World) -> None:
    models = world.folder / "models"
    for left in (models / ".work-killed", models / "retriever" / ".new-killed"):
        left.mkdir(parents=True)
        (left / "lessons.jsonl").write_text("what was asked")
    version = world.run().version
    assert [path.name for path in models.iterdir()] == ["retriever"]
    assert [path.name for path in (models / "retriever").iterdir()] == [version]


def test_a_round_works_within_the_data_directory_and_for_its_owner_alone(world: World) -> None:
    world.run()
    assert world.training.folder.parent == world.folder / "models"
    assert (world.folder / "models").stat().st_mode & 0o077 == 0
    assert not world.training.folder.exists()


def test_refused_ones_do_not_pile_up_and_those_in_use_stay(world: World) -> None:
    live = [world.run(content).version for content in ("one", "two")]
    world.decision = WORSE
    refused = [world.run(f"refused {number}").version for number in range(6)]
    assert set(world.checkpoints.versions("retriever")) == {*live, *refused[-3:]}


def test_a_damaged_candidate_is_written_anew(world: World) -> None:
    world.decision = WORSE
    version = world.run().version
    (world.checkpoints.place("retriever", version) / "model.onnx").write_text("torn")
    world.decision = BETTER
    assert world.run().state == "promoted"
    world.checkpoints.verified("retriever", version)


# The child


def lesson(number: int) -> Lesson:
    return Lesson(number, 1, f"q{number}", (), "judge", ENCODER, "2026-11", False)


def as_child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> None:
    """Puts a script in the child's place: `out` is the folder to make, `tell` says a line."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "a_child.py").write_text(
        "import json, os, subprocess, sys, time\n"
        "out = sys.argv[sys.argv.index('--out') + 1]\n"
        "def tell(**facts): print(json.dumps(facts), flush=True)\n" + code
    )
    monkeypatch.setenv("PYTHONPATH", str(package))
    monkeypatch.setattr("assistant.learning.recipes.retriever.apart.PROGRAM", "a_child")


def apart(folder: Path, tell: Callable[[Any], None] = lambda told: None, **more: Any) -> Path:
    folder.mkdir()
    return train_apart(
        folder, [lesson(1)], {1: b"\0" * 8}, dimension=2, settings={}, threads=1, tell=tell, **more
    )


def test_the_child_is_heard_line_by_line_and_its_silence_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    silence = tmp_path / "silence was heard"
    until_silence = f"while not os.path.exists({str(silence)!r}): time.sleep(0.01)\n"
    as_child(monkeypatch, tmp_path, f"tell(kind='a')\n{until_silence}tell(kind='b'); os.mkdir(out)")
    told: list[Any] = []

    def hears(each: Any) -> None:
        told.append(each)
        if told and each is None:
            silence.touch()

    assert apart(tmp_path / "work", hears).is_dir()
    assert [each["kind"] for each in told if each] == ["a", "b"]
    assert None in told


def test_the_child_s_last_word_is_why_it_failed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    as_child(monkeypatch, tmp_path, "print('noise\\nError: no lesson', file=sys.stderr); sys.exit(1)")
    with pytest.raises(TrainingFailed, match=r"^the training failed: no lesson$"):
        apart(tmp_path / "work")


def test_a_silent_child_can_be_ended_with_all_that_it_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    as_child(
        monkeypatch,
        tmp_path,
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "own = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "tell(kind='started', pids=[os.getpid(), own.pid]); time.sleep(600)",
    )
    pids: list[int] = []

    class Stop(Exception):
        pass

    def stops(told: Any) -> None:
        if told:
            pids.extend(told["pids"])
        elif pids:
            raise Stop

    with pytest.raises(Stop):
        apart(tmp_path / "work", stops)
    assert len(pids) == 2
    deadline = time.monotonic() + 60
    while any(map(runs, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(runs, pids))


def test_a_training_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    as_child(monkeypatch, tmp_path, "time.sleep(600)")
    with pytest.raises(OverTime, match="time given"):
        apart(tmp_path / "work", budget_seconds=0.2)


def test_nothing_in_the_person_s_folder_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('this is not the json that was meant')")
    as_child(monkeypatch, tmp_path, "os.mkdir(out)")
    monkeypatch.chdir(tmp_path)
    assert apart(tmp_path / "work").is_dir()


def test_it_gives_way_to_a_chat(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wanted = min(19, os.nice(0) + 10)
    until = (
        "ends = time.monotonic() + 60\nwhile os.nice(0) < {} and time.monotonic() < ends: time.sleep(0.01)\n"
    )
    tells = "tell(kind='nice', nice=os.nice(0)); os.mkdir(out)"
    as_child(monkeypatch, tmp_path, until.format(wanted) + tells)
    told: list[Any] = []
    apart(tmp_path / "work", told.append)
    assert next(each["nice"] for each in told if each) >= wanted


def test_a_round_is_stopped_while_its_child_is_silent(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    as_child(monkeypatch, tmp_path, "tell(kind='phase', phase='exporting'); time.sleep(600)")
    is_exporting = Event()

    def told(progress: Progress) -> None:
        if progress.phase == "exporting":
            is_exporting.set()

    def stop() -> None:
        is_exporting.wait(60)
        world.rounds.ask_to_stop()

    stopping = Thread(target=stop)
    stopping.start()
    ended = world.learner(train=train_apart).run(tell=told)
    stopping.join()
    assert ended.state == "stopped"


def test_a_killed_learner_leaves_a_round_that_the_next_goes_on_with(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SIGKILL in a process of its own while it trains; the live model stays."""
    live = world.run("live").version
    world.stores.database.close()
    script = Path(__file__).with_name("learner_child.py")
    with subprocess.Popen([sys.executable, script, tmp_path], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "training\n"
        child.send_signal(signal.SIGKILL)
    killed = world.last
    assert killed.state == "running"
    assert world.live.live(ROLE) == live
    with pytest.raises(TryAgain):
        world.run("next")
    expire(world.stores)
    ended = world.run("next")
    assert (ended.state, ended.round_id) == ("promoted", killed.id)
    assert [row.state for row in world.rounds.latest()] == ["promoted", "promoted"]
    assert world.live.previous(ROLE) == live


# What is shown to the child


def test_questions_lie_on_no_disk_longer_than_the_process_that_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Path] = []

    @contextmanager
    def broken(command: Sequence[str], *given: Any) -> Iterator[None]:
        shown.extend(path for path in tmp_path.iterdir() if path.stat().st_size)
        raise RuntimeError("the machine is out of processes")
        yield

    monkeypatch.setattr(training_process, "_child", broken)
    vector = np.zeros(4, dtype=np.float32).tobytes()
    with pytest.raises(RuntimeError):
        train_apart(tmp_path, [], {1: vector}, dimension=4, settings={}, threads=1)
    assert shown
    assert not any(path.exists() for path in shown)


# The losses in few points


def test_a_short_curve_is_kept_as_it_is() -> None:
    curve = LossCurve()
    curve.add(1, 2.0)
    curve.add(2, 1.0)
    assert curve.points == [(1, 2.0, 1), (2, 1.0, 1)]


def test_a_long_one_has_the_means_of_neighbours_and_stays_short() -> None:
    curve = LossCurve()
    for step in range(1, MOST_POINTS + 2):
        curve.add(step, float(step))
    assert curve.points[:2] == [(2, 1.5, 2), (4, 3.5, 2)]  # the means of 1, 2 and of 3, 4
    assert curve.points[-1] == (MOST_POINTS + 1, MOST_POINTS + 1.0, 1)
    curve.add(MOST_POINTS + 2, 0.0)  # it fills the last point up first
    assert curve.points[-1] == (MOST_POINTS + 2, (MOST_POINTS + 1) / 2, 2)
    for step in range(MOST_POINTS + 3, 20 * MOST_POINTS):
        curve.add(step, 1.0)
        assert len(curve.points) <= MOST_POINTS
    assert sum(of for _, _, of in curve.points) == 20 * MOST_POINTS - 1  # no step was lost
    assert [step for step, _, _ in curve.points] == sorted({step for step, _, _ in curve.points})


def test_a_round_that_is_gone_on_with_replaces_what_it_trains_again() -> None:
    curve = LossCurve([[1, 2.0, 1], [2, 1.0, 1], [3, 0.5, 1]])
    curve.add(2, 1.25)
    assert curve.points == [(1, 2.0, 1), (2, 1.25, 1)]


def test_a_round_keeps_its_curve_and_what_was_measured_between(tmp_path: Path) -> None:
    world = World.fresh(tmp_path)
    measured = {"epoch": 0, "recall_at_5": 0.5, "ndcg_at_10": 0.25, "among": 2}

    def trained(folder: Path, lessons: Any, vectors: Any, **more: Any) -> Path:
        more["tell"]({"kind": "held_out", **measured})
        for step in (1, 2):
            more["tell"]({"kind": "step", "step": step, "steps": 2, "loss": 1.0 / step})
        return world.training(folder, lessons, vectors, **more)

    world.learner(train=trained).run()
    assert world.last.figures["curve"] == [[1, 0.5, 1]]  # the fake trains step 1 once more, with this loss
    assert world.last.figures["measured"] == [measured]


# What is forgotten meanwhile


MESSAGE = "Refused: a message that it learns from was forgotten meanwhile."
PASSAGE = "Refused: a passage that it learns from was forgotten or undone meanwhile."


def passage_of(stores: Stores, text: str) -> int:
    with stores.database.reading() as sql:
        return sql.query(PassageVersion).filter_by(text=text).one().passage_id


def ended_when(world: World, change: Callable[[], Any]) -> Any:
    """A round whose candidate wins, while this happens."""

    def compare(*given: Any) -> Compared:
        found = world.compare(*given)
        change()
        return found

    if world.rounds.judged_until("retriever"):
        world.ask_something_new()
    return world.learner(compare=compare).run()


def question(*, held_out: bool) -> str:
    return JUDGE[-1] if held_out else TEACH[0]


def forget(world: World, text: str) -> None:
    ann = world.stores.journal.user_id("ann")
    Forgetting(world.stores.database).forget(ann, [passage_of(world.stores, text)])


def test_a_message_that_was_forgotten_meanwhile_refuses_the_winner(world: World) -> None:
    ended = ended_when(world, lambda: forget(world, question(held_out=False)))
    assert (ended.state, ended.reason) == ("refused", MESSAGE)
    assert (world.last.state, world.last.reason) == ("refused", MESSAGE)
    assert world.live.live(ROLE) is None
    assert world.checkpoints.versions("retriever") == []


def test_a_passage_that_was_forgotten_meanwhile_refuses_it_too(world: World) -> None:
    ended = ended_when(world, lambda: forget(world, "The cellar floods."))
    assert (ended.reason, world.live.live(ROLE)) == (PASSAGE, None)


def test_a_passage_that_was_undone_meanwhile_refuses_it_too(world: World) -> None:
    ann = world.stores.journal.user_id("ann")
    receipt, _ = world.stores.add(ann, document("more", "It shuts at six."))
    shuts = next(version for version, text in world.stores.texts().items() if text == "It shuts at six.")
    with world.stores.database.writing() as sql:  # as if the first question had found it
        sql.query(Judgement).filter_by(turn_id=1, label="answer").one().version_id = shuts
    ended = ended_when(world, lambda: world.stores.knowledge.undo(ann, receipt))
    assert (ended.reason, world.live.live(ROLE)) == (PASSAGE, None)


def test_what_the_training_never_saw_may_be_forgotten(world: World) -> None:
    assert ended_when(world, lambda: forget(world, question(held_out=True))).state == "promoted"


def test_what_was_only_rated_anew_goes_live(world: World) -> None:
    def rate_anew() -> None:
        with world.stores.database.writing() as sql:
            for row in sql.query(Judgement):
                row.label = "irrelevant"

    assert ended_when(world, rate_anew).state == "promoted"


def test_the_live_model_s_files_stay_where_the_next_one_is_refused(world: World) -> None:
    first = world.run("first")
    world.training.content = "second"
    asked_since = "room 0 does open when?"  # it repeats an earlier one, so it teaches
    floods = next(version for version, text in world.stores.texts().items() if text == "The cellar floods.")
    ask(world.stores, world.stores.journal.user_id("ann"), [(floods, "answer")], question=asked_since)
    second = ended_when(world, lambda: forget(world, asked_since))
    assert second.reason == MESSAGE
    assert world.checkpoints.versions("retriever") == [first.version]
    assert world.live.live(ROLE) == first.version


def test_ratings_of_who_was_alone_teach_nobody_who_came_meanwhile(world: World) -> None:
    ended = ended_when(world, lambda: world.stores.journal.user_id("ben"))
    assert ended.reason == "Refused: another user has come, whom these ratings may not teach."
    assert world.live.live(ROLE) is None


def test_a_live_model_that_saw_what_is_forgotten_is_none_to_be_compared_with(world: World) -> None:
    world.run("first")
    world.training.content = "second"
    second = ended_when(world, lambda: forget(world, question(held_out=False)))
    assert second.reason == "Refused: the live model changed meanwhile."
    assert world.live.live(ROLE) == UNTRAINED


def test_it_is_seen_in_the_very_transaction_of_the_swap(world: World) -> None:
    """Nobody looks before that: what is forgotten last is seen as well."""
    promote = world.rounds.promote

    def forgotten_just_before(*given: Any, **more: Any) -> bool:
        with world.stores.database.writing() as sql:
            taught = next(t for t in sql.query(Turn) if t.message == TEACH[0])
            taught.message = taught.standalone = ""
        return promote(*given, **more)

    world.rounds.promote = forgotten_just_before  # type: ignore[method-assign]
    assert world.run().reason == MESSAGE
