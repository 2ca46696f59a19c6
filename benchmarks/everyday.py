"""What the reader makes of what people told: python -m benchmarks.everyday [--weights FILE] [--part test]

On a part of data/everyday that nothing was trained on: without --part the calibration part, which is cut off
the training file. Each question is asked where it stands in its conversation, of the statements told until
then, as one page:

    page, gold      what no longer holds is marked as the data says
    page, relate    what no longer holds is marked by the relate head
    page, no marks  nothing is marked
    newest near     no reader: of the statements within half of the best cosine, the newest, quoted

    right         the sentence that is quoted first holds the answer
    wrong         another sentence is quoted, without a warning
    unsure, right / unsure, wrong   the same, with a warning
    nothing       no sentence is quoted as an answer; for what was never told that is what is wanted

sort and relate are told by macro-F1. Thresholds are fitted on the calibration part of the training file.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from agents.base.interfaces import Reader
from agents.base.memory_page import MemoryPage, Statement, asked_after, related_pair
from agents.models.encoder import OnnxEncoder, prepare_encoder
from agents.models.reader import OnnxReader
from agents.models.reader_files import WEIGHTS, prepare_reader
from assistant.learning.recipes.examples import everyday
from assistant.learning.recipes.examples.everyday import Asked, Conversation, Told, conversations, ends_of
from assistant.learning.recipes.examples.example import RELATE_LABELS, SORT_LABELS, Part
from assistant.settings.locations import find_locations
from benchmarks.reader_quality import Classified, by_source

OUTCOMES = ("right", "unsure, right", "unsure, wrong", "wrong", "nothing")
KINDS = ("now", "before", "other", "follow", "never")
FLATLY_WRONG = 0.08  # share of the told that thresholds may let be answered wrongly and flatly

Ends = Callable[[Sequence[Told]], dict[str, date]]


@dataclass(frozen=True)
class Found:
    """What was quoted first for a question, and how surely."""

    question: Asked
    quoted: str
    confidence: float


def read_page(reader: Reader, question: Asked, ends: dict[str, date]) -> Found:
    told = question.so_far
    page = MemoryPage([Statement(t.text, t.day, ends.get(t.id)) for t in told])
    found = reader.answer_in(asked_after(question.text, question.before), page.text, page.places)
    best = max(range(len(found)), key=lambda i: found[i].probability)
    return Found(question, told[best].text, found[best].probability)


def marked_by(reader: Reader) -> Ends:
    """What no longer holds by the relate head, asked of every statement and the earlier ones."""

    def ends(told: Sequence[Told]) -> dict[str, date]:
        found: dict[str, date] = {}
        pairs = [(j, i) for j in range(len(told)) for i in range(j)]
        texts = [related_pair(told[j].text, told[i].text, is_just_before=i == j - 1) for j, i in pairs]
        for (j, i), relation in zip(pairs, reader.relate(texts), strict=True):
            if relation.replaces + relation.ends > 0.5:
                found.setdefault(told[i].id, told[j].day)
        return found

    return ends


def outcome(found: Found, sure_from: float, unsure_from: float) -> str:
    holds = bool(found.question.span) and found.question.span.lower() in found.quoted.lower()
    if found.confidence < unsure_from or not found.quoted:
        return "nothing"
    word = "right" if holds else "wrong"
    return word if found.confidence >= sure_from else f"unsure, {word}"


def fitted(found: Sequence[Found]) -> tuple[float, float]:
    """From where an answer is sure, and from where it is given with a warning.

    Sure is the lowest confidence at which at most FLATLY_WRONG of the told are wrong flatly and at most 15 %
    of the never told are answered; the warning begins at two thirds of it.
    """
    told = [f for f in found if f.question.span]
    never = [f for f in found if not f.question.span]
    for sure_from in np.arange(0.05, 1.0, 0.01):
        wrong = sum(outcome(f, sure_from, sure_from) == "wrong" for f in told) / max(1, len(told))
        answered = sum(f.confidence >= sure_from for f in never) / max(1, len(never))
        if wrong <= FLATLY_WRONG and answered <= 0.15:
            return float(sure_from), float(sure_from) * 2 / 3
    return 1.0, 2 / 3


def report(name: str, found: Sequence[Found], sure_from: float, unsure_from: float) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        said = outcome(one, sure_from, unsure_from)
        counts[one.question.kind][said] += 1
        counts["told" if one.question.span else "not told"][said] += 1
    print(f"\n{name}: sure from {sure_from:.2f}, with a warning from {unsure_from:.2f}")
    print(f"| kind | questions | {' | '.join(OUTCOMES)} |")
    print(f"| --- | ---: |{' ---: |' * len(OUTCOMES)}")
    for kind in (*KINDS, "told"):
        total = sum(counts[kind].values())
        shares = (f"{counts[kind][said] / max(1, total):.1%}" for said in OUTCOMES)
        print(f"| {kind} | {total} | {' | '.join(shares)} |")


def questions(part: Part) -> Iterator[tuple[Conversation, Asked]]:
    return ((c, q) for c in conversations(part) for q in c.questions)


def newest_near(encoder: object, question: Asked) -> Found:
    told = question.so_far
    (query,) = encoder.encode_queries([question.standalone or question.text])  # type: ignore[attr-defined]
    scores = encoder.encode_passages([t.text for t in told]) @ query  # type: ignore[attr-defined]
    near = [i for i, score in enumerate(scores) if score >= scores.max() / 2]
    return Found(question, told[near[-1]].text, 1.0)


def classes(reader: Reader, part: Part) -> None:
    wanted = [e for e in everyday.sentences(part, seed=1) if e.sort is not None]
    rows = reader.sort([e.first for e in wanted])
    pairs = zip(wanted, rows, strict=True)
    by_source("sort", SORT_LABELS, [Classified("everyday", e.sort or 0, row) for e, row in pairs])
    wanted = list(everyday.relations(part, seed=1))
    rows = reader.relate([(e.first, e.second) for e in wanted])
    pairs = zip(wanted, rows, strict=True)
    by_source("relate", RELATE_LABELS, [Classified("everyday", e.relate or 0, row) for e, row in pairs])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    parser.add_argument("--part", choices=("calibration", "test"), default="calibration")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print what is answered wrongly")
    arguments = parser.parse_args()
    cache = find_locations(os.environ).cache / "readers"
    reader = OnnxReader(prepare_reader(arguments.weights, cache, tell=print), threads=arguments.threads)
    classes(reader, arguments.part)
    by_relate = marked_by(reader)
    ways: dict[str, Ends] = {
        "page, relate": by_relate,
        "page, gold": ends_of,
        "page, no marks": lambda told: {},
    }
    for name, ends in ways.items():
        develop = [read_page(reader, q, ends(q.so_far)) for _, q in questions("calibration")]
        bounds = fitted(develop)
        found = [read_page(reader, q, ends(q.so_far)) for _, q in questions(arguments.part)]
        report(name, found, *bounds)
        if arguments.show:
            for one in found:
                if outcome(one, *bounds) in ("wrong", "nothing") and one.question.span:
                    print(f"  {one.question.text} -> {one.quoted!r} {one.confidence:.2f}")
    folder = find_locations(os.environ).cache / "encoders"
    encoder = OnnxEncoder(prepare_encoder(None, folder, tell=print, offline=True), threads=arguments.threads)
    report("newest near", [newest_near(encoder, q) for _, q in questions(arguments.part)], 0.5, 0.5)


if __name__ == "__main__":
    main()
