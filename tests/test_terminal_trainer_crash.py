"""The trainer crashes while somebody chats: it is told once, the chat goes on, and so does the round.

The chat, its learner and the learner's commands are the real ones; what would train is a script that tells
three steps and dies when it is told to.
"""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, QUESTION, Person, Vouch
from store_fixtures import Stores
from test_learner import expire
from test_lessons import ask

from assistant.learning.recipes.retriever.recipe import ROLE
from stores.database.tables import Round
from stores.search.live_models import LiveModels

TRAINS = """
import os, signal, sys, time
if "assistant.learning.recipes.retriever.train" in sys.orig_argv:
    print('{"kind": "phase", "phase": "training"}', flush=True)
    for step in (1, 2, 3):
        print('{"kind": "step", "step": %d, "steps": 40, "loss": 0.5}' % step, flush=True)
    while not os.path.exists(os.environ["CRASH"]):
        time.sleep(0.01)
    how = open(os.environ["CRASH"]).read()
    if how == "the learner is killed":
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    print("out of memory", file=sys.stderr, flush=True)
    os._exit(1)
"""
KILLED = "the learner is killed"


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    """Somebody with twelve lessons, and a round that begins when it is asked for."""
    made = Vouch(tmp_path, minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    with made.database() as database:
        stores = Stores.over(database)
        [version] = stores.texts()
        for number in range(12):
            ask(stores, stores.journal.user_id("bob"), [(version, "answer")], question=f"when, {number}?")
    made.set("[learning]\nin_chat = false\nfewest_lessons = 10\n")
    hook = Path(made.write("trains/sitecustomize.py", TRAINS))
    earlier = made.environment.get("PYTHONPATH", "")
    made.environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(hook.parent), earlier)))
    made.environment["CRASH"] = str(tmp_path / "crash")
    return made


def sends(person: Person, text: str) -> None:
    person.types(text)
    person.sees(text[-4:])
    person.has_seen_all()
    person.types("\r")


def test_a_trainer_that_dies_is_told_and_its_round_goes_on_when_asked(vouch: Vouch) -> None:
    crash = vouch.folder / "crash"
    with vouch.terminal("chat") as person:
        assert person._terminal is not None
        wide = struct.pack("HHHH", 30, 180, 0, 0)  # the notice on one line
        fcntl.ioctl(person._terminal, termios.TIOCSWINSZ, wide)
        person.sees("1 shared")
        sends(person, "/train start")
        person.sees("step 3 of 40")
        crash.write_text(KILLED)
        person.sees(
            "Round 1 broke off at step 3 of 40: it ended without a word. The model in use is untouched; "
            "training starts again at the next occasion."
        )
        sends(person, QUESTION)  # the chat goes on
        person.sees("10:00")
        person.types("\x1bOS")  # F4
        person.sees("live model: untrained")
        person.sees("step 3 of 40")
        person.has_seen_all()
        person.types("\x1b")
        person.sees("sk anything")

        crash.unlink()
        with vouch.database() as database:
            expire(Stores.over(database))  # a minute later
        sends(person, "/train start")
        person.sees("step 3 of 40")
        crash.write_text("it fails")
        person.sees("out of memory")
        person.types("\x11")
        assert person.exit_code() == 0
    with vouch.database() as database, database.reading() as sql:
        [row] = sql.query(Round)
        assert (row.state, row.figures["taken_over"]) == ("failed", 1)
        assert "out of memory" in row.reason
        assert LiveModels(database).live(ROLE) is None
