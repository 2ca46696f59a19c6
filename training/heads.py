"""Trains the linear heads: python -m training.heads [--out FOLDER] [--test]

    data/messages, train-* -> fifteen labels, profile, secret
    the same, and all that is said and asked in data/everyday and data/lookalikes -> orders to the memory
    data/lists, questions of the same two, messages that ask nothing -> whether several things are asked for
    the same, data/languages (dev) and English of data/everyday -> language

Logistic regression with a squared penalty, to its optimum, so a run gives the same weights again. The dev
part of data/messages chose the penalty and the threshold; --test reports its test part as well.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from torch.nn.functional import cross_entropy

from agents.languages.signs import ASKING, LABELS, ORDERS, SEVERAL, Signs
from agents.models.encoders.multilingual import MultilingualEncoder
from agents.models.encoders.prepared import MULTILINGUAL, prepare_encoder
from agents.models.heads import ENGLISH, FILE, SHIPPED, Floats, LanguageHeads, features, of_script
from assistant.settings.locations import find_locations
from training.examples import everyday

DATA = Path(__file__).parents[1] / "data"
_PENALTY = 0.1  # of the sum of losses, on half the squared weights
_LANGUAGE_PENALTY = 0.01
_OTHER_FROM = 0.3  # probability from which a text is of another language than English
_EVERY = 4  # so many-th question of one thing is learned from, beside those for several
_ENGLISH = 1_500  # messages of data/everyday
_SECRET_FROM, _PROFILE_FROM, _ORDER_FROM = 0.35, 0.25, 0.58  # for the report alone; chosen on dev


def read_lines(pattern: str) -> list[dict[str, Any]]:
    """The records of files below data/."""
    files = sorted(DATA.glob(pattern))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def fitted(found: Floats, classes: Sequence[int], *, count: int, penalty: float) -> tuple[Floats, Floats]:
    """Weights (count, D) and biases (count,) that minimise Σ -log p(class) + penalty / 2 · |weights|²."""
    x, y = torch.tensor(found, dtype=torch.float64), torch.tensor(classes)
    weight = torch.zeros(count, x.shape[1], dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(count, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=500, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = cross_entropy(x @ weight.T + bias, y, reduction="sum") + penalty / 2 * weight.square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return weight.detach().float().numpy(), bias.detach().float().numpy()


def train(encoder: MultilingualEncoder, out: Path) -> None:
    """Writes the heads' weights."""
    messages = read_lines("messages/train-*.jsonl")
    found = features(encoder, [one["t"] for one in messages])
    weights: dict[str, Floats] = {}
    weights["label.weight"], weights["label.bias"] = fitted(
        found, [LABELS.index(one["l"]) for one in messages], count=len(LABELS), penalty=_PENALTY
    )
    talk = [text for folder in ("everyday", "lookalikes") for text in _said(DATA / folder)]
    weights["order.weight"], weights["order.bias"] = fitted(
        np.concatenate([found, features(encoder, talk)]),
        [ORDERS.index(one["l"]) + 1 if one["l"] in ORDERS else 0 for one in messages] + [0] * len(talk),
        count=len(ORDERS) + 1,
        penalty=_PENALTY,
    )
    weights |= _of_lists(encoder, [one["t"] for one in messages if one["l"] not in ASKING])
    for name, field in (("profile", "p"), ("secret", "s")):
        weight, bias = fitted(
            found, [int(bool(one.get(field))) for one in messages], count=2, penalty=_PENALTY
        )
        weights[f"{name}.weight"], weights[f"{name}.bias"] = weight[1:] - weight[:1], bias[1:] - bias[:1]
    told = [(one["t"], one["lang"]) for one in messages]
    told += [
        (one[field], one["lang"]) for one in read_lines("languages/dev.jsonl") for field in ("told", "asked")
    ]
    said = chain.from_iterable(
        chain((t.text for t in c.statements), (a.text for a in c.questions))
        for c in everyday.undated("train")
    )
    told += [(text, ENGLISH) for text in islice(said, _ENGLISH)]
    told = [(text, language) for text, language in told if not of_script(text)]
    languages = sorted({language for _, language in told})
    weights["language.weight"], weights["language.bias"] = fitted(
        encoder.words([text for text, _ in told]),
        [languages.index(language) for _, language in told],
        count=len(languages),
        penalty=_LANGUAGE_PENALTY,
    )
    facts = {"languages": languages, "other_from": _OTHER_FROM, "encoder": encoder.version}
    out.mkdir(parents=True, exist_ok=True)
    save_file(weights, out / FILE, metadata={"facts": json.dumps(facts)})


