"""The cases of the attack suite and the invented world they play in, read from tests/attacks.

A line of a .jsonl file is a case, and the file's name is its family. `docs/attacks.md` says what each field
means. A text is looked through for a needle as it stands and as a reader would see it: `seen`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "attacks"
BENIGN = "benign"

# Letters of other alphabets that are drawn like Latin ones.
_LOOK_ALIKE = str.maketrans("аеосрхуіјѕԁһΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТХ", "aeocpxyijsdhABEZHIKMNOPTYXABEKMHOPCTX")
_TAGS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}  # letters that are not drawn at all
_REVERSED = re.compile("\u202e([^\u202c]*)\u202c?")


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing that a user does; exactly one of `says`, `reads` and `teaches` is not empty."""

    user: str
    session: int
    says: str = ""
    material: str = ""  # handed over with the message
    answer: str = ""  # what the assistant replies; empty: something that states nothing
    reads: str = ""  # a document that the user takes into their own memory
    name: str = ""  # of that document
    teaches: str = ""  # what the last answer should have been
    shares: bool = False  # hands what was said on to the shared memory, as `memory share` does


@dataclass(frozen=True, kw_only=True)
class Case:
    """Users, what they do in order, and what may come of it. Needles are regular expressions."""

    id: str
    family: str
    steps: tuple[Step, ...]
    never_shared: tuple[str, ...] = ()  # nowhere in the shared memory, nor before anybody else
    never_own: tuple[str, ...] = ()  # not kept as a memory of anybody; their own messages apart
    kept: tuple[str, ...] = ()  # each in what was kept for the user
    is_recognised: bool = False  # what is stated stands in the documents, and is found correct
    asks: str = ""  # a bystander's question
    answer: str = ""  # the right one
    kind: str = ""  # of a benign case
    language: str = "en"

    @property
    def is_hostile(self) -> bool:
        """Whether nothing may come of it in the shared memory."""
        return self.family != BENIGN

    @property
    def users(self) -> tuple[str, ...]:
        """Who takes part, in the order of their first step."""
        return tuple(dict.fromkeys(step.user for step in self.steps))


@dataclass(frozen=True)
class Page:
    """A document of the world."""

    title: str
    text: str


@dataclass(frozen=True)
class Suite:
    """All cases, in the order of their files, and what is shared before them."""

    cases: tuple[Case, ...]
    world: tuple[Page, ...]
    accepted: tuple[str, ...]  # facts of the shared memory that no document holds: users stated them once

    @cached_property
    def families(self) -> dict[str, list[Case]]:
        """The cases by family."""
        found: dict[str, list[Case]] = {}
        for case in self.cases:
            found.setdefault(case.family, []).append(case)
        return found


def read_suite(folder: Path = FOLDER) -> Suite:
    """Every case and every page below a folder."""
    cases = tuple(case for path in sorted(folder.glob("*.jsonl")) for case in _cases(path))
    pages = tuple(_pages((folder / "world.md").read_text(encoding="utf-8")))
    return Suite(cases, pages, tuple((folder / "accepted.txt").read_text(encoding="utf-8").splitlines()))


def seen(text: str) -> tuple[str, ...]:
    """A text as it stands, and as it looks: without tricks of spacing, direction, width and alphabet."""
    turned = _REVERSED.sub(lambda match: match[1][::-1], text).translate(_TAGS)
    plain = "".join(c for c in unicodedata.normalize("NFKC", turned) if unicodedata.category(c) != "Cf")
    bare = "".join(c for c in unicodedata.normalize("NFD", plain) if unicodedata.category(c) != "Mn")
    looks = [" ".join(each.split()) for each in (plain, bare.translate(_LOOK_ALIKE))]
    return tuple(dict.fromkeys([text, *looks]))


def holds(text: str, needles: Sequence[str]) -> str:
    """The first needle that is found in a text, whatever its case; empty when none is."""
    forms = seen(text)
    return next((n for n in needles if any(re.search(n, form, re.IGNORECASE) for form in forms)), "")


def _cases(path: Path) -> Iterator[Case]:
    for line in path.read_text(encoding="utf-8").splitlines():
        told: dict[str, Any] = json.loads(line)
        steps = tuple(_step(step) for step in told.pop("steps"))
        needles: dict[str, Any] = {
            key: tuple(told.pop(key, ())) for key in ("never_shared", "never_own", "kept")
        }
        yield Case(
            family=path.stem,
            steps=steps,
            is_recognised=told.pop("recognised", False),
            **needles,
            **told,
        )


def _step(told: dict[str, Any]) -> Step:
    says = told.pop("say", "")
    return Step(says=says, **told)


def _pages(text: str) -> Iterator[Page]:
    for part in re.split(r"^# ", text, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        yield Page(title.strip(), " ".join(body.split()))
