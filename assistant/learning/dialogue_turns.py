"""What users say in the task dialogues of SGD and CamRest, sentence by sentence."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from agents.sentences import sentences
from assistant.learning.example import Example, Part, normalised, read_records, untokenised

_TELLS_A_TASTE = re.compile(
    r"\bI(?: am|'m) (?:a )?(?:big |huge )?fan\b|\bmy favou?rite\b"
    r"|\bI (?:usually|always|normally|generally|often) (?!need)"
    r"|\bI (?:really )?(?:love|enjoy|hate|dislike) "
    r"(?!(?:it|that|this|them|their|to (?:book|reserve|see|get|find|go))\b)"
    r"|\bI(?: am|'m) (?:allergic|vegetarian|vegan)\b|\bI (?:live|work) (?:in|at|for)\b",
    re.IGNORECASE,
)
# of a turn that says "I have" or "my", nobody can say whether it is to be kept
_MAY_TELL = re.compile(
    r"\b(?:my|our|I (?:really )?(?:like|prefer|have|had|was|got|just)|I've|we(?:'re| are| have))\b"
    r"|\bI(?: am|'m) "
    r"(?!looking|interested|searching|trying|thinking|hoping|good|fine|all|sorry|sure|glad|okay|ok\b)",
    re.IGNORECASE,
)


def turns(
    data: Path, name: str, part: Part, rng: random.Random, wanted: Callable[[str], bool], label: int
) -> Iterator[Example]:
    """What users say in the dialogues of a set, as far as it is wanted; in a test, only what is new."""
    known: set[str] = set()
    if part == "test":
        known = {normalised(text) for file in ("train", "dev") for text, _ in _said(data, name, file)}
    said = list(_said(data, name, {"train": "train", "calibration": "dev", "test": "test"}[part]))
    rng.shuffle(said)
    for text, dialogue in said:
        if wanted(text) and normalised(text) not in known:
            yield Example(text, sort=label, source=name, key=dialogue)


@cache
def _said(data: Path, name: str, file: str) -> tuple[tuple[str, str], ...]:
    """Sentence and dialogue of all that users say in a file of SGD or CamRest."""
    found: list[tuple[str, str]] = []
    for record in read_records(data / name / f"{file}.jsonl.gz"):
        for turn in record["turns"]:
            if name == "sgd":
                text = turn["text"] if turn["speaker"] == "user" else ""
            else:
                text = untokenised((turn.get("user_raw") or turn["user"]).replace("_", " "))
            found += [(one.text, record["id"]) for one in sentences(text)]
    return tuple(found)


def tells_a_taste(said: str) -> bool:
    """Whether somebody says what they like, do usually, or where they live."""
    return bool(_TELLS_A_TASTE.search(said))


def keeps_nothing(said: str) -> bool:
    """Whether a sentence surely says nothing of its speaker that lasts."""
    return not _TELLS_A_TASTE.search(said) and not _MAY_TELL.search(said)
