"""Training on the screen: what it tells of rounds, whoever trains, and what its keys do."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from round_rows import NAMES, keep, led_by_fake, of, promoted, refused, row, running
from screen_fixtures import ChatOnScreen, on_screen

from agents.models.encoders.encoder import EncoderDescription
from agents.models.exported_folders import MODEL_FILE, TOKENIZER_FILE
from assistant.terminal.comparison.training_commands import steer_training
from assistant.terminal.facts.training import TrainingFacts, rule, training_facts
from assistant.terminal.facts.training_lines import (
    bar,
    lasting,
    progress_line,
    round_line,
    state_now,
    status_line,
    table_lines,
)
from assistant.terminal.training.training_screen import TrainingScreen
from assistant.terminal.widgets.page_screen import PageScreen
from stores.base.errors import VouchError
from stores.database.tables import Round
from stores.learning.lessons import HeldOut, TooFewHeldOut
from stores.search.live_models import LiveModels


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times are shown by the clock of the machine."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def opens_training(chat: ChatOnScreen) -> None:
    await chat.opens(TrainingScreen, "f4")
    await chat.shows("live model")


async def test_the_page_of_a_round_tells_its_settings_hashes_and_lineage(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["One [1]."], ["Two [1]."]], size=(120, 50)) as chat:
        await chat.asks("When does it open?")
        await chat.asks("And on Sundays?")
        await chat.asks("/good 1")
        keep(of(chat), promoted())
        with of(chat).stores.database.writing() as sql:
            made = sql.get_one(Round, 2)
            made.figures = {**made.figures, "measured": running().figures["measured"]}
            made.settings = {**made.settings, "turns": [1, 2, 3, 7], "held_out": 1}
            made.created_at = made.created_at.replace(year=2100)  # behind the rating
        await opens_training(chat)
        await chat.presses("enter")
        await chat.shows("Round 2 · live")
        for told in (
            "Learned from 3 lessons; 1 more were held out",
            "Judged     2 by scores",
            "Rated      1 good",
            "start     nDCG@10 50.0  R@5 70.0  among 900 passages",
            "epoch 1   nDCG@10 53.0",
            "Forgotten  2 of its turns since",  # 3 and 7 are not there
            "Turns      1-3, 7",
            "nDCG@10    50.0       52.1  +2.10 [+1.60, +2.60]",
            "2026-10                     -0.40 points on 96 questions",
            'update_side    "query"',
            "seed           1",
            f"taught sha256  {'ab' * 32}",
            f"Candidate  {NAMES[1]}",
        ):
            assert told in chat.text, f"{told!r} is not in\n{chat.text}"


async def test_a_round_that_another_process_trains_is_followed(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await opens_training(chat)
        keep(of(chat), running(1, step=40))
        await chat.shows("step 40 of 400")
        keep(of(chat), running(1, step=60))
        await chat.shows("step 60 of 400")
        keep(of(chat), promoted(1))
        await chat.shows("live model: 1")
        await chat.shows("1  live         19 Nov 22:03  nDCG@10 +2.10 points [+1.60, +2.60]")


async def test_the_mark_stays_with_its_round_when_another_one_begins(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        keep(of(chat), refused(), promoted())
        await opens_training(chat)
        await chat.presses("down")
        await chat.shows("Loss, round 1")
        keep(of(chat), running())
        await chat.shows("candidate: 3")
        await chat.pilot.pause(0.2)
        assert "Loss, round 1" in chat.text
        await chat.presses("up", "up")
        await chat.shows("Loss, round 3")


# Its keys


async def test_s_begins_a_round_and_ends_the_one_that_runs_once_that_is_sure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.terminal.comparison.training_commands._lacks", lambda assistant: "")
    async with on_screen(tmp_path) as chat:
        with led_by_fake(chat) as learner:
            await opens_training(chat)
            await chat.presses("s")
            await chat.until(lambda: "begin" in learner.asked)
            keep(of(chat), running(1))
            await chat.shows("s stop")
            await chat.presses("s")
            await chat.shows("End round 1?")
            await chat.opens(TrainingScreen, "n")
            assert of(chat).stores.rounds.latest(1)[0].state == "running"
            await chat.presses("s")
            await chat.shows("End round 1?")
            await chat.presses("y")
            await chat.until(lambda: of(chat).stores.rounds.latest(1)[0].state == "stopped")
            await chat.shows("s start")
            await chat.shows("1  stopped")


async def test_s_says_what_a_round_lacks_and_space_what_it_cannot_hold_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_screen(tmp_path) as chat:
        with led_by_fake(chat) as learner:
            await opens_training(chat)
            await chat.presses("s")
            await chat.shows("No round was begun: there are 0 lessons, and a round wants 100.")
            assert learner.asked == []
            with monkeypatch.context() as changed:
                lacks = "assistant.terminal.comparison.training_commands._lacks"
                changed.setattr(lacks, lambda assistant: "")
                await chat.presses("space")
                await chat.shows("Space go on")
                await chat.presses("s")
                await chat.shows("The pause ends, and a round begins in the background")
            keep(of(chat), running(1))  # one goes on: no lessons are wanted for that
            learner.asked.clear()
            learner.is_paused = False
            with pytest.raises(VouchError, match="it would need a chat that stays open") as refused:
                list(steer_training(of(chat), "start", stays=False))
            assert refused.value.hint == "`vouch train` trains a round now."
            assert learner.asked == []
            assert next(steer_training(of(chat), "start")).startswith("A round begins")
            assert learner.asked == ["begin"]
            await chat.shows("step 210 of 400")
            await chat.presses("space")
            await chat.shows("Another process trains this round")


async def test_b_goes_back_to_the_model_before_and_says_which(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await opens_training(chat)
        await chat.presses("b")
        await chat.shows("There is no earlier model")
        await chat.presses("c")
        await chat.shows("There is no other model to compare with yet")
        keep(of(chat), promoted(1, NAMES[0]), promoted(2, NAMES[1]))
        await chat.shows("b back to 1")
        await chat.presses("b")
        await chat.shows("live model: 1")
        await chat.shows("Vouch uses the model of round 1 again")
        await chat.shows("2  stepped back")
        assert LiveModels(of(chat).stores.database).live("query encoder") == NAMES[0]
        await chat.presses("b")
        await chat.shows("live model: 2")


async def test_c_on_a_round_of_both_sides_compares_its_model_while_that_is_kept(tmp_path: Path) -> None:
    version = "trained-0123456789ab"
    made = exported_encoder(tmp_path / "made", version)
    async with on_screen(tmp_path) as chat:
        keep(of(chat), row(1, "refused", "Refused.", {"version": version, "side": "both"}))
        compared: list[tuple[str, str]] = []
        await opens_training(chat)
        chat.screen._compare = lambda model, name: compared.append((model, name))  # type: ignore[attr-defined]
        await chat.presses("c")
        await chat.shows("The model of round 1 is no longer kept")
        of(chat).stores.checkpoints.keep("encoder", made, {"encoder_version": "minilm-0123456789ab"})
        await chat.presses("c")
        await chat.until(lambda: bool(compared))
        assert compared == [(version, "1")]


def exported_encoder(made: Path, version: str) -> Path:
    """A candidate's folder, as a round of both sides leaves it."""
    served = made / "served"
    served.mkdir(parents=True)
    (served / MODEL_FILE).write_bytes(b"a model")
    (served / TOKENIZER_FILE).write_bytes(b"its tokenizer")
    described = EncoderDescription.of(
        served,
        version=version,
        name="tiny",
        dimension=4,
        max_tokens=8,
        pooling="mean",
        query_prefix="",
        passage_prefix="",
        pad_id=0,
        lowest_cosine=1.0,
    )
    (served / EncoderDescription.FILE).write_text(json.dumps(asdict(described)), "utf-8")
    return made


