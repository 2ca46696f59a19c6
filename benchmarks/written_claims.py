"""How claims that people wrote are weighed beside the evidence that belongs to them.

    python -m benchmarks.written_claims DATA [--only fever fm2 ...] [--limit 300] [--seed 1]

Unlike simulated feedback, these are not made of questions, and false ones are not made by exchanging one
value. Test parts only: FEVER's is held out by claim from the reader's training; none was used to fit, but
what a claim's words bind was looked at on "opposites", the pairs of data/lookalikes/opposites.jsonl.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from agents.base.claim_interfaces import Claim, Weighed
from agents.base.interfaces import Candidate
from agents.memory.reader_discriminator import CORRECT_FROM, ReaderDiscriminator
from assistant.learning.recipes.examples.records import read_records
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.base.passages import SHARED, Passage
from training.examples.claims import fever_claims
from training.examples.example import untokenised

OPPOSITES = Path(__file__).parent.parent / "data/lookalikes/opposites.jsonl"
Written = tuple[str, str, bool]  # claim, evidence, whether it is true
THRESHOLDS = (0.5, 0.6, 0.7, CORRECT_FROM, 0.9, 0.95)


def _of(path: str) -> Callable[[Path], list[Written]]:
    def read(data: Path) -> list[Written]:
        found: list[Written] = []
        for record in read_records(data / path):
            evidence = record["evidence"]
            text = evidence if isinstance(evidence, str) else " ".join(evidence)
            if record["label"] in ("SUPPORTS", "REFUTES"):
                found.append((untokenised(record["claim"]), untokenised(text), record["label"] == "SUPPORTS"))
        return found

    return read


def _opposites(_: Path) -> list[Written]:
    """Each of a pair beside itself, and beside its opposite."""
    pairs = [(each["first"], each["second"]) for each in read_records(OPPOSITES)]
    both = [*pairs, *((second, first) for first, second in pairs)]
    return [(claim, evidence, claim == evidence) for claim, other in both for evidence in (claim, other)]


SETS: Mapping[str, Callable[[Path], list[Written]]] = {
    "fever": lambda data: [(c.text, c.evidence, c.label == 0) for c in fever_claims(data, "test")],
    "fever_symmetric": _of("fever_symmetric/test.jsonl.gz"),
    "fm2": _of("fm2/test.jsonl.gz"),
    "scifact": _of("scifact/dev.jsonl.gz"),
    "covidfact": _of("covidfact/test.jsonl.gz"),
    "opposites": _opposites,
}


def candidate(text: str, *, name: str = "") -> Candidate:
    """A shared passage that was found."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    passage = Passage(1, 1, SHARED, "document", "", text, None, 0, "", name, moment)
    return Candidate(passage, 0.7, 1.0, 0.0, 1.0, 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", default=tuple(SETS), choices=list(SETS))
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    assistant = Assistant(Settings(), find_locations(os.environ), offline=True)
    discriminator = ReaderDiscriminator(assistant.models.reader, correct_from=0, incorrect_from=0)
    for name in arguments.only:
        written = SETS[name](arguments.data)
        written = random.Random(arguments.seed).sample(written, min(arguments.limit, len(written)))
        sides: dict[bool, list[Weighed]] = {True: [], False: []}
        for text, evidence, is_true in written:
            claim = Claim(text, text, "fact", "world")
            sides[is_true].append(asyncio.run(discriminator.weigh(claim, [candidate(evidence)])))
        print(
            f"{name}: {len(sides[True])} true, {len(sides[False])} false; judged correct of true | of false"
        )
        for least in THRESHOLDS:
            shares = (
                sum(w.status == "correct" and w.confidence >= least for w in side) / max(1, len(side))
                for side in (sides[True], sides[False])
            )
            print(f"  {least:.2f}: " + " | ".join(f"{100 * share:.1f} %" for share in shares))


if __name__ == "__main__":
    main()
