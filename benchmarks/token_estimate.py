"""How far the estimate of `agents/base/token_budget.py` lies above the true count, over several tokenizers.

    pip install bpe-openai mistral-common        # in an environment of its own; both bring their vocabularies
    python -m benchmarks.token_estimate COLLECTION.jsonl.gz ... [--texts 400]

Prints for each tokenizer and collection: texts, the ratio of estimate and count (least, median, most), how
many texts were estimated too low, and the least ratio of five texts together, as a request holds them.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from agents.base.token_budget import estimated_tokens

SHORTEST = 40  # characters


def counters() -> dict[str, Callable[[str], int]]:
    """The tokenizers that are installed."""
    found: dict[str, Callable[[str], int]] = {}
    if importlib.util.find_spec("bpe_openai"):
        import bpe_openai

        for name in ("cl100k_base", "o200k_base"):
            found[name] = partial(_count, bpe_openai.get_encoding(name))
    if importlib.util.find_spec("mistral_common"):
        import mistral_common
        from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        data = Path(mistral_common.__file__).parent / "data"
        pieces = SentencePieceTokenizer(str(data / "tokenizer.model.v1"))
        tekken = Tekkenizer.from_file(str(data / "tekken_240911.json"))
        found["mistral v1"] = lambda text: len(pieces.encode(text, bos=False, eos=False))
        found["tekken"] = lambda text: len(tekken.encode(text, bos=False, eos=False))
    return found


def _count(encoding: Any, text: str) -> int:
    return len(encoding.encode(text))


def texts_of(value: object) -> Iterator[str]:
    if isinstance(value, str) and len(value) >= SHORTEST:
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_of(item)


def sample(path: Path, count: int) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        texts = list(dict.fromkeys(text for line in lines for text in texts_of(json.loads(line))))
    return random.Random(0).sample(texts, min(count, len(texts)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", nargs="+", type=Path)
    parser.add_argument("--texts", type=int, default=400)
    given = parser.parse_args()
    for path in given.collections:
        texts = sample(path, given.texts)
        estimates = [estimated_tokens(text) for text in texts]
        for name, count in counters().items():
            counts = [count(text) for text in texts]
            ratios = [e / c for e, c in zip(estimates, counts, strict=True)]
            fives = [sum(estimates[i : i + 5]) / sum(counts[i : i + 5]) for i in range(0, len(texts) - 4, 5)]
            print(
                f"{path.parent.name}/{path.name} {name}: {len(texts)} texts, "
                f"ratio {min(ratios):.2f} {median(ratios):.2f} {max(ratios):.2f}, "
                f"too low {sum(r < 1 for r in ratios)}, five together {min(fives):.2f}"
            )


if __name__ == "__main__":
    main()