async def test_text_in_a_round_is_no_markup_and_steers_no_terminal(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(120, 40)) as chat:
        keep(of(chat), row(1, "failed", "[b]its[/b] files \x1b[31mcould not be kept", {"phase": "[/]"}))
        await opens_training(chat)
        await chat.shows("[b]its[/b] files [31mcould not be kept")
        await chat.opens(PageScreen, "enter")
        await chat.shows("[b]its[/b] files [31mcould not be kept")


# The status line of the chat


async def test_the_status_line_shows_a_round_gives_way_to_what_is_told_and_ends_with_it(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, size=(120, 40)) as chat:
        keep(of(chat), running(1))
        await chat.shows("training: round 1, step 210 of 400")
        await chat.shows("nDCG@10 53.0 (start 50.0)")
        chat.app.chat.tell("copied the message")
        await chat.shows("copied the message")
        chat.app.chat.tell("")
        await chat.shows("training: round 1")
        keep(of(chat), promoted(1))
        await chat.until(lambda: "training:" not in chat.text)


def test_a_status_line_has_more_where_there_is_room() -> None:
    assert status_line(running(13), 80) == ("training: round 13, step 210 of 400 ▕█████▎    ▏", "")
    left, right = status_line(running(13, is_paused=True), 120)
    assert left.startswith("training: round 13, step 210 of 400, paused ▕█████▎    ▏ loss 1.12 █")
    assert right == "nDCG@10 53.0 (start 50.0)"
    compared = running(13, progress={"questions": 60, "questions_in_all": 240}, phase="comparing")
    assert status_line(compared, 80)[0] == "training: round 13, question 60 of 240 ▕██▌       ▏"
    reading = running(13, progress={"lessons": 3}, phase="reading")
    assert status_line(reading, 80) == ("training: round 13, reading the lessons", "")


