"""What a reader by itself makes of data/everyday: python -m benchmarks.everyday_reader

Six conversations make one memory. Of each question the nearest and newest statements are read as one page, as
the chat does it, with the answer before it as the data has it:

    first, three   the right statement comes first, or among the first three
    words          and the words that are named for it are those of the data, by F1 of 0.5 or more
    never told     questions that nobody answered, and all questions asked of six conversations by others

Then, for thresholds from which an answer is sure: how many are right, how many wrong, and how many of the
never told are not answered. Whether a statement supersedes an earlier one is asked of the five nearest before
it; kept is what sort takes for a statement. --one asks each conversation by itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.base.memory_page import MemoryPage, Statement, asked_after
from agents.models.reader import OnnxReader
from agents.models.reader_files import LARGE
from benchmarks.everyday import KINDS, PARTS
from benchmarks.offline_answers import f1
from training.examples import everyday
from training.examples.everyday import Asked, Conversation, Told

_TOGETHER = 6
_EARLIER = 5  # statements that a new one is laid beside
SURE = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class Found:
    """What was read of one question."""

    kind: str
    rank: int  # of the right statement, from 0; 99 where it was not on the page or there is none
    probability: float  # of the first
    f1: float  # of the words named in the first


def memory_of(group: list[Conversation]) -> list[tuple[Told, Conversation]]:
    return sorted(((t, c) for c in group for t in c.statements), key=lambda one: one[0].day)


def asked_of(reader: OnnxReader, asked: Asked, memory: list[Told], right: Told | None) -> Found:
    text = asked_after(asked.text, f"{asked.before} {asked.before_answer}".strip())
    read = everyday.nearest(text, memory)
    page = MemoryPage([Statement(t.text) for t in read])
    spans = reader.answer_in(text, page.text, page.places)
    order = sorted(range(len(read)), key=lambda i: -spans[i].probability)
    rank = next((n for n, i in enumerate(order) if read[i] is right), 99)
    best = spans[order[0]]
    return Found(asked.kind, rank, best.probability, f1(best.text, [asked.span]))


def questions(reader: OnnxReader, groups: list[list[Conversation]]) -> Iterator[Found]:
    for group, others in zip(groups, [*groups[1:], groups[0]], strict=True):
        memory = [t for t, _ in memory_of(group)]
        strange = [t for t, _ in memory_of(others)]
        for c in group:
            for asked in c.questions:
                right = next((t for t in c.statements if asked.answer == t.id), None)
                yield asked_of(reader, asked, memory, right)
                if asked.kind != "never" and others is not group:
                    stranger = asked_of(reader, asked, strange, None)
                    yield Found("strange", 99, stranger.probability, 0.0)


def share(found: list[bool]) -> str:
    return f"{np.mean(found):.1%}" if found else "-"


def report(found: list[Found]) -> None:
    told = [f for f in found if f.kind not in ("never", "strange")]
    print("| kind | questions | first | three | words |\n| --- | ---: | ---: | ---: | ---: |")
    for kind in KINDS:
        some = [f for f in told if kind in (f.kind, "told")]
        if some:
            first, three = [f.rank == 0 for f in some], [f.rank < 3 for f in some]
            words = [f.rank == 0 and f.f1 >= 0.5 for f in some]
            print(f"| {kind} | {len(some)} | {share(first)} | {share(three)} | {share(words)} |")
    never = [f.probability for f in found if f.kind == "never"]
    strange = [f.probability for f in found if f.kind == "strange"]
    print("\n| sure from | right | wrong | never not answered | asked of others, not answered |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for sure in SURE:
        right = [f.rank == 0 and f.probability >= sure for f in told]
        wrong = [f.rank != 0 and f.probability >= sure for f in told]
        kept = share([p < sure for p in never]), share([p < sure for p in strange])
        print(f"| {sure} | {share(right)} | {share(wrong)} | {kept[0]} | {kept[1]} |")


def changes(reader: OnnxReader, groups: list[list[Conversation]]) -> None:
    pairs, truth, far = [], [], 0
    for group in groups:
        memory = memory_of(group)
        for number, (told, c) in enumerate(memory):
            before = [t for t, own in memory[:number] if own is c]
            near = everyday.nearest(told.text, [t for t, _ in memory[:number]], near=_EARLIER, newest=0)
            ended = {i for i, does in told.relations.items() if does in ("replaces", "ends")}
            is_own = {id(t) for t in before}
            far += len(ended) - sum(t.id in ended for t in near if id(t) in is_own)
            for t in near:
                pairs.append((told.text, t.text))
                truth.append(id(t) in is_own and t.id in ended)
    found = np.array([r.replaces + r.ends for r in reader.relate(pairs)])
    right = np.array(truth)
    print(f"\n{len(pairs)} pairs, {right.sum()} superseded, {far} more not among the {_EARLIER} nearest")
    print("| superseded from | precision | recall of these | F1 of all |\n| ---: | ---: | ---: | ---: |")
    for least in SURE:
        said = found >= least
        hits = int((said & right).sum())
        score = 2 * hits / max(1, said.sum() + right.sum() + far)
        print(f"| {least} | {hits / max(1, said.sum()):.2f} | {hits / right.sum():.2f} | {score:.3f} |")


def kept(reader: OnnxReader, chosen: list[Conversation]) -> None:
    said = [t for c in chosen for (t,) in c.messages]
    sorted_ = list(zip(said, reader.sort([t.text for t in said]), strict=True))
    is_kept = [(s.world + s.personal >= 0.5) == (t.states in ("world", "personal")) for t, s in sorted_]
    about = [(s.personal >= s.world) == (t.states == "personal") for t, s in sorted_ if t.id]
    print(f"\n{len(said)} messages: kept or not {share(is_kept)}, self or world {share(about)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", type=Path, default=LARGE, help="the folder of an exported reader")
    parser.add_argument("--part", choices=PARTS, default="dev")
    parser.add_argument("--one", action="store_true")
    arguments = parser.parse_args()
    reader = OnnxReader(arguments.reader, threads=1)
    chosen = list(everyday.undated(PARTS[arguments.part]))
    size = 1 if arguments.one else _TOGETHER
    groups = [chosen[i : i + size] for i in range(0, len(chosen), size)]
    report(list(questions(reader, groups)))
    changes(reader, groups)
    kept(reader, chosen)


if __name__ == "__main__":
    main()
