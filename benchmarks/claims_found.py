"""How much of what users state is found.

    python -m benchmarks.claims_found [--develop] [--show] [--sweep] [DATA]

Messages written for this, each with the claims that should come out of it (`claims_report.txt`; with
--develop the ones that the rules were developed on, `claims_develop.txt`, whose figures mean nothing).

Both files were written by who wrote the rules, so what is printed is kinder than what strangers will see.

    found    a wanted claim is found when a claim of the same message holds all its words
    right    a claim that comes out is right when it is a wanted one
    kind     share of the found with the wanted kind (fact, preference), about (world, user) and hearsay

With DATA, a folder of data sets, also the share of their statements that is found, and of their questions
that are taken for statements. --show prints what is missed or wrong. --sweep tries thresholds.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import agents.reader_summarizer as reader_summarizer
from agents.claim_interfaces import Claim, Said, Summarizer
from agents.interfaces import Exchange, Reader, Sorting
from agents.models.reader import OnnxReader
from agents.models.reader_files import WEIGHTS, prepare_reader
from agents.reader_summarizer import ReaderSummarizer, candidates
from assistant.locations import find_locations

HERE = Path(__file__).parent
REPORT, DEVELOP = HERE / "claims_report.txt", HERE / "claims_develop.txt"


@dataclass(frozen=True)
class Wanted:
    """A claim that should come out."""

    kind: str
    about: str
    is_hearsay: bool
    words: tuple[str, ...]  # all stand in its text

    def is_in(self, claim: Claim) -> bool:
        return all(words.lower() in claim.text.lower() for words in self.words)

    def is_as(self, claim: Claim) -> tuple[bool, bool, bool]:
        return self.kind == claim.kind, self.about == claim.about, self.is_hearsay == claim.is_hearsay


@dataclass
class Case:
    """One message with what stood around it, and what should come out of it."""

    family: str
    message: str = ""
    earlier: list[Exchange] = field(default_factory=list)
    recalled: list[str] = field(default_factory=list)
    wanted: list[Wanted] = field(default_factory=list)

    def said(self) -> Said:
        return Said(self.message, tuple(self.earlier), tuple(self.recalled))


def read_cases(path: Path) -> list[Case]:
    """The cases of a file; its form is told at the top of claims_report.txt. Raises ValueError."""
    family, found = "", []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith("# ")]
        if lines and lines[0].startswith("[") and lines[0].endswith("]"):
            family = lines.pop(0)[1:-1]
        if not lines:
            continue
        case, asked = Case(family), ""
        for line in lines:
            mark, rest = line[:3], line[3:]
            if mark == "q> ":
                asked = rest
            elif mark == "a> ":
                case.earlier.append(Exchange(asked, asked, rest))
            elif mark == "r> ":
                case.recalled.append(rest)
            elif line.startswith("+ "):
                case.wanted.append(_wanted(line[2:]))
            elif case.message:
                raise ValueError(f"{path.name}: a second message in one block: {line!r}")
            else:
                case.message = line.replace("\\n", "\n")
        found.append(case)
    return found


def _wanted(line: str) -> Wanted:
    marks, _, words = line.partition(": ")
    kind, about, *hearsay = marks.split()
    return Wanted(kind, about, bool(hearsay), tuple(part.strip() for part in words.split(" & ")))


@dataclass
class Counts:
    messages: int = 0
    wanted: int = 0
    found: int = 0
    claims: int = 0
    kind: int = 0
    about: int = 0
    hearsay: int = 0
    silent: int = 0  # messages without a claim

    def row(self, name: str) -> str:
        recall = f"{self.found}/{self.wanted}" if self.wanted else "-"
        precision = f"{self.found}/{self.claims}" if self.claims else "-"
        return (
            f"| {name} | {self.messages} | {recall} | {precision} | {self.kind} | {self.about} "
            f"| {self.hearsay} | {self.silent} |"
        )


def measure(summarizer: Summarizer, cases: Sequence[Case], *, show: bool) -> dict[str, Counts]:
    """Counts by family, and under "all"."""
    table: dict[str, Counts] = defaultdict(Counts)
    for case in cases:
        claims = asyncio.run(summarizer.summarize(case.said()))
        pairs = _paired(case.wanted, claims)
        for counts in (table[case.family], table["all"]):
            counts.messages += 1
            counts.wanted += len(case.wanted)
            counts.claims += len(claims)
            counts.found += len(pairs)
            counts.silent += not claims
            for wanted, claim in pairs:
                kind, about, hearsay = wanted.is_as(claim)
                counts.kind, counts.about = counts.kind + kind, counts.about + about
                counts.hearsay += hearsay
        if show and (
            len(pairs) < max(len(claims), len(case.wanted)) or not all(all(w.is_as(c)) for w, c in pairs)
        ):
            print(f"[{case.family}] {case.message!r}\n    wanted {case.wanted}\n    found  {claims}")
    return table


def _paired(wanted: Sequence[Wanted], claims: Sequence[Claim]) -> list[tuple[Wanted, Claim]]:
    pairs, left = [], list(claims)
    for one in wanted:
        match = next((claim for claim in left if one.is_in(claim)), None)
        if match is not None:
            left.remove(match)
            pairs.append((one, match))
    return pairs


def print_table(table: dict[str, Counts]) -> None:
    print("| family | messages | found | right | same kind | same about | same hearsay | silent |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, counts in table.items():
        if name != "all":
            print(counts.row(name))
    print(table["all"].row("all"))


class RememberingReader:
    """A reader whose sortings are kept, for trying thresholds."""

    def __init__(self, reader: Reader) -> None:
        self._reader, self.name = reader, reader.name
        self._known: dict[str, Sorting] = {}

    def sort(self, sentences: Sequence[str]) -> list[Sorting]:
        for sentence in sentences:
            if sentence not in self._known:
                self._known[sentence] = self._reader.sort([sentence])[0]
        return [self._known[sentence] for sentence in sentences]


def sweep(summarizer: Summarizer, cases: Sequence[Case]) -> None:
    print("| nothing from | world from | found | right | same about |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for nothing in (0.3, 0.5, 0.7, 0.9, 1.1):
        for world in (0.4, 0.6, 0.8, 0.95):
            reader_summarizer.NOTHING_FROM, reader_summarizer.WORLD_FROM = nothing, world
            counts = measure(summarizer, cases, show=False)["all"]
            print(
                f"| {nothing} | {world} | {counts.found}/{counts.wanted} | {counts.found}/{counts.claims} "
                f"| {counts.about} |"
            )


def data_statements(data: Path, *, develop: bool) -> Iterator[tuple[str, str, str]]:
    """Source, what it should be, and the message: of the test parts, or of those to develop on."""
    parts = {"train"} if develop else {"test"}
    for record in _records(data / "msc_personas/personas.jsonl.gz"):
        if record["split"] in parts:
            for sentence in {
                s: None for some in record["personas"].values() if isinstance(some, list) for s in some
            }:
                yield "msc_personas", "user", sentence
    for record in _records(data / "prefeval/explicit.jsonl.gz"):
        if record["split"] in parts:
            yield "prefeval, preference alone", "user", record["preference"]
            yield "prefeval, preference and question", "user", f"{record['preference']} {record['question']}"
            yield "prefeval, question alone", "", record["question"]
    for record in _records(data / "prefeval/persona.jsonl.gz"):
        if record["split"] in parts and record["preference_turn"] >= 0:
            turn = record["turns"][record["preference_turn"]]
            yield "prefeval, preference said in passing", "user", turn["user"]
    for record in _records(data / f"statements/{'dev' if develop else 'test'}.jsonl.gz"):
        about = {"world_fact": "world", "question": ""}.get(record["label"], "user")
        yield f"statements, {record['label']}, {record['source']}", about, record["text"]


def _records(path: Path) -> Iterator[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def measure_data(summarizer: Summarizer, data: Path, limit: int, *, develop: bool, show: bool) -> None:
    """What share of the sets' statements comes out; which of the two, rules or reader, drops the rest."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for source, about, text in data_statements(data, develop=develop):
        groups[source, about].append(text)
    print(
        "\n| set | messages | with a claim | of these as wanted | dropped by rule | dropped by the reader |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for (source, about), texts in groups.items():
        some = random.Random(1).sample(texts, min(limit, len(texts)))
        counts: Counter[str] = Counter()
        for text in some:
            said = Said(text)
            claims = asyncio.run(summarizer.summarize(said))
            counts["found"] += bool(claims)
            counts["as wanted"] += any(claim.about == about for claim in claims)
            if not claims:
                by_rule = not any(candidates(said))
                counts["rule" if by_rule else "reader"] += 1
            if show and bool(claims) != bool(about):
                print(f"    {'CLAIM' if claims else 'rule' if by_rule else 'reader'}: {text!r}")
        print(
            f"| {source} | {len(some)} | {counts['found'] / len(some):.1%} | {counts['as wanted']} "
            f"| {counts['rule']} | {counts['reader']} |"
        )


def main(make: Callable[[Reader], Summarizer] = ReaderSummarizer) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", nargs="?", type=Path, help="the folder of the data sets")
    parser.add_argument("--develop", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--limit", type=int, default=400, help="messages of each data set at most")
    options = parser.parse_args()
    folder = prepare_reader(WEIGHTS, find_locations(os.environ).cache / "readers", tell=print)
    reader = RememberingReader(OnnxReader(folder, threads=1))
    summarizer = make(reader)  # type: ignore[arg-type]
    print(f"by {summarizer.name}")
    cases = read_cases(DEVELOP if options.develop else REPORT)
    if options.sweep:
        sweep(summarizer, cases)
        return
    print_table(measure(summarizer, cases, show=options.show))
    if options.data:
        measure_data(summarizer, options.data, options.limit, develop=options.develop, show=options.show)


if __name__ == "__main__":
    main()
