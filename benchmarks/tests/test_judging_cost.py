"""The benchmark of judging's cost: what it adds up, and what it sees of another process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from agent_fakes import FixedReader, candidate

from agents.retrieval.reader_judge import ReaderJudge, Readings
from benchmarks import judging_cost
from benchmarks.judging_cost import TimedJudge, TurnCost, chat_lines, copied, report, watched
from stores.conversation.journal import Journal
from stores.database.database import Database

STEPS = {"augment": 1.0, "retrieve": 9.0, "rerank": 30.0, "prepare": 2.0, "respond": 58.0, "first word": 50.0}


def test_a_timed_judge_says_what_its_judge_says_and_counts() -> None:
    plain = ReaderJudge(Readings(FixedReader({"ten": 0.9})))
    timed = TimedJudge(plain)
    some = [candidate(rank) for rank in (1, 2, 3)]
    assert timed.judge("When?", some) == plain.judge("When?", some)
    timed.judge("When?", some[:1])
    assert (timed.judged, timed.name) == (4, plain.name)
    assert timed.cpu >= 0
    timed.begin()
    assert (timed.judged, timed.cpu) == (0, 0.0)


def test_shares_are_of_the_steps_alone_and_sum_to_the_turn() -> None:
    lines = list(report("squad", [TurnCost(40, 3, 20.0, 80.0, STEPS)] * 2))
    assert lines[0].startswith("squad: 2 turns, 40.0 candidates; judged 3.0")
    rows = dict(line.strip("| ").split(" | ", 1) for line in lines[3:])
    assert rows["search"].endswith("10%")
    assert rows["judging"].endswith("30.0 | 30%")
    assert rows["answering"].endswith("60%")
    assert rows["judging, CPU"].endswith("20.0 | 25%")


def test_a_statement_comes_before_every_tenth_question() -> None:
    lines = chat_lines([f"What is\nnumber {n}?" for n in range(11)]).splitlines()
    assert len(lines) == 13
    assert lines[1] == "What is number 0?"
    assert [number for number, line in enumerate(lines) if not line.endswith("?")] == [0, 11]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_peak_of_a_process_and_of_its_child_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, look, looked_at = tmp_path / "seen", judging_cost.peak_kilobytes, list[int]()

    def looks(process: int) -> int:
        looked_at.append(process)
        found = look(process)
        if process != looked_at[0] and 88_000 < found < 156_000:  # the child runs its own program
            seen.touch()
        return found

    monkeypatch.setattr(judging_cost, "peak_kilobytes", looks)
    child = (
        "import os, time; held = b'x' * 90_000_000; ends = time.monotonic() + 60\n"
        f"while not os.path.exists({str(seen)!r}) and time.monotonic() < ends: time.sleep(0.01)"
    )
    program = (
        "import subprocess, sys; held = b'x' * 160_000_000; del held;"
        f"subprocess.run([sys.executable, '-c', {child!r}]); print(sys.stdin.read())"
    )
    peak, largest_child, code = watched([sys.executable, "-c", program], "said", tmp_path / "out")
    assert code == 0
    assert peak > 156_000 > largest_child > 88_000
    assert (tmp_path / "out").read_text().strip() == "said"


def test_what_is_asked_of_a_copy_stays_out_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    database = Database.at(tmp_path / "store")
    known = Journal(database).user_id("before")
    database.close()
    with copied(tmp_path / "store", tmp_path) as folder:
        copy = Database.at(folder)
        assert Journal(copy).user_id("before") == known
        Journal(copy).user_id("after")
        copy.close()
    assert not folder.exists()
    database = Database.at(tmp_path / "store")
    assert Journal(database).known_user_id("before") == known
    assert Journal(database).known_user_id("after") == 0  # who owns nothing
    database.close()
