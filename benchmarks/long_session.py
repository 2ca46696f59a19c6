"""How soon a long session is there: opened with the chat, switched to, read from its first message, searched.

    python -m benchmarks.long_session [--turns 2000] [--runs 5]

Two sessions of that many turns are made up. Each run is a process of its own at a pseudo-terminal of
100 x 30, offline. *Opened* is from the start of the process to its newest message, *switched* from Enter in
the list of sessions, *first message* from `g`, *found* from the last letter of a word that one turn holds,
*gone to* from Enter on it. Prints medians, and the smallest and largest.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from benchmarks.at_terminal import AtTerminal
from stores.base.clock import now
from stores.conversation.journal import Journal
from stores.database.database import Database
from stores.database.tables import Session, Turn, known_id
from stores.words.turn_words import note_turns

USER = "benchmark"
SESSIONS = ("alpha", "beta")  # the one spoken in last is named first
NEEDLE = "zyzzyva"  # in one turn of the first session
_ANSWER = (
    "The reading room opens at **ten**, and closes at six on weekdays.\n\n"
    "- Bring a card.\n- Leave bags at the desk.\n- Pencils only.\n\n"
    "| day | opens |\n|---|---|\n| Friday | 10:00 |\n| Saturday | 11:00 |\n\n"
    "```python\ndef opens(day: str) -> int:\n    return 10\n```\n\n"
)


def first_word(session: str) -> str:
    """What only the first message of a session says."""
    return f"firstof{session}"


def last_word(session: str) -> str:
    """What only the newest answer of a session says."""
    return f"lastof{session}"


def make_sessions(data: Path, turns: int) -> None:
    """Two sessions of so many turns, each with an answer of a few blocks of Markdown."""
    database = Database.at(data)
    user_id = Journal(database).user_id(USER)
    for days, name in enumerate(reversed(SESSIONS)):
        began = now() - timedelta(days=len(SESSIONS) - days)
        with database.writing() as sql:
            session = Session(user_id=user_id, title=f"About {name}", created_at=began)
            sql.add(session)
            sql.flush()
            told = [
                Turn(
                    session_id=known_id(session.id),
                    user_id=user_id,
                    message=message,
                    answer=answer,
                    state="done",
                    model="made up",
                    accepted_at=began + timedelta(seconds=number),
                    answered_at=began + timedelta(seconds=number, milliseconds=500),
                )
                for number, (message, answer) in enumerate(said(name, turns))
            ]
            sql.add_all(told)
            sql.flush()
            note_turns(sql, told)
    database.close()


def said(session: str, turns: int) -> list[tuple[str, str]]:
    """The messages and answers of a session."""
    pairs = [(f"Question {number} of {session}?", f"{_ANSWER}Number {number}.") for number in range(turns)]
    pairs[0] = (f"{first_word(session)}?", pairs[0][1])
    if session == SESSIONS[0]:
        message, answer = pairs[turns // 2]
        pairs[turns // 2] = (message, f"{answer} {NEEDLE}")
    message, answer = pairs[-1]
    pairs[-1] = (message, f"{answer} {last_word(session)}")
    return pairs


def one_run(data: Path, environment: Mapping[str, str]) -> dict[str, float]:
    """Seconds, by what was waited for."""
    this, other = SESSIONS
    command = [sys.executable, "-m", "assistant.cli", "chat", "--last", "--offline", "--data", str(data)]
    chat = AtTerminal(command, environment, columns=100, rows=30)
    times = {"first paint": chat.waits_for("Ask anything") - chat.began}
    times["opened"] = chat.waits_for(last_word(this)) - chat.began
    chat.waits_for("shared")  # it is ready
    rests(chat)
    chat.types("\x1b")
    chat.waits_for("previous")  # it takes the keys of reading
    times["first message"] = -chat.types("g") + chat.waits_for(first_word(this))
    rests(chat)
    chat.types("\x06")
    chat.waits_for("Words of a message")
    chat.types(NEEDLE[:-1])
    rests(chat)
    times["found"] = -chat.types(NEEDLE[-1]) + chat.waits_for("1 with")
    times["gone to"] = -chat.types("\r") + chat.waits_for("n next")
    rests(chat)
    chat.types("\x1b[15~")  # F5
    chat.waits_for(f"About {other}")
    chat.types("\x1b[B")  # one down
    rests(chat)
    times["switched"] = -chat.types("\r") + chat.waits_for(last_word(other))
    assert chat.ends("\x11") == 0
    return times


def rests(chat: AtTerminal) -> None:
    """Waits until nothing more is painted, so that what is timed next is all that is under way."""
    while chat.read(0.3):
        time.sleep(0.05)


def table(runs: Sequence[Mapping[str, float]]) -> list[str]:
    """A line for each thing that was timed: median, smallest and largest."""
    return [
        f"{name:<14}{statistics.median(times):6.2f} s ({min(times):.2f} to {max(times):.2f})"
        for name in runs[0]
        for times in [[run[name] for run in runs]]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        make_sessions(data, given.turns)
        environment = os.environ | {"TERM": "xterm-256color", "VOUCH_USER": USER}
        environment |= {"XDG_STATE_HOME": folder}
        runs = [one_run(data, environment) for _ in range(given.runs + 1)][
            1:
        ]  # the first reads from the disk
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {given.turns} turns")
    print("\n".join(table(runs)))


if __name__ == "__main__":
    main()
