"""vouch replay, as a person and a script meet it; what is read from tables; one's own conversations."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import replay_towns
from cli_helpers import HANDBOOK, QUESTION, Vouch
from scripted_server import Call, ScriptedServer, refuses, says
from sqlalchemy import select
from sqlmodel import col
from store_fixtures import Stores, document
from test_replay_player import hash_of
from tiny_sources import export_of_mean, tiny_berts

from assistant.replay.runs.conversations import Compared, Message, Reply
from assistant.replay.runs.inputs import read_inputs
from stores.database.tables import Session
from stores.exchange.earlier_state import copy_untouched, go_back_to, keep_one_user


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    replay_towns.write(tmp_path)
    return Vouch(tmp_path, minilm_folder.parent)


def towns(vouch: Vouch) -> list[str]:
    found = [str(vouch.folder / "towns.jsonl"), "--passages", str(vouch.folder / "passages.jsonl")]
    return [*found, "--judge", "simulated"]


# The command


def test_two_homes_give_the_same_report_with_a_real_training(tmp_path: Path, minilm_folder: Path) -> None:
    """Nothing is shared but the models' weights: a tiny network is trained, exported and searched with.

    One is interrupted behind the training, and goes on.
    """
    shutil.copytree(export_of_mean(), tmp_path / "encoders")
    (tmp_path / "readers").symlink_to(minilm_folder.parent.parent / "readers")
    told = []
    for name in ("one", "other"):
        home = Vouch(tmp_path / name, tmp_path / "encoders")
        learning = "[learning]\nepochs = 8\nlearning_rate = 5e-2\n"
        home.set(f'[encoder]\nsource = "{tiny_berts() / "mean"}"\n{learning}')
        replay_towns.write(home.folder)
        given = [
            *towns(home),
            "--interval",
            "16",
            "--first",
            "20",
            "--out",
            str(home.folder / "out"),
            "--quiet",
            "--json",
        ]
        if name == "other":
            interrupt(home.start("replay", *given), home.folder / "out" / "runs" / "luf-seed-1", steps=17)
        out, errors = home.start("replay", *given).communicate(timeout=400)
        assert not errors
        told.append(((home.folder / "out" / "report.json").read_bytes(), out))
    assert told[0] == told[1]
    assert told[0][0] == told[0][1]
    report = json.loads(told[0][0])
    (training,) = report["trainings"]["luf"]["1"]
    assert training["lessons"]


def interrupt(running: subprocess.Popen[str], run: Path, *, steps: int) -> None:
    """Once so many steps of a run are kept."""
    deadline = time.monotonic() + 300
    while not (file := run / "steps.jsonl").exists() or file.read_bytes().count(b"\n") < steps:
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=300)
    assert running.returncode in (0, 130)  # 0: it was over before the signal came


def test_a_figure_under_its_limit_ends_with_1(vouch: Vouch) -> None:
    out = vouch.folder / "out"
    given = [*towns(vouch), "--method", "frozen", "--accuracy", "1", "--first", "6", "--out", str(out)]
    ran = vouch.run("replay", *given, "--fail-under", "reranked R@5=1")
    assert ran.cells[0] == ["part", "measure", "frozen"]
    assert ["all", "reranked R@5", "100.0 [100.0, 100.0]"] in ran.cells
    failed = vouch.run("replay", *given, "--fail-under", "tokens=1e9", "--fail-under", "F1=0", code=1)
    assert "tokens of frozen is" in failed.err
    assert "F1" not in failed.err


def test_the_data_of_the_chat_is_as_it_was(vouch: Vouch) -> None:
    vouch.run("ingest", vouch.write("handbook.md", HANDBOOK))
    before = hash_of(vouch.data)
    vouch.run("replay", *towns(vouch), "--method", "frozen", "--first", "3")
    assert hash_of(vouch.data) == before


# What is read


def table(file: Path, rows: list[Mapping[str, Any]]) -> str:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


def test_columns_are_guessed_from_the_first_row(tmp_path: Path) -> None:
    """The layout of SQuAD in `datasets`: each question brings its passage along."""
    rows = [
        {
            "id": "1",
            "title": "Tower",
            "context": "It is high.",
            "question": "High? ",
            "answers": {"text": ["yes"]},
        },
        {"id": "2", "title": "Tower", "context": "It is high.", "question": " ", "answers": {"text": ["no"]}},
    ]
    found = read_inputs([table(tmp_path / "t.jsonl", rows)], data=None, splits=())
    (passage,) = found.passages
    ((question,),) = found.parts
    assert (passage.title, passage.text) == ("Tower", "It is high.")
    assert (question.text, question.answers, question.gold) == ("High?", ("yes",), frozenset({passage.id}))
    assert (question.domain, question.topic) == ("t", "Tower")


def test_the_same_content_has_the_same_hash(tmp_path: Path) -> None:
    rows = [{"id": "1", "context": "c", "question": "q", "answer": "a"}]
    found = read_inputs([table(tmp_path / "one.jsonl", rows)], data=None, splits=())
    assert found.sha256() == replace(found).sha256()
    (passage,) = found.passages
    assert found.sha256() != replace(found, passages=(replace(passage, text="d"),)).sha256()


# One's own conversations


def reply(answer: str, *citations: str, writes: tuple[str, ...] = ()) -> Reply:
    return Reply(answer, citations, writes)


def test_change_is_that_of_words_citations_and_writes() -> None:
    same = reply("It opens at ten.", "p1", "p2", writes=("add yours: a",))
    assert Compared(Message("?"), same, same).change == 0
    other = Compared(Message("?"), same, reply("nothing", "p2", "p3"))
    assert other.answer_change == 1
    assert other.citation_change == pytest.approx(2 / 3)  # one of three is cited by both
    assert other.write_change == 1


TOLD = "Remember that the boat house has a red door."


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    """A session with a question, a statement and a question about it; then the handbook changed."""
    vouch = Vouch(tmp_path_factory.mktemp("talked"), minilm_folder.parent)
    vouch.run("ingest", vouch.write("handbook.md", HANDBOOK))
    vouch.chat(QUESTION, TOLD, "What colour is the door of the boat house?")
    vouch.run("ingest", vouch.write("handbook.md", HANDBOOK.replace("10:00", "11:30")))
    return vouch


@pytest.fixture
def chatted(talked: Vouch, tmp_path: Path) -> Vouch:
    return talked.copy_to(tmp_path)


def test_under_the_same_model_nothing_changes_and_nothing_is_touched(chatted: Vouch) -> None:
    before = hash_of(chatted.data)
    ran = chatted.run("replay", "1", "--model", "live", "--against", "untrained", "--json")
    *rows, total = ran.objects
    first, told, again = sorted(rows, key=lambda row: row["turn"])
    assert [row["change"] for row in (first, told, again)] == [0, 0, 0]
    assert total == {"schema": 1, "messages": 3, "changed": 0, "unchanged": 1, "same_model": True}
    assert "10:00" in first["replies"][0]["answer"]  # as the handbook was then
    assert "11:30" not in first["replies"][0]["answer"]
    assert "red" in again["replies"][0]["answer"]  # said in this very conversation
    assert hash_of(chatted.data) == before
    quiet = chatted.run("replay", "1", "--against", "untrained", "--changed", "--fail-under", "unchanged=1")
    assert quiet.out == ""
    same, counted = quiet.err.splitlines()
    assert same.startswith("live and untrained are the same model here")  # told before they are played
    assert counted == "0 of 3 messages are answered differently."


def test_another_chat_model_changes_what_is_answered_worst_first(chatted: Vouch) -> None:
    before = hash_of(chatted.data)
    with ScriptedServer(then=says("I cannot say.")) as server:
        chatted.use_server(server.base_url, weighs=False, more='[memory]\nagents = "reader"\n')
        given = ["replay", "1", "--model", "extractive", "--against", "other", "--changed"]
        ran = chatted.run(*given, "--json")
        failed = chatted.run(*given, "--fail-under", "unchanged=0.9", code=1)
    *rows, total = ran.objects
    changes = [row["change"] for row in rows]
    assert changes == sorted(changes, reverse=True)
    assert all(row["replies"][1]["answer"] == "I cannot say." for row in rows)
    assert rows[0]["replies"][0]["model"] == "extractive"
    assert (total["changed"], total["same_model"]) == (len(rows), False)
    assert "Change is that of answer, citations and writes together, 0 to 3" in failed.err
    assert "the same model" not in ran.err
    assert hash_of(chatted.data) == before


def test_what_was_private_or_came_with_material_is_played_as_it_was(chatted: Vouch) -> None:
    """Session 2 has a question with its material, session 3 a statement of which nothing is remembered."""
    material = "The key of the tide mill hangs on the fourth hook."
    chatted.run("ask", "Where does the key of the tide mill hang?", stdin=material)
    chatted.run("ask", "--no-learn", "Remember that my ferry leaves at six.")
    given = ["--model", "live", "--against", "untrained", "--json"]
    asked, _ = chatted.run("replay", "2", *given).objects
    assert [("fourth hook" in reply["answer"]) for reply in asked["replies"]] == [True, True]
    told, _ = chatted.run("replay", "3", *given).objects
    assert [reply["writes"] for reply in told["replies"]] == [[], []]


def test_of_a_table_its_questions_are_played(chatted: Vouch) -> None:
    table = chatted.folder / "asked.jsonl"
    given = ["replay", str(table), "--model", "live", "--against", "untrained", "--json"]
    table.write_text(json.dumps({"query": QUESTION, "answers": ["11:30"], "positive_ids": ["p1"]}) + "\n")
    row, _ = chatted.run(*given).objects
    assert row["message"] == QUESTION
    assert "11:30" in row["replies"][0]["answer"]
    table.write_text(json.dumps({"ask": QUESTION}) + "\n")
    assert "line 1 has no column of the text; its columns: ask" in chatted.run(*given, code=2).err


@pytest.mark.parametrize(
    ("given", "code", "complaint"),
    [
        (["99", "--against", "live"], 1, "there is no session 99 of yours"),
        (["1", "--against", "gpt"], 1, "there is no model 'gpt'\nName live, previous, untrained, or "),
        (["1", "--against", "previous"], 1, "before the live one"),
        (["1", "--against", "live", "--fail-under", "F1=1"], 2, "has no figure 'F1'"),
    ],
)
def test_what_cannot_be_compared_is_told(chatted: Vouch, given: list[str], code: int, complaint: str) -> None:
    assert complaint in chatted.run("replay", *given, code=code).err


def test_nobody_s_conversation_is_played_but_ones_own(chatted: Vouch) -> None:
    ran = chatted.run("replay", "1", "--against", "untrained", "--user", "eve", code=1)
    assert "no session 1 of yours" in ran.err


# A copy as it was


def test_a_copy_knows_what_was_known_then(tmp_path: Path) -> None:
    stores = Stores.fresh(tmp_path)
    ann = stores.journal.user_id("ann")
    old, _ = stores.add(ann, document("one", "It opens at ten."))
    moment = datetime.now(UTC)
    time.sleep(0.01)
    stores.add(ann, document("two", "It opens at noon."))
    assert stores.database.file is not None
    stores.knowledge.undo(ann, old)
    assert set(stores.texts().values()) == {"It opens at noon."}
    (tmp_path / "copy").mkdir()
    copy_untouched(stores.database.file, tmp_path / "copy" / "vouch.db")
    copied = Stores.over(type(stores.database).at(tmp_path / "copy"))
    go_back_to(copied.database, moment)
    assert set(copied.texts().values()) == {"It opens at ten."}
    go_back_to(copied.database, moment + timedelta(days=1))  # nothing happened since: nothing changes
    assert set(copied.texts().values()) == {"It opens at ten."}
    copied.database.close()
    stores.database.close()


def test_a_copy_holds_nothing_of_others_nor_of_private_sessions(vouch: Vouch) -> None:
    vouch.run("ingest", "--shared", vouch.write("gate.md", "The Mahogany gate opens at ten."))
    vouch.chat("My cat is called Bella.")  # session 1
    vouch.chat("/private", "My code word is Xylophone.")
    vouch.run("kb", "add", "cafes", vouch.write("cafes.csv", "name,food\nKiku,japanese\n"))
    other = ("--user", "ignatius")
    vouch.run("kb", "add", "boats", vouch.write("boats.csv", "name,port\nQuetzal,Callao\n"), *other)
    vouch.run("chat", *other, stdin="My boat is called Zanzibar.\nWhen does the Mahogany gate open?\n")
    home = Vouch(vouch.folder / "copied", (vouch.folder / "cache/vouch/encoders").resolve())
    home.data.mkdir(parents=True)
    file = home.data / "vouch.db"
    copy_untouched(vouch.data / "vouch.db", file)
    everything = file.read_bytes().lower()
    others = (b"xylophone", b"quetzal", b"callao", b"zanzibar", b"ignatius")
    assert all(word in everything for word in others)
    keep_one_user(file, "ann")
    left = file.read_bytes().lower()
    assert not [word for word in others if word in left]
    assert all(word in left for word in (b"bella", b"kiku", b"mahogany"))
    with closing(sqlite3.connect(file)) as opened:
        assert opened.execute("PRAGMA foreign_key_check").fetchall() == []
    home.run("doctor", "--offline")
    assert "Bella" in home.run("ask", "What is my cat called?", "--no-learn").out
    assert "ten" in home.run("ask", "When does the Mahogany gate open?", "--no-learn").out


def test_whose_copy_it_is_does_not_hang_on_how_others_are_called(tmp_path: Path) -> None:
    stores = Stores.fresh(tmp_path)
    names = ["other 2", "ben", "o\0dd"]  # the first is what a gone user could be called, were it not random
    own = {name: stores.journal.user_id(name) for name in names}
    for user in own.values():
        stores.knowledge.remember(user, f"A note of {user}.")
    assert stores.database.file is not None
    for number, (name, user) in enumerate(own.items()):
        (tmp_path / f"{number}").mkdir()
        copy_untouched(stores.database.file, tmp_path / f"{number}" / "vouch.db")
        keep_one_user(tmp_path / f"{number}" / "vouch.db", name)
        copied = Stores.over(type(stores.database).at(tmp_path / f"{number}"))
        assert copied.journal.known_user_id(name) == user
        assert [copied.own_texts(each) for each in own.values()] == [
            {f"A note of {user}."} if each == user else set() for each in own.values()
        ]
        copied.database.close()
    stores.database.close()


def test_a_private_session_is_in_the_copy_where_it_is_replayed(vouch: Vouch) -> None:
    vouch.chat("/private", "My code word is Xylophone.")
    vouch.chat("/private", "My other word is Zanzibar.")
    file = vouch.folder / "copy.db"
    copy_untouched(vouch.data / "vouch.db", file)
    with vouch.database() as database, database.reading() as sql:
        private = sql.scalars(select(col(Session.id)).where(col(Session.is_private))).all()
    keep_one_user(file, "ann", private[0])
    left = file.read_bytes().lower()
    assert (b"xylophone" in left, b"zanzibar" in left) == (True, False)


# What cannot be remembered


def test_a_comparison_tells_what_was_not_remembered(vouch: Vouch) -> None:
    def answers_alone(call: Call) -> None:
        """What a summarizer asks is refused."""
        behave = says("Ghent it is.") if call.request.wants_stream else refuses(500, "out of memory")
        behave(call)

    with ScriptedServer(then=answers_alone) as server:
        vouch.use_server(server.base_url, weighs=False)
        vouch.chat("My sister Ada lives in Ghent.")
        ran = vouch.run("replay", "1", "--model", "live", "--against", "extractive", "--json")
    live, extractive = ran.objects[0]["replies"]
    (failed,) = live["writes"]
    assert failed.startswith("not remembered: ")
    assert not any(write.startswith("not remembered") for write in extractive["writes"])
    assert "not remembered" not in ran.err
