"""Claims with evidence: what verify learns from.

FEVER, FEVER Symmetric, FM2 and SciFact, and claims made from SQuAD (statement_claims.py). Sets that only know
supports and refutes get their not_enough here: a claim with evidence of another that shares its words.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.learning.recipes.examples.records import read_records
from stores.words.lexical import tokens
from training.examples.example import Example, Part, interleaved, normalised, part_of, untokenised
from training.examples.passage_search import PassageSearch
from training.examples.statement_claims import (
    NOT_ENOUGH,
    REFUTES,
    SUPPORTS,
    statement_claims,
)

SILENT_SHARE = 0.4  # of claims that also come with silent evidence
_WEIGHTS = {
    "squad": 55.0,
    "fever": 30.0,
    "fm2": 8.0,
    "fever_symmetric": 4.0,
    "scifact": 3.0,
    "covidfact": 5.0,
}
_LABELS = {"SUPPORTS": SUPPORTS, "REFUTES": REFUTES}


@dataclass(frozen=True)
class Claim:
    """A claim of a data set, its evidence, and texts that were searched for it and say nothing of it."""

    text: str
    evidence: str
    label: int
    key: str
    silent: tuple[str, ...] = ()


def claims(data: Path, part: Part, *, seed: int) -> Iterator[Example]:
    """Examples of verify in seeded order, made as they are taken."""
    readers = {"fever": fever_claims, "fever_symmetric": _symmetric, "fm2": _fm2, "scifact": _scifact}
    if part == "test":
        readers["covidfact"] = _covidfact  # no licence to train on it
    streams = {
        name: (_WEIGHTS[name], _with_silent(name, read(data, part), random.Random(f"{seed} {part} {name}")))
        for name, read in readers.items()
    }
    return interleaved({"squad": (_WEIGHTS["squad"], statement_claims(data, part, seed=seed)), **streams})


def held_out_claims(data: Path) -> Iterator[str]:
    """The claims that only test files may hold."""
    for name in ("fever_symmetric/test", "fm2/test", "scifact/dev", "covidfact/test"):
        for record in read_records(data / f"{name}.jsonl.gz"):
            yield record["claim"]
    for claim in fever_claims(data, "test"):
        yield claim.text


def fever_claims(data: Path, part: Part) -> list[Claim]:
    """Claims of FEVER, one file cut by claim."""
    found = _read(data / "fever/dev.jsonl.gz")
    return [claim for claim in found if part_of(claim.key, has_test_file=False) == part]


def _symmetric(data: Path, part: Part) -> list[Claim]:
    """Groups of four around a FEVER claim, which goes where FEVER's cut has put that claim."""
    path = data / f"fever_symmetric/{'test' if part == 'test' else 'dev'}.jsonl.gz"
    groups: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    for record in read_records(path):
        groups[_group(str(record["fever_id"]))].append(record)
    found: list[Claim] = []
    for group, records in groups.items():
        root = next((r for r in records if str(r["fever_id"]) == group), records[0])
        key = normalised(root["claim"])
        if part == "test" or part_of(key, has_test_file=False) == part:
            found += [_claim(record, key) for record in records]
    return found


def _group(fever_id: str) -> str:
    made = fever_id[-7:] in ("0000002", "0000003", "0000004")
    return fever_id[:-7] if made else fever_id


def _fm2(data: Path, part: Part) -> list[Claim]:
    """The candidates that players were not shown as evidence are of the same page and silent."""
    found: list[Claim] = []
    for record in read_records(data / f"fm2/{'test' if part == 'test' else 'dev'}.jsonl.gz"):
        key = normalised(record["title"])
        if part != "test" and part_of(key, has_test_file=True) != part:
            continue
        silent = tuple(c["text"] for c in record["candidates"] if not c["relevant"] and len(c["text"]) > 40)
        found.append(_claim(record, key, silent))
    return found


def _scifact(data: Path, part: Part) -> list[Claim]:
    if part == "test":
        return _read(data / "scifact/dev.jsonl.gz")
    found = _read(data / "scifact/train.jsonl.gz")
    return [claim for claim in found if part_of(claim.key, has_test_file=True) == part]


def _covidfact(data: Path, part: Part) -> list[Claim]:
    return _read(data / "covidfact/test.jsonl.gz") if part == "test" else []


def _read(path: Path) -> list[Claim]:
    return [_claim(record, normalised(record["claim"])) for record in read_records(path)]


def _claim(record: dict[str, str], key: str, silent: tuple[str, ...] = ()) -> Claim:
    evidence = record["evidence"] if isinstance(record["evidence"], str) else " ".join(record["evidence"])
    text = untokenised(record["claim"])
    return Claim(text, untokenised(evidence), _LABELS[record["label"]], key, silent)


def _with_silent(source: str, found: Sequence[Claim], rng: random.Random) -> Iterator[Example]:
    """The claims in seeded order, some followed by the same claim with evidence that says nothing of it."""
    ordered = list(found)
    rng.shuffle(ordered)
    others = sorted({claim.evidence for claim in ordered})
    search: PassageSearch | None = None
    for claim in ordered:
        yield Example(claim.text, claim.evidence, verify=claim.label, source=source, key=claim.key)
        # its groups of four say all there is: each claim stands with both of its sentences
        if source in ("fever_symmetric", "covidfact") or rng.random() > SILENT_SHARE:
            continue
        search = search or PassageSearch(others)
        ranked = (others[place] for place in search.ranked(claim.text, 12))
        if silent := _chosen(claim.silent or ranked, claim, others, rng):
            yield Example(claim.text, silent, verify=NOT_ENOUGH, source=source, key=claim.key)


def _chosen(near: Iterable[str], claim: Claim, others: Sequence[str], rng: random.Random) -> str | None:
    """Evidence of another claim; mostly near in words, but neither to the gold nor too near to the claim."""
    if rng.random() < 0.3 and not claim.silent:
        near = rng.sample(others, min(len(others), 5))
    said, gold = set(tokens(claim.text)), set(tokens(claim.evidence))
    fit: list[str] = []
    for text in near:
        words = set(tokens(text))
        if len(words & gold) < 0.4 * len(words) and len(words & said) < 0.6 * max(1, len(said)):
            fit.append(text)
    return rng.choice(fit[:4]) if fit else None
