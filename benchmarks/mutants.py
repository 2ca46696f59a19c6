"""What the tests are worth: small faults put into the code, one at a time, and whether a test fails.

    python -m benchmarks.mutants                  # draws 80 faults and tries each: mutants.tsv
    python -m benchmarks.mutants --again          # tries those that died then; exit 1 if one lives

A fault turns round a comparison, an operator or a condition, or moves a whole number by one. It is drawn
from the code that must not be wrong unnoticed: versions, spaces, claims, forgetting, losses, metrics,
learner, citations. Each is tried in a copy of the checkout against the fast tests that name its module,
nearest first. A line of the file is a fault, with the verdict:

    died    a test failed, or ran out of time
    lives   every test passed
    gone    its expression stands there no longer
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parent.parent
RECORD = Path(__file__).with_suffix(".tsv")
SECONDS = 400  # of one fault's tests; they take some 20

# Where faults are drawn, how many, and which test files answer besides those that name the module.
ROOMS: dict[str, tuple[tuple[str, ...], int, str]] = {
    "versions": (
        ("stores/versions/*.py",),
        16,
        "version_states undo_properties restore told_dates memory_history",
    ),
    "spaces": (("stores/search/*.py",), 12, "spaces isolation indexer shared_index kept_index"),
    "claims": (("stores/claims/*.py",), 12, "claims change_proposals removal_proposals remembering"),
    "forgetting": (
        ("stores/forgetting/*.py",),
        12,
        "forgetting forgotten_mentions taken_down sessions_erased learner",
    ),
    "losses": (
        ("agents/losses/*.py",),
        8,
        "contrastive_losses dual_feedback_losses strategy_losses",
    ),
    "metrics": (
        ("assistant/replay/metrics/*.py", "assistant/learning/held_out/*.py"),
        8,
        "replay_metrics bootstrap held_out",
    ),
    "learner": (("assistant/learning/*.py",), 8, "learner rounds dialogue_learner query_learner"),
    "citations": (("agents/answering/responder.py", "agents/answering/quoting.py"), 4, "responder quoting"),
}
_TURNED: dict[type[ast.AST], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.And: "or",
    ast.Or: "and",
}


@dataclass(frozen=True)
class Fault:
    """One change of one expression."""

    room: str
    path: str  # from the root
    place: str  # class and function
    found: str  # the expression as it stands, unparsed
    number: int  # which of the equal expressions of that place, from 0
    written: str  # what stands there instead
    verdict: str = ""

    @property
    def line(self) -> str:
        return "\t".join(
            (self.verdict, self.room, self.path, self.place, str(self.number), self.found, self.written)
        )

    @staticmethod
    def of(line: str) -> Fault:
        verdict, room, path, place, number, found, written = line.split("\t")
        return Fault(room, path, place, found, int(number), written, verdict)


def faults_of(room: str, path: Path) -> Iterator[tuple[Fault, ast.expr]]:
    """Every fault that could be put into a file, with the expression that it replaces."""
    counted: dict[tuple[str, str], int] = {}
    for place, node in _expressions(ast.parse(path.read_text(encoding="utf-8")), ""):
        found = ast.unparse(node)
        number = counted.get((place, found), 0)
        counted[place, found] = number + 1
        for written in _changes(node):
            yield Fault(room, str(path.relative_to(ROOT)), place, found, number, written), node


def _expressions(node: ast.AST, place: str) -> Iterator[tuple[str, ast.expr]]:
    """What a module's functions and classes compute, with where; no default, annotation or decorator."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        for part in node.body:
            yield from _expressions(part, f"{place}.{node.name}".lstrip("."))
        return
    if isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield from _expressions(node.value, place)
        return
    if isinstance(node, ast.expr):
        yield place, node
    for child in ast.iter_child_nodes(node):
        yield from _expressions(child, place)


def _changes(node: ast.expr) -> Iterator[str]:
    """What could stand in its place; in brackets, so that it binds as one."""
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in _TURNED:
            yield f"({ast.unparse(left)} {_TURNED[type(operator)]} {ast.unparse(right)})"
        case ast.BinOp(left, operator, right) if type(operator) in _TURNED and not _is_text(node):
            yield f"(({ast.unparse(left)}) {_TURNED[type(operator)]} ({ast.unparse(right)}))"
        case ast.BoolOp(operator, values):
            turned = f" {_TURNED[type(operator)]} "
            yield f"({turned.join(f'({ast.unparse(value)})' for value in values)})"
        case ast.UnaryOp(ast.Not(), operand):
            yield f"({ast.unparse(operand)})"
        case ast.IfExp(test, body, orelse):
            yield f"({ast.unparse(ast.IfExp(test, orelse, body))})"
        case ast.Constant(bool(value)):
            yield str(not value)
        case ast.Constant(int(value)):
            yield str(value + 1)


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in (node.left, node.right)
    )


