"""A chat that ends at a step of a turn is opened again: what was said and typed is there, and nothing twice.

One chat at a pseudo-terminal follows the other, over the same data. Each is held at a step and ended there.
The next one shows the message with the state of its answer and brings the draft; what the message stated is
learned once.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, Person, Vouch

from stores.database.tables import StatedClaim, Turn

STEPS = {  # of which module which method, and whether before it or behind it
    "searching": ("agents.retrieval.retriever", "Retriever.retrieve", "before"),
    "accepted": (
        "stores.conversation.journal",
        "Journal.accept",
        "behind",
    ),  # not first: the draft is the session's by now
    "ranking": ("agents.retrieval.reranker", "Reranker.rerank", "before"),
    "before the first word": ("agents.answering.responder", "Responder.prepare", "behind"),
    "amid the reply": ("assistant.turns.turn_in_progress", "TurnInProgress.heard", "behind"),
    "summarizing": ("agents.memory.reader_summarizer", "ReaderSummarizer._summarize", "before"),
    "weighing": ("stores.claims.claims", "Claims.claim", "behind"),
    "before it is written": ("stores.claims.claims", "Claims.decide", "before"),
    "behind its writing": ("stores.claims.claims", "Claims.decide", "behind"),
}
ANSWERING = ("accepted", "searching", "ranking", "before the first word", "amid the reply")
HOLDS = """
import importlib, os, time
module, name, where, place = os.environ["HELD"].split(",")
owner_name, _, call_name = name.partition(".")
owner = getattr(importlib.import_module(module), owner_name)
call = getattr(owner, call_name)
def hold():
    if os.path.exists(place + "/armed"):
        open(place + "/reached", "w").close()
        while not os.path.exists(place + "/go"):
            time.sleep(0.01)
def held(*args, **kwargs):
    if where == "before":
        hold()
    result = call(*args, **kwargs)
    if where == "behind":
        hold()
    return result
setattr(owner, call_name, held)
"""
STATED = {
    "searching": "My bicycle is green.",
    "accepted": "My locker number is 214.",
    "ranking": "My dentist is called Moreno.",
    "before the first word": "My office is on the third floor.",
    "amid the reply": "My cat is called Minka.",
    "summarizing": "My room number is 9912.",
    "weighing": "My sister lives in Lisbon.",
    "before it is written": "My train leaves at 7:40.",
    "behind its writing": "My favourite colour is yellow.",
}
ENDINGS = {  # how it ends, its exit code, and the state of a turn whose answer was not there
    "kill -9": (-signal.SIGKILL, "accepted", tuple(STEPS)),
    "SIGTERM": (143, "stopped", ("searching", "weighing")),
}
LABELS = {"accepted": "no answer: the program ended first", "stopped": "stopped"}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    """A session in which something was said: its drafts are kept under its number."""
    made = Vouch(tmp_path_factory.mktemp("steps"), minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    made.chat("Hello.")
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    copied = library.copy_to(tmp_path)
    hook = Path(copied.write("held/sitecustomize.py", HOLDS))
    earlier = copied.environment.get("PYTHONPATH", "")
    copied.environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(hook.parent), earlier)))
    return copied


def turns(vouch: Vouch) -> list[tuple[str, str]]:
    """What was said behind the greeting, and how its answer ended."""
    with vouch.database() as database, database.reading() as sql:
        said = [(turn.message, turn.state) for turn in sql.query(Turn).order_by(Turn.id)]  # type: ignore[arg-type]
        return said[1:]


def learned(vouch: Vouch) -> list[str]:
    """What was stated and is stored, in the order of the messages."""
    with vouch.database() as database, database.reading() as sql:
        claims = sql.query(StatedClaim).order_by(StatedClaim.turn_id)  # type: ignore[arg-type]
        return [claim.quote for claim in claims if claim.state == "stored"]


def draft(vouch: Vouch) -> str:
    return "".join(path.read_text() for path in (vouch.folder / "state").rglob("drafts/*/*.txt"))


def draft_at(step: str) -> str:
    """What is typed while a chat is held there."""
    return f"half a thought while {step}"


def until_painted(person: Person, *texts: str) -> None:
    for text in texts:
        person.until(lambda text=text: text in person.screen, f"{text!r} never came")  # type: ignore[misc]


def until_draft(person: Person, vouch: Vouch, *texts: str) -> None:
    """Until one of these is what is kept."""
    person.until(lambda: draft(vouch) in texts, f"the draft never was {texts}")


def end(person: Person, ending: str, go: Path) -> int:
    """Ends it where it is held; what can, goes on from there."""
    if ending == "kill -9":
        os.kill(person._process.pid, signal.SIGKILL)
    else:
        os.kill(person._process.pid, signal.SIGTERM)
        time.sleep(0.2)
        go.touch()
    return person.exit_code()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_chat_that_ends_at_a_step_is_opened_again_with_all_there_was_and_nothing_twice(
    vouch: Vouch, ending: str
) -> None:
    code, unanswered, steps = ENDINGS[ending]
    said: list[tuple[str, str]] = []
    for step in steps:
        held = vouch.folder / "held" / step.replace(" ", "_")
        held.mkdir()
        vouch.environment["HELD"] = ",".join((*STEPS[step], str(held)))
        with vouch.terminal("chat", "--last") as person:
            person.sees("1 shared")
            if said:
                finds_it_again(person, vouch, steps[len(said) - 1], said)
                person.types("\x03")  # the draft goes
            (held / "armed").touch()
            person.types(STATED[step])
            time.sleep(0.2)  # or Enter might be taken for a part of a paste
            person.types("\r")
            person.until((held / "reached").exists, f"{step} never came")
            person.types(draft_at(step))
            behind_it = f"{STATED[step]}\n\n{draft_at(step)}"  # while it is not known to be accepted
            until_draft(person, vouch, draft_at(step), behind_it)
            assert end(person, ending, held / "go") == code, step
        said.append((STATED[step], unanswered if step in ANSWERING else "done"))
        assert turns(vouch) == said, step
    with vouch.terminal("chat", "--last") as person:
        finds_it_again(person, vouch, steps[-1], said)
        person.types("\x03\x11")
        assert person.exit_code() == 0
    assert turns(vouch) == said
    assert learned(vouch) == [message for message, _ in said]


def finds_it_again(person: Person, vouch: Vouch, step: str, said: list[tuple[str, str]]) -> None:
    """The last message and its state, the draft without the message, and that all was learned."""
    message, state = said[-1]
    until_painted(person, message, LABELS.get(state, message), draft_at(step))
    person.until(lambda: len(learned(vouch)) >= len(said), f"{message} is not learned")
    until_draft(person, vouch, draft_at(step))