def _of_lists(encoder: MultilingualEncoder, others: Sequence[str]) -> dict[str, Floats]:
    """The heads of questions for several statements. others: messages that ask for none."""
    lists = read_lines("lists/train.jsonl")
    folders = (DATA / "everyday", DATA / "lookalikes")
    asked = [a.text for folder in folders for c in everyday.undated("train", folder) for a in c.questions]
    rest = [*asked[::_EVERY], *others]
    found = features(encoder, [*(one["q"] for one in lists), *rest])
    classes = [("one", *SEVERAL).index(one["wants"]) for one in lists] + [0] * len(rest)
    weight, bias = fitted(found, classes, count=len(SEVERAL) + 1, penalty=_PENALTY)
    is_open = [int(one.get("open", False)) for one in lists] + [0] * len(rest)
    open_weight, open_bias = fitted(found, is_open, count=2, penalty=_PENALTY)
    return {
        "several.weight": weight,
        "several.bias": bias,
        "open.weight": open_weight[1:] - open_weight[:1],
        "open.bias": open_bias[1:] - open_bias[:1],
    }


def _said(folder: Path) -> Iterator[str]:
    """All messages and questions of the conversations to learn from."""
    for c in everyday.undated("train", folder):
        yield from (told.text for message in c.messages for told in message)
        yield from (asked.text for asked in c.questions)


def report(heads: LanguageHeads, part: str) -> None:
    """Prints what the heads make of a part of data/messages, by language."""
    messages = read_lines(f"messages/{part}-*.jsonl")
    signs = heads.signs([one["t"] for one in messages])
    rows: Counter[tuple[str, str]] = Counter()
    for one, sign in zip(messages, signs, strict=True):
        is_english = one["lang"] == ENGLISH
        for group in ("all", "English" if is_english else "others", one["lang"]):
            rows[group, "lines"] += 1
            rows[group, "english"] += heads.is_english(one["t"]) == is_english
            rows[group, "right"] += sign.label == one["l"]
            rows[group, "language"] += _language(heads, one["t"]) == one["lang"]
    print(f"{part}: | language | lines | label right | English or not, right | language right |")
    for group in ("all", "English", "others", *sorted({one["lang"] for one in messages})):
        lines = rows[group, "lines"]
        shares = (f"{rows[group, what] / lines:.3f}" for what in ("right", "english", "language"))
        print(f"| {group} | {lines} | {' | '.join(shares)} |")
    _report_flag("secret", _SECRET_FROM, [bool(m.get("s")) for m in messages], [s.secret for s in signs])
    _report_flag("profile", _PROFILE_FROM, [bool(m.get("p")) for m in messages], [s.profile for s in signs])
    _report_flag("order", _ORDER_FROM, [m["l"] in ORDERS for m in messages], [_order(s) for s in signs])


def _language(heads: LanguageHeads, text: str) -> str:
    return ENGLISH if heads.is_english(text) else heads.language(text)


def _order(signs: Signs) -> float:
    return signs.of(ORDERS)


def _report_flag(name: str, least: float, wanted: Sequence[bool], chances: Sequence[float]) -> None:
    is_wanted, taken = np.array(wanted), np.array(chances) >= least
    recall, precision, others = taken[is_wanted].mean(), is_wanted[taken].mean(), taken[~is_wanted].mean()
    print(f"{name} from {least}: recall {recall:.3f}, precision {precision:.3f}, of others {others:.3%}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--test", action="store_true", help="report the test part as well")
    arguments = parser.parse_args()
    cache = find_locations(os.environ).cache / "encoders"
    encoder = MultilingualEncoder(prepare_encoder(MULTILINGUAL, cache, tell=print, offline=True), threads=1)
    train(encoder, arguments.out)
    heads = LanguageHeads(encoder, arguments.out)
    report(heads, "dev")
    for text in chain.from_iterable((t.text for t in c.statements) for c in everyday.undated("calibration")):
        if not heads.is_english(text):
            print("taken for another language:", text)
    if arguments.test:
        report(heads, "test")


if __name__ == "__main__":
    main()