# In words

LACK = TooFewHeldOut(128, HeldOut(25, 25), 30)


def test_what_is_lacking_for_a_round_by_itself_is_told_as_there_is_room() -> None:
    known = TrainingFacts((), "", "", "", 128, 100, True, False, False, 0.0, 0.01, lack=LACK)
    assert progress_line(known, 118) == LACK.sentence
    told = "25 of 30 held out, about 5 more lessons; then a round starts automatically"
    assert progress_line(known, 78) == told


HELD_UP = {"is_paused": True, "is_leading": True}  # of this chat's own round, by Space
READING = running(12, progress={"lessons": 3}, phase="reading")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "12 of 1000 lessons, then a round"),
        ({"new_lessons": 1000}, "1000 of 1000 lessons; a round soon"),
        ({"is_paused": True}, "12 of 1000 lessons; paused until Space"),
        ({"in_chat": False}, "12 of 1000 lessons; s starts a round"),
        ({"lack": LACK}, "25 of 30 held out; 5 more lessons"),
        ({"lack": LACK, "in_chat": False}, "25 of 30 held out; s starts a round"),
        ({"lack": LACK, "is_paused": True}, "25 of 30 held out; paused until Space"),
        ({"rounds": (running(12),), **HELD_UP}, "step 210 of 400, paused until Space"),
        ({"rounds": (READING,), **HELD_UP}, "round 12: paused until Space"),
        ({"rounds": (running(12, is_paused=True),)}, "▕████▎   ▏ 52 % paused"),
        ({"rounds": (running(12),), "broken_off": frozenset([12])}, "goes on later"),
        (
            {
                "rounds": (
                    running(12, progress={"questions": 120, "questions_in_all": 240, "seconds_left": 240}),
                )
            },
            "question 120 of 240, about 4 min left",
        ),
    ],
)
def test_a_narrow_screen_tells_whole_sentences_of_a_round(more: dict[str, Any], told: str) -> None:
    known = TrainingFacts((), "", "", "", 12, 1000, True, False, False, 0.0, 0.01)
    line = progress_line(replace(known, **more), 38)
    assert line.endswith(told)
    assert len(line) <= 38


def test_a_round_that_is_held_up_is_told_as_paused_as_long_as_that_lasts() -> None:
    goes_on = TrainingFacts((READING,), "", "", "", 12, 1000, True, False, False, 0.0, 0.01)
    held_up = replace(goes_on, **HELD_UP)
    assert state_now(goes_on, READING) == "running"
    assert progress_line(goes_on, 78) == "round 12: reading the lessons"
    assert state_now(held_up, READING) == "paused"
    assert round_line(held_up, READING, 100).startswith(" 12  paused ")
    assert progress_line(held_up, 78) == "round 12: reading the lessons, paused until Space"
    elsewhere = running(12, is_paused=True)  # in another chat
    assert state_now(goes_on, elsewhere) == "paused"
    assert state_now(replace(goes_on, broken_off=frozenset([12])), elsewhere) == "broken off"
    assert state_now(replace(goes_on, is_paused=True), READING) == "running", "of another process"
    left = row(12, "waiting", "", READING.figures)
    assert progress_line(replace(held_up, rounds=(left,)), 38) == "round 12 waits; it goes on after Space"


def test_the_reason_that_decides_comes_first_and_the_gain_once() -> None:
    facts = TrainingFacts((), "", "", "", 12, 1000, True, False, False, 0.0, 0.01)
    few = refused(1)
    few.reason = (
        "Refused: nDCG@10 was measured on 24 questions, fewer than 30; "
        "nDCG@10 -1.40 points [-1.90, -0.90] is not surely above 0.00 points."
    )
    line = round_line(facts, few, 80)
    assert line[:72].endswith("22:03  measured on 24 questions, fewer than 30;")
    assert line.count("nDCG@10 -1.40 points") == 1


def test_before_the_first_epoch_the_start_is_told_once() -> None:
    begun = running(13)
    begun.figures["measured"] = begun.figures["measured"][:1]
    assert table_lines(begun, 78) == [
        "in %       start", "nDCG@10     50.0", "R@5         70.0", "MRR         40.0",
    ]  # fmt: skip
    assert status_line(begun, 120)[1] == "nDCG@10 50.0"


