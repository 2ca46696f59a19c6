"""Writes the questions with known answers: python -m training.known_questions DATA --work DIR

    dev parts of data/everyday and data/documents -> the product's search -> a question, forty candidates,
      which of them answer it

DIR is that of `python -m training.relevance`, whose stores are searched. A question is among those drawn if
something that answers it is among the first ten found. --probe writes nothing and prints what the word of the
built-in reader is worth on them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from pathlib import Path
from typing import Any

from assistant.learning.held_out.judge_probes import JudgeProbes
from assistant.learning.held_out.known_questions import FILE
from assistant.replay.runs.replay_assistant import FILLED_AT
from assistant.replay.storage.data_set_store import Names, filled
from training.relevance import KNOWN_OF, SETS, assistant_at

EACH = 100  # questions of each set
_FIRST = 10


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--probe", action="store_true")
    told = parser.parse_args()
    if told.probe:
        assistant = assistant_at(told.work / "probe")
        print(*JudgeProbes(told.work / "judges.json").told(assistant.models.judge_of_candidates), sep="\n")
        assistant.close()
        return
    places: dict[tuple[str, str, str], int] = {}
    questions = [each for name in KNOWN_OF for each in _drawn(name, told.data, told.work, places)]
    kept = {"passages": list(places), "questions": questions}
    told.out.parent.mkdir(parents=True, exist_ok=True)
    told.out.write_bytes(gzip.compress(json.dumps(kept, separators=(",", ":")).encode(), mtime=0))
    print(f"{len(questions)} questions, {len(places)} passages, {told.out.stat().st_size} bytes")


def _drawn(
    name: str, data: Path, work: Path, places: dict[tuple[str, str, str], int]
) -> list[dict[str, Any]]:
    """places: of each passage among all that are written; more are added."""
    read = SETS[name](data)
    store = filled(work / f"{name} store", read.passages, assistant_at, clock=lambda: FILLED_AT)
    names, assistant, found = Names.of_store(store), assistant_at(store), []
    try:
        for question in random.Random(1).sample(read.questions, len(read.questions)):
            asked = names.as_stored(question)
            space = assistant.search.spaces.of(assistant.stores.journal.user_id(asked.user))
            candidates = assistant.search.searching.retriever.retrieve(asked.text, space).candidates
            ids = [names.of(each.passage) for each in candidates]
            if not any(each in (question.gold or ()) for each in ids[:_FIRST]):
                continue
            keys = [(each.passage.kind, each.passage.title, each.passage.text) for each in candidates]
            numbers = [places.setdefault(key, len(places)) for key in keys]
            rows = [
                [number, *(round(score, 4) for score in (c.dense, c.lexical, c.lift, c.score))]
                for number, c in zip(numbers, candidates, strict=True)
            ]
            right = [n for n, each in zip(numbers, ids, strict=True) if each in (question.gold or ())]
            found.append({"question": asked.text, "found": rows, "right": sorted(set(right))})
            if len(found) == EACH:
                break
    finally:
        assistant.close()
    return found


if __name__ == "__main__":
    main()