def drawn(seed: int) -> list[Fault]:
    """Faults of each room, the same for a seed and a state of the code."""
    faults: list[Fault] = []
    for room, (patterns, count, _) in ROOMS.items():
        paths = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
        known = [fault for path in paths for fault, _ in faults_of(room, path)]
        faults += random.Random(f"{seed} {room}").sample(known, count)
    return faults


def text_with(fault: Fault) -> str | None:
    """The file with the fault in it; None where its expression stands no longer."""
    path = ROOT / fault.path
    if not path.exists():
        return None
    nodes = (node for known, node in faults_of(fault.room, path) if replace(fault, verdict="") == known)
    node = next(nodes, None)
    if node is None:
        return None
    lines = path.read_bytes().splitlines(keepends=True)  # columns count bytes
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: (node.end_lineno or 0) - 1])) + (node.end_col_offset or 0)
    whole = b"".join(lines)
    return (whole[:start] + fault.written.encode() + whole[end:]).decode()


@cache
def _imports() -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("tests/**/test_*.py"))}


def tests_of(fault: Fault) -> list[str]:
    """Test files, nearest first: named like the module, then those that import it, then the room's."""
    module = fault.path.removesuffix(".py").replace("/", ".")
    name = module.rpartition(".")[2]
    imports = re.compile(rf"^from {re.escape(module)} import|^import {re.escape(module)}\b", re.MULTILINE)
    answering = {f"test_{each}" for each in ROOMS[fault.room][2].split()}
    near = [path for path in _imports() if name.rstrip("s") in path.stem]
    naming = [path for path, text in _imports().items() if imports.search(text)]
    rooms = [path for path in _imports() if path.stem in answering]
    return [str(path.relative_to(ROOT)) for path in dict.fromkeys([*near, *rooms, *naming])]


def try_fault(fault: Fault, copy: Path) -> Fault:
    """Puts the fault into the copy, runs its tests there, and takes it out again."""
    text = text_with(fault)
    if text is None:
        return replace(fault, verdict="gone")
    target = copy / fault.path
    before = target.read_bytes()
    target.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    chosen = ["-m", "not slow", "-k", "not postgresql", *tests_of(fault)]
    try:
        ended = subprocess.run(
            [*command, *chosen],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return replace(fault, verdict="died")
    finally:
        target.write_bytes(before)
    if ended.returncode not in (0, 1, 2):  # 2: the module could not even be imported
        raise RuntimeError(ended.stdout.decode()[-2000:])
    return replace(fault, verdict="died" if ended.returncode else "lives")


def try_all(faults: Sequence[Fault], workers: int) -> Iterator[Fault]:
    """The faults with their verdicts, in their order; each worker has a copy of the checkout."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(workers):
            copy = Path(folder, str(number))
            ignored = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache")
            shutil.copytree(ROOT, copy, ignore=ignored)
            copies.put(copy)

        def tried(fault: Fault) -> Fault:
            copy = copies.get()
            try:
                return try_fault(fault, copy)
            finally:
                copies.put(copy)

        yield from pool.map(tried, faults)


def main() -> None:
    parser = argparse.ArgumentParser(description="Puts faults into the code and tells which the tests find.")
    parser.add_argument("--again", action="store_true", help=f"try those that died, by {RECORD.name}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    recorded = [Fault.of(line) for line in RECORD.read_text().splitlines()] if given.again else []
    known = [fault for fault in recorded if fault.verdict == "died"] or drawn(given.seed)
    tried = []
    for before, after in zip(known, try_all(known, given.workers), strict=True):
        tried.append(after)
        print(f"{before.verdict:>6} {after.line}", flush=True)
        if not given.again:
            RECORD.write_text("".join(f"{each.line}\n" for each in tried))
    for room in ROOMS:
        verdicts = [each.verdict for each in tried if each.room == room]
        print(f"{room:>12}: {verdicts.count('died')} of {len(verdicts)} died")
    lost = sum(was.verdict == "died" != now.verdict for was, now in zip(known, tried, strict=True))
    if lost:
        sys.exit(f"{lost} that died live now, or are gone with their code: draw anew where that was changed.")


if __name__ == "__main__":
    main()
