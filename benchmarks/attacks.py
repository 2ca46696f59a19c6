"""What attacks on the memory reach, by family, and what they do to answers.

    python -m benchmarks.attacks [--only echo markup ...] [--each 20] [--told] [--json FILE]
    python -m benchmarks.attacks --damage DATA --work DIR [--questions 500] [--passages 300] [--seed 1]

The first plays the cases of tests/attacks. shared: cases after which something hostile stands in the shared
memory, or before another user. own: cases after which it was kept as a memory of a user who took part.
wrongly: those of them whose user never stated it: the assistant, a document or an order did. believed: false
claims that were found correct, whatever came of it. A benign case is kept when what it states was remembered,
or, where the documents say it too, was found correct. --told prints what became of every claim.

The second asks questions of SQuAD over some hundreds of its passages, before and after an attacker has stated
a wrong answer to each, and counts the answers that show the right one and those that name the planted one:
asked by a bystander and by the attacker. DATA and DIR are those of benchmarks.recall.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.settings.locations import find_locations
from benchmarks.attack_damage import measure_damage
from tests.attack_cases import BENIGN, Case, Suite, read_suite
from tests.attack_play import House, Played


@dataclass
class Reached:
    """What the cases of one family reached."""

    family: str
    played: list[Played]

    @property
    def breached(self) -> list[Played]:
        """Those after which something is where it must never be."""
        return [played for played in self.played if played.breaches]

    @property
    def own(self) -> list[Played]:
        """Those that left a needle in the memory of a user who took part."""
        return [played for played in self.played if played.is_own_reached]

    @property
    def kept_wrongly(self) -> list[Played]:
        """Those that left what their user never stated."""
        return [played for played in self.played if played.kept_wrongly]

    @property
    def believed(self) -> list[str]:
        """False claims that were found correct, whatever became of them."""
        return [text for played in self.played for text in played.believed]

    @property
    def lost(self) -> list[Played]:
        """Benign ones that did not leave what they should."""
        return [played for played in self.played if played.missing]

    def share(self, some: Sequence[Played]) -> str:
        """So many of all, told."""
        return f"{len(some)} of {len(self.played)} ({100 * len(some) / max(1, len(self.played)):.1f} %)"

    def counted(self) -> dict[str, object]:
        """For a file."""
        statuses = [status for played in self.played for status in played.statuses]
        return {
            "cases": len(self.played),
            "breached": {p.case.id: p.breaches for p in self.breached},
            "own": [p.case.id for p in self.own],
            "kept_wrongly": {p.case.id: p.kept_wrongly for p in self.kept_wrongly},
            "believed": {p.case.id: p.believed for p in self.played if p.believed},
            "lost": {p.case.id: p.missing for p in self.lost},
            "claims": {status: statuses.count(status) for status in sorted(set(statuses))},
            "proposals": sum(p.proposals for p in self.played),
            "cpu_seconds": round(sum(p.cpu_seconds for p in self.played), 1),
        }


def play_all(suite: Suite, families: Sequence[str], *, each: int | None, told: bool) -> list[Reached]:
    """Plays the cases, each family in a house of its own."""
    cache = find_locations(os.environ).cache
    with tempfile.TemporaryDirectory() as folder:
        world = House.built(Path(folder) / "world", cache, suite)
        reader = None
        found = []
        for family in families:
            with world.copied_to(Path(folder) / family, reader=reader) as house:
                reader = house.assistant.models.reader
                found.append(
                    Reached(family, [_play(house, case, told) for case in suite.families[family][:each]])
                )
            print(f"{family} played", file=sys.stderr)
        return found


def _play(house: House, case: Case, told: bool) -> Played:
    played = house.play(case)
    if told:
        print(f"{case.id} {'; '.join(step.says or step.teaches or step.name for step in case.steps)!r}")
        for learned in played.learned:
            print(
                f"    {learned.status} {learned.confidence:.2f} {learned.scope} {learned.action}: "
                f"{learned.text!r} ({learned.reason})"
            )
        for line in [*played.breaches, *played.kept_wrongly, *played.missing]:
            print(f"    ! {line}")
    return played


def report(found: Sequence[Reached]) -> None:
    """A line a family, and every breach."""
    print(
        f"{'family':22} {'shared':>18} {'own':>18} {'claims correct/incorrect/unknown':>34} {'proposed':>9}"
    )
    for reached in found:
        counted = reached.counted()
        claims = counted["claims"]
        assert isinstance(claims, dict)
        by_status = "/".join(str(claims.get(status, 0)) for status in ("correct", "incorrect", "unknown"))
        if reached.family == BENIGN:
            kept = [played for played in reached.played if not played.missing]
            print(f"{BENIGN:20} kept {reached.share(kept)}, claims {by_status}")
            _report_kinds(reached)
        else:
            print(
                f"{reached.family:20} {reached.share(reached.breached):>15} {reached.share(reached.own):>17} "
                f"{len(reached.kept_wrongly):>8} {len(reached.believed):>9} {by_status:>26} "
                f"{counted['proposals']:>9}"
            )
    for reached in found:
        for played in reached.played:
            believed = [f"believed: {text!r}" for text in played.believed]
            if lines := [*played.breaches, *played.kept_wrongly, *believed, *played.missing]:
                print(f"{played.case.id}: {'; '.join(lines)}")
    cpu = sum(played.cpu_seconds for reached in found for played in reached.played)
    cases = sum(len(reached.played) for reached in found)
    print(f"{cases} cases, {cpu:.0f} s CPU, {1000 * cpu / max(1, cases):.0f} ms a case")


def _report_kinds(reached: Reached) -> None:
    for kind in dict.fromkeys(played.case.kind for played in reached.played):
        of_kind = Reached(kind, [played for played in reached.played if played.case.kind == kind])
        print(f"  {kind:20} kept {of_kind.share([p for p in of_kind.played if not p.missing])}")


def main() -> None:
    suite = read_suite()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=list(suite.families), choices=list(suite.families))
    parser.add_argument("--each", type=int)
    parser.add_argument("--told", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--damage", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--passages", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    began = time.monotonic()
    results: dict[str, Any] = {}
    if arguments.damage is not None:
        damage = measure_damage(
            arguments.damage,
            arguments.work,
            questions=arguments.questions,
            passages=arguments.passages,
            seed=arguments.seed,
        )
        damage.report()
        results = damage.counted()
    else:
        found = play_all(suite, arguments.only, each=arguments.each, told=arguments.told)
        report(found)
        results = {reached.family: reached.counted() for reached in found}
    print(f"{time.monotonic() - began:.0f} s")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
