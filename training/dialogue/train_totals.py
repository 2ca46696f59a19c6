"""Trains the head that tells whether a message asks for a sum or a mean over the rows of a table.

    python -m training.dialogue.train_totals [--out FILE]

    phrases with invented columns, things and people, and all training questions of data/documents
        -> vectors of the first half of the packaged encoder -> softmax(W q + b), L2

What is wanted of the rows besides, a column, a filter, an end or a count, the parser of wishes says.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

from agents.models.wish_network import TOTALS, TOTALS_SHIPPED, VALUE
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from training.reader.fit_sorting import fitted

Floats = npt.NDArray[np.float32]
ROOT = Path(__file__).parents[2]
OF_A_TEMPLATE = 10
_SEED, _FOLDS = 3, 10
_KEPT = 1e-5  # weight of the squared weights
COLUMNS = (
    "price cost amount distance weight hours fee rent points salary length pages calories rainfall".split()
)
THINGS = (
    "bills trips books tickets orders flights rooms bags parcels recipes runs songs plants rides invoices "
    "meals meetings players houses lessons chairs donations batches lamps"
).split()
VALUES = (
    "rent, heating, books, travel, clothes, gifts, coffee, March, last week, the north, the blue ones, "
    "parking, insurance, gardening, Thursday, team B, fruit, the office, postage"
).split(", ")
PEOPLE = "Nadia, Piet, my sister, the club, Marta, we, I, they, Tom, our team, the school".split(", ")
UNITS = "euros kilos hours km pounds minutes litres pages dollars".split()
TEMPLATES = {
    "sum": (
        "{v} total",
        "total {c}",
        "what is the total {c}?",
        "total {c} of the {t}",
        "total spent on {v}",
        "sum of the {c}",
        "sum up the {c} for {v}",
        "add up all the {t}",
        "how much did {p} pay in all?",
        "how much has {p} spent altogether?",
        "how much did {p} spend on {v}?",
        "how much do the {t} cost together?",
        "what do all the {t} add up to?",
        "what do the {t} come to in {u}?",
        "how many {u} is that in total?",
        "how many {u} do all {t} have together?",
        "what did {v} come to?",
        "combined {c} of all {t}",
        "overall {c}",
        "what have {p} paid so far in all",
        "how much {c} is it all in all?",
        "everything for {v} taken together, how much is that",
    ),
    "mean": (
        "average {c}",
        "average {c} of the {t}",
        "what is the average {c} for {v}?",
        "mean {c}",
        "what is the {c} on average?",
        "how much do {p} pay on average?",
        "how many {u} does one of the {t} take on average?",
        "what do {p} spend on {v} on average?",
        "the mean of all {t}",
        "on average, how much is one of the {t}",
        "average {c} per month",
        "{v}, average",
    ),
    "none": (
        "how many {t} are there?",
        "how many {t} are over 20 {u}?",
        "number of {t} for {v}",
        "which of the {t} has the highest {c}?",
        "cheapest of the {t}",
        "the longest one",
        "most expensive of the {t}",
        "what is the {c} of the first one?",
        "how much is it?",
        "what does one of the {t} cost?",
        "when did {p} pay for {v}?",
        "who paid for {v}?",
        "who spent most?",
        "which {t} did {p} pay for?",
        "what did {p} buy?",
        "when was {v} paid?",
        "is {v} paid?",
        "what does {v} cost?",
        "price of {v}",
        "why did {p} pay for {v}?",
        "{t} under 30 {u}",
        "show me {t} for {v}",
        "{c} for {v}",
        "how many times did {p} pay for {v}?",
        "least {c}",
    ),
}


def main() -> None:
    """Prints the errors of ten-fold cross-validation, then fits all and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=TOTALS_SHIPPED)
    told = parser.parse_args()
    phrases = _phrases(random.Random(_SEED))
    asked = (ROOT / "data" / "documents" / "questions.jsonl").read_text("utf-8").splitlines()
    read = [question for line in asked if (question := json.loads(line))["split"] == "train"]
    phrases += [(question["q"], "none") for question in read]
    labels = np.array([TOTALS.index(label) for _, label in phrases])
    with tempfile.TemporaryDirectory() as folder:
        home = {"HOME": folder, "XDG_CACHE_HOME": str(find_locations(os.environ).cache.parent)}
        assistant = Assistant(Settings(), find_locations(home))
        try:
            vectors = assistant.models.packaged_encoder.encode_queries([text for text, _ in phrases])
        finally:
            assistant.close()
    wanted, each = np.eye(len(TOTALS), dtype=np.float32)[labels], np.arange(len(labels))
    right = 0
    for fold in range(_FOLDS):
        is_held = (each // (2 * OF_A_TEMPLATE)) % _FOLDS == fold  # about a whole template
        weight, bias = _head(vectors[~is_held], wanted[~is_held])
        said = (vectors[is_held] @ weight + bias).argmax(1)
        right += int((said == labels[is_held]).sum())
        for at, label in zip(each[is_held], said, strict=True):
            if label != labels[at]:
                print(f"{phrases[at][0]} ({phrases[at][1]}): {TOTALS[label]}")
    print(f"{len(phrases)} phrases, {right / len(phrases):.1%} right in cross-validation by templates")
    weight, bias = _head(vectors, wanted)
    weights = {"weight": weight.T, "bias": bias}
    save_file({name: np.ascontiguousarray(w, dtype=np.float32) for name, w in weights.items()}, told.out)


def _head(vectors: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    weight, bias = np.zeros((vectors.shape[1], len(TOTALS)), np.float32), np.zeros(len(TOTALS), np.float32)
    return fitted(weight, bias, vectors, wanted, np.ones(len(vectors), np.float32), kept=_KEPT)


def _phrases(draw: random.Random) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for label, templates in TEMPLATES.items():
        for template in templates:
            for _ in range(OF_A_TEMPLATE):
                slots = {"c": COLUMNS, "t": THINGS, "v": VALUES, "p": PEOPLE, "u": UNITS}
                of_a_table = slots | {"c": [VALUE], "v": [VALUE], "p": [VALUE]}
                for each in (slots, of_a_table):
                    told = template.format(**{name: draw.choice(words) for name, words in each.items()})
                    found[told] = label
    return list(found.items())


if __name__ == "__main__":
    main()