async def test_what_is_told_of_rounds_in_each_state(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        silent = running(4, lease_until="2026-11-18T00:00:00+00:00")
        waiting = row(5, "waiting", "it was left to be gone on with", {})
        keep(of(chat), refused(1), promoted(2), promoted(3, NAMES[2]))
        facts = training_facts(of(chat))
        told = [facts.state_of(each) for each in facts.rounds]
        assert told == ["live", "replaced", "refused"]
        assert [facts.name_of(v) for v in (facts.live, facts.previous, "untrained")] == [
            "3",
            "2",
            "untrained",
        ]
        keep(of(chat), silent)
        facts = training_facts(of(chat))
        assert facts.state_of(facts.rounds[0]) == "broken off"
        assert progress_line(facts, 78) == (
            "round 4 broke off at step 210 of 400, without a word; it goes on later"
        )
        assert progress_line(facts, 200) == (
            "round 4 broke off at step 210 of 400, without a word; it goes on at the next occasion"
        )
        assert round_line(facts, facts.rounds[0], 100).endswith("22:03  at step 210 of 400; without a word")
        keep(of(chat), row(4, "stopped", "by command", {}), waiting)
        facts = training_facts(of(chat))
        assert progress_line(facts, 78) == (
            "round 5 waits: it was left to be gone on with; it goes on at the next occasion"
        )
        killed = row(5, "waiting", "the training was ended by signal 9", running(5).figures)
        keep(of(chat), killed)
        facts = training_facts(of(chat))
        assert progress_line(facts, 78) == "round 5 waits at step 210 of 400; it goes on at the next occasion"
        assert progress_line(facts, 98).startswith(
            "round 5 waits at step 210 of 400: the training was ended by signal 9; it goes on"
        )
        assert progress_line(facts, 38) == "round 5 waits; it goes on later"
        assert round_line(facts, killed, 100).endswith(
            "22:03  at step 210 of 400; the training was ended by signal 9"
        )
        exporting = running(6, lease_until=silent.figures["lease_until"], phase="exporting", progress={})
        keep(of(chat), row(5, "stopped", "by command", {}), exporting)
        assert "broke off while writing the candidate down, " in progress_line(training_facts(of(chat)), 100)
        assert status_line(exporting, 80, is_broken_off=True) == (
            "training: round 6 broke off while writing the candidate down",
            "",
        )
        line = round_line(facts, refused(1), 100)
        assert line == (
            "  1  refused      19 Nov 22:03  "
            "nDCG@10 -1.40 points [-1.90, -0.90] is not surely above 0.00 points."
        )
        assert round_line(facts, refused(1), 40) == "  1 refused      19 Nov 22:03 -1.40"
        assert round_line(facts, waiting, 40) == "  5 waiting      23 Nov 22:03"
        failed = row(7, "failed", "the loss is nan", running(7).figures)
        assert round_line(facts, failed, 100).endswith("22:03  at step 210 of 400; the loss is nan")
        lost = refused(1)
        lost.reason = "Refused: it lost 1.78 points on domain own (32 questions), more than 1.00 points."
        assert round_line(facts, lost, 200).endswith(
            "22:03  it lost 1.78 points on domain own (32 questions), more than 1.00 points; "
            "nDCG@10 -1.40 points"
        )
        limits = replace(facts, least_gain=0.005, margin=0.01)
        assert "gains more than 0.50 points, hardly by chance" in rule(limits)
        assert "on 30+ questions, and R@5, month and domain drop at most 1.00" in rule(limits)


async def test_rounds_that_had_ended_are_not_read_again(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        keep(of(chat), refused(1), running(2), promoted(3))
        known = training_facts(of(chat))
        keep(of(chat), row(1, "refused", "changed", {}), refused(2), row(4, "stopped", "by command", {}))
        again = training_facts(of(chat), known)
        assert [(each.id, each.state) for each in again.rounds] == [
            (4, "stopped"), (3, "promoted"), (2, "refused"), (1, "refused"),
        ]  # fmt: skip
        assert again.rounds[-1].reason != "changed"  # it was known


def test_a_bar_and_a_time_in_words() -> None:
    assert bar(0, 10, 4) == "▕    ▏"
    assert bar(5, 10, 4) == "▕██  ▏"
    assert bar(9, 16, 2) == "▕█▏▏"  # nine eighths
    assert bar(20, 10, 4) == "▕████▏"
    assert bar(1, 0, 4) == "▕    ▏"
    assert [lasting(s) for s in (9.6, 240.0, 7200.0)] == ["10 s", "4 min", "2.0 h"]
