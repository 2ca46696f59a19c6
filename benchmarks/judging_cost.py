"""What judging costs in a turn, and what memory a whole chat takes.

    python -m benchmarks.judging_cost DATA --work DIR [--questions 200] [--threads 1] [--seed 1] [--memory]

DATA and DIR are those of benchmarks.recall. A copy of its SQuAD store is asked SQuAD's development questions,
a copy of a store of the manual, made anew, the questions of manual_questions.txt,
each as a turn of the product's pipeline with the settings in use, by a user of its own, so that no question
finds another. Printed for each: passages found and judged; milliseconds of searching, judging and answering
as the turn recorded them, with their shares; and the CPU of judging and of the turn, all threads together.

--memory instead runs `vouch chat` over a copy of the SQuAD store, with the questions and some statements in a
pipe, and prints the most memory that its process held (VmHWM), and that of the processes it started. Linux.

threads: of encoder and reader; 0 for one a core, which is the default setting.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from agents.base.interfaces import Candidate, Judge, Judged
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.turns.events import Finished
from assistant.wiring.assistant import Assistant
from benchmarks.manual_answers import ManualChat
from benchmarks.questions import read_questions
from stores.database.database import Database
from stores.exchange.backup import write_backup

QUESTIONS = Path(__file__).with_name("manual_questions.txt")
VOUCH = str(Path(sys.executable).with_name("vouch"))
SEARCHING = ("augment", "retrieve")
ANSWERING = ("prepare", "respond")
STATEMENTS = (  # of a memory run: what is stated is looked into after the turn, with the reader
    "The town hall of Bergheim was built in 1888.",
    "My sister Ines lives in Porto and teaches chemistry there.",
    "The river Sorn rises near Alt and is 142 kilometres long.",
    "I prefer short answers, and I am allergic to hazelnuts.",
)
STATED_EVERY = 10  # lines
_LOOKED_EVERY = 0.02  # seconds


@dataclass
class TimedJudge:
    """A judge that notes what its calls of one turn took."""

    judge_: Judge
    cpu: float = 0.0  # milliseconds, of all threads of the process
    judged: int = 0

    @property
    def name(self) -> str:
        """The judge's."""
        return self.judge_.name

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """See `Judge`."""
        cpu = time.process_time()
        found = self.judge_.judge(question, candidates)
        self.cpu += (time.process_time() - cpu) * 1000
        self.judged += len(candidates)
        return found

    def begin(self) -> None:
        """Forgets the turn before."""
        self.cpu, self.judged = 0.0, 0


class JudgingAssistant(Assistant):
    """Vouch with a judge that is timed."""

    def __init__(self, directory: Path, *, threads: int) -> None:
        settings = Settings()
        settings = replace(settings, encoder=replace(settings.encoder, threads=threads))
        super().__init__(settings, find_locations(os.environ, data=str(directory)), offline=True)
        self.models.__dict__["judge"] = TimedJudge(self.models.judge)


@dataclass(frozen=True)
class TurnCost:
    """One turn; times in milliseconds."""

    found: int  # candidates
    judged: int
    cpu: float  # of judging, all threads of the process
    turn_cpu: float  # of the whole turn until its answer is kept
    steps: dict[str, float] = field(default_factory=dict)  # wall, as the turn recorded them

    def of(self, *names: str) -> float:
        """Of these steps together."""
        return sum(self.steps.get(name, 0.0) for name in names)

    @property
    def whole(self) -> float:
        """Of all steps."""
        return self.of(*SEARCHING, "rerank", *ANSWERING)


@contextmanager
def copied(store: Path, work: Path) -> Iterator[Path]:
    """A data directory with a copy of a store, so that what is asked stays out of it."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        database = Database.at(store)
        try:
            write_backup(database, Path(folder) / "vouch.db")
        finally:
            database.close()
        yield Path(folder)


def turns(assistant: JudgingAssistant, questions: Sequence[str]) -> list[TurnCost]:
    """Every question as a turn of a new user; a first turn, which loads the models, is left out."""
    found = []
    for number, question in enumerate((questions[0], *questions)):
        found.append(asyncio.run(_turn(assistant, f"asker {number}", question)))
        if number % 50 == 0:
            print(f"{number} of {len(questions)} turns", file=sys.stderr)
    return found[1:]


async def _turn(assistant: JudgingAssistant, user: str, question: str) -> TurnCost:
    user_id = assistant.stores.journal.user_id(user)
    session_id = assistant.stores.journal.open_session(user_id)
    timed: TimedJudge = assistant.models.judge
    timed.begin()
    began, cpu = time.process_time(), 0.0
    async for event in assistant.turns.pipeline.take(user_id, session_id, question):
        if isinstance(event, Finished):
            cpu = (time.process_time() - began) * 1000
            if event.error is not None:
                raise event.error
    turn = assistant.stores.journal.last_turn(user_id)
    candidates = len(assistant.stores.journal.found_in(user_id, turn.id or 0))
    return TurnCost(candidates, timed.judged, timed.cpu, cpu, turn.details["milliseconds"])


def report(name: str, found: Sequence[TurnCost]) -> Iterator[str]:
    """A collection's rows."""
    wall = {
        "search": [turn.of(*SEARCHING) for turn in found],
        "judging": [turn.of("rerank") for turn in found],
        "answering": [turn.of(*ANSWERING) for turn in found],
        "turn": [turn.whole for turn in found],
    }
    cpu = {"judging, CPU": [turn.cpu for turn in found], "turn, CPU": [turn.turn_cpu for turn in found]}
    judged = np.array([turn.judged for turn in found])
    yield (
        f"{name}: {len(found)} turns, {np.mean([turn.found for turn in found]):.1f} candidates; judged "
        f"{judged.mean():.1f} in the mean, p50 {np.median(judged):.0f}, p95 {np.quantile(judged, 0.95):.0f}, "
        f"one alone in {np.mean(judged == 1):.0%}"
    )
    yield "| | p50 ms | p95 ms | mean ms | share of the turn |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for parts, whole in ((wall, sum(wall["turn"])), (cpu, sum(cpu["turn, CPU"]))):
        for part, times in parts.items():
            p50, p95 = np.quantile(times, (0.5, 0.95))
            yield f"| {part} | {p50:.1f} | {p95:.1f} | {np.mean(times):.1f} | {sum(times) / whole:.0%} |"


# Memory of a whole chat


def peak_kilobytes(pid: int) -> int:
    """The most memory that a process held so far; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def started_by(pid: int) -> list[int]:
    """The processes that a process started and that still run."""
    found: list[int] = []
    with suppress(OSError):  # it, or a thread of it, has ended
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, children.read_text(encoding="utf-8").split())
    return found


def chat_lines(questions: Sequence[str]) -> str:
    """The questions, with a statement now and then."""
    lines: list[str] = []
    for number, question in enumerate(questions):
        if number % STATED_EVERY == 0:
            lines.append(STATEMENTS[number // STATED_EVERY % len(STATEMENTS)])
        lines.append(" ".join(question.split()))
    return "\n".join(lines) + "\n"


def watched(command: Sequence[str], text: str, transcript: Path) -> tuple[int, int, int]:
    """Runs a command with this text in a pipe: the peaks of its process and its children, and its exit code.

    In kilobytes. Whoever ends within the fiftieth of a second between two looks is seen as of the last one.
    """
    file = transcript.with_suffix(".in")
    file.write_text(text, encoding="utf-8")
    peak, of_children = 0, dict[int, int]()
    with (
        file.open("rb") as given,
        transcript.open("wb") as said,
        subprocess.Popen(command, stdin=given, stdout=said, stderr=subprocess.STDOUT) as process,
    ):
        while process.poll() is None:
            peak = max(peak, peak_kilobytes(process.pid))
            for child in started_by(process.pid):
                # The last look counts: before it runs its own program, a child shows its parent's memory.
                of_children[child] = peak_kilobytes(child) or of_children.get(child, 0)
            time.sleep(_LOOKED_EVERY)
    return peak, max(of_children.values(), default=0), process.returncode


def memory(store: Path, work: Path, questions: Sequence[str], *, threads: int) -> str:
    """One chat over a copy of the store, as a line of text."""
    text = chat_lines(questions)
    with copied(store, work) as data:
        settings = data / "settings.toml"
        settings.write_text(f"[encoder]\nthreads = {threads}\n", encoding="utf-8")
        transcript = data / "transcript.txt"
        command = [VOUCH, "chat", "--data", str(data), "--settings", str(settings), "--offline"]
        peak, child, code = watched(command, text, transcript)
        if code:
            raise SystemExit(f"the chat ended with {code}: {transcript.read_text(encoding='utf-8')[-500:]}")
    lines = text.count("\n")
    children = f"; a process it started held {child / 1024:.0f} MB" if child else "; it started no other"
    return f"a chat of {lines} lines: {peak / 1024:.0f} MB at most{children}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    work, threads = arguments.work, arguments.threads
    entries = read_questions(
        arguments.data / "squad/dev.jsonl.gz", count=arguments.questions, seed=arguments.seed, answered=True
    )
    asked = {
        "squad": [entry["question"] for entry in entries],
        "manual": [
            line.partition("\t")[0] for line in QUESTIONS.read_text(encoding="utf-8").splitlines() if line
        ],
    }
    if arguments.memory:
        print(memory(work / "squad", work, asked["squad"], threads=threads))
        return
    ManualChat(work / "manual", work / "vectors").close()
    print(f"threads {threads or 'one a core'}, seed {arguments.seed}, {Settings().reranking}")
    for name, questions in asked.items():
        with copied(work / name, work) as folder:
            assistant = JudgingAssistant(folder, threads=threads)
            try:
                for line in report(name, turns(assistant, questions)):
                    print(line, flush=True)
            finally:
                assistant.close()


if __name__ == "__main__":
    main()
