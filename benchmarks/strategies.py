"""Whether choosing how to augment a question finds more than always doing the same.

    python -m benchmarks.strategies DATA [--sets popqa timeqa nq squad] [--questions 800] [--passages 6000]
        [--seeds 1 2 3] [--model MODEL.gguf --threads 1]

Four strategies. Without --model none asks a model to write: the question; its content words (paraphrase);
with the words that tell the first passages found from others, RM3 (expand); with words for the kind of thing
that is asked for, without names (abstract). With it, a chat model run by llama.cpp writes: the question in
other words, a passage that might answer, which is put behind the question, and a broader question.

Each is searched by vectors and by BM25, fused by reciprocal ranks. Measured of each are the rank of the first
passage known to answer, and how likely the small reader finds the answer in the first passage. From half of
the questions, drawn by the seed, a linear choice on the question's vector learns by `agents.losses.strategy`;
of the other half are told R@5 and whether an answer stands in the first five: never, always one, the choice
(both signals, each alone), several fused, and the best for each.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import tempfile
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from agents.backends.llamacpp_child import end, start
from agents.base.fusion import reciprocal_ranks
from agents.base.interfaces import Encoder, Reader
from agents.losses.strategy import STRATEGIES, best_action, branches, selection, targets
from assistant.replay.metrics.metrics import has_answer
from assistant.replay.streams.datasets import ReplayPassage, ReplayQuestion, read_set
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from experiments.methods.rafe import content_words, with_sought
from training.examples.passage_search import PassageSearch

SPLITS = {"popqa": "test", "timeqa": "test", "nq": "test", "squad": "dev"}
DEEP, FED_BACK, TERMS = 100, 5, 10
DEPTH = 5
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"(?<=\s)[A-Z\d][\w'-]*")
_NOT_FOUND = 0.0
SIGNALS = {"chosen": ("rank", "likelihood"), "by rank": ("rank",), "by likelihood": ("likelihood",)}

Numbers = npt.NDArray[np.float32]


def fused(rankings: Sequence[Sequence[int]]) -> list[int]:
    """Several orders of passages as one; equals by their best rank, then by place."""
    scores = reciprocal_ranks(rankings)
    best = {place: min(r.index(place) for r in rankings if place in r) for place in scores}
    return sorted(scores, key=lambda place: (-scores[place], best[place], place))


class Corpus:
    """Passages that are searched by vectors and by words."""

    def __init__(self, passages: Sequence[ReplayPassage], encoder: Encoder) -> None:
        self.passages, self._encoder = passages, encoder
        self.texts = [f"{each.title}\n{each.text}" if each.title else each.text for each in passages]
        self._words = PassageSearch(self.texts)
        self._vectors = np.concatenate(
            [encoder.encode_passages(self.texts[i : i + 256]) for i in range(0, len(self.texts), 256)]
        )
        self._counts = [Counter(_WORD.findall(text.casefold())) for text in self.texts]
        self._in = Counter(word for counts in self._counts for word in counts)

    def search(self, text: str) -> list[int]:
        """The places of the first passages."""
        cosines = self._vectors @ self._encoder.encode_queries([text])[0]
        nearest = np.argsort(-cosines, kind="stable")[:DEEP].tolist()
        return fused([nearest, self._words.ranked(text, DEEP)])[:DEEP]

    def expanded(self, question: str, found: Sequence[int]) -> str:
        """With the terms that the first passages have and others have not (RM3, Abdul-Jaleel et al. 2004)."""
        asked = set(_WORD.findall(question.casefold()))
        weights: Counter[str] = Counter()
        for rank, place in enumerate(found[:FED_BACK], start=1):
            counts = self._counts[place]
            for word, count in counts.items():
                if word not in asked and len(word) > 2:
                    rarity = math.log(len(self.texts) / self._in[word])
                    weights[word] += count / counts.total() * rarity / rank  # type: ignore[assignment]
        return " ".join([question, *(word for word, _ in weights.most_common(TERMS))])


@dataclass(frozen=True)
class Tried:
    """One question under every strategy."""

    vector: Numbers
    found: tuple[tuple[int, ...], ...]  # places, by strategy
    ranks: tuple[float, ...]  # 1 / rank
    likelihoods: tuple[float, ...]
    holds: tuple[bool, ...]  # an answer stands in the first five


Augments = Callable[[Corpus, str, Sequence[int]], Sequence[str]]  # paraphrased, expanded, abstract


def by_rule(corpus: Corpus, text: str, original: Sequence[int]) -> list[str]:
    """Without a model."""
    nameless = " ".join(_NAME.sub(" ", text).split())
    return [content_words(text), corpus.expanded(text, original), with_sought(nameless)]


class Writer:
    """A chat model that writes augmentations."""

    _ASKED = (
        ("Write this question again in other words. Keep all names. Write the question only.", 32),
        ("Write one or two sentences that answer this question, as an encyclopaedia would.", 64),
        ("Write a broader question behind this question. Write the question only.", 32),
    )

    def __init__(self, model: Path, threads: int) -> None:
        self._child = start(model, context_tokens=1024, threads=threads)

    def __call__(self, corpus: Corpus, text: str, original: Sequence[int]) -> list[str]:
        """See `Augments`."""
        reworded, passage, broader = (self._written(f"{wish}\n\n{text}", n) for wish, n in self._ASKED)
        return [reworded, f"{text} {passage}", broader]

    def _written(self, message: str, tokens: int) -> str:
        asked = {"messages": [{"role": "user", "content": message}], "max_tokens": tokens, "temperature": 0}
        request = urllib.request.Request(
            f"{self._child.address}/v1/chat/completions",
            json.dumps(asked).encode(),
            {"Authorization": f"Bearer {self._child.key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return " ".join(str(json.load(answer)["choices"][0]["message"]["content"]).split())

    def close(self) -> None:
        """Ends the child."""
        end(self._child.process)


def tried(
    corpus: Corpus, question: ReplayQuestion, reader: Reader, encoder: Encoder, augments: Augments
) -> Tried:
    """Searches and measures; nothing of the answer is seen before it is measured."""
    text = question.text
    original = corpus.search(text)
    found = [original, *(corpus.search(each or text) for each in augments(corpus, text, original))]
    gold = question.gold or frozenset()
    likelihoods = [
        max(reader.answer_log_probability(text, corpus.texts[places[0]], a) for a in question.answers[:2])
        for places in found
    ]
    return Tried(
        encoder.encode_queries([text])[0],
        tuple(map(tuple, found)),
        tuple(_reciprocal(corpus, places, gold) for places in found),
        tuple(likelihoods),
        tuple(_holds(corpus, places, question) for places in found),
    )


def _reciprocal(corpus: Corpus, places: Sequence[int], gold: frozenset[str]) -> float:
    ranks = (rank for rank, place in enumerate(places, start=1) if corpus.passages[place].id in gold)
    return next((1 / rank for rank in ranks), _NOT_FOUND)


def _holds(corpus: Corpus, places: Sequence[int], question: ReplayQuestion) -> bool:
    return any(has_answer(corpus.texts[place], question.answers) for place in places[:DEPTH])


def choice(taught: Sequence[Tried], signals: Sequence[str], seed: int) -> torch.nn.Linear:
    """A linear choice on the question's vector; a fifth of the questions tells when to end."""
    torch.manual_seed(seed)
    vectors = torch.tensor(np.array([each.vector for each in taught]))
    there = torch.ones(len(taught), len(STRATEGIES), dtype=torch.bool)
    nothing = torch.zeros(len(taught), len(STRATEGIES))
    ranks = targets(torch.tensor([each.ranks for each in taught]), there)
    likely = targets(torch.tensor([each.likelihoods for each in taught]), there)
    both = (ranks if "rank" in signals else nothing, likely if "likelihood" in signals else nothing)
    ends = torch.arange(len(taught)) % 5 == 0
    head = torch.nn.Linear(vectors.shape[1], len(STRATEGIES))
    torch.nn.init.zeros_(head.weight)
    torch.nn.init.zeros_(head.bias)
    optimizer = torch.optim.AdamW(head.parameters(), lr=1e-2, weight_decay=1e-2)
    best, kept = math.inf, {name: value.clone() for name, value in head.state_dict().items()}
    for _ in range(300):
        with torch.no_grad():
            measured = float(selection(head(vectors[ends]), *(each[ends] for each in both)))
        if measured < best:
            best, kept = measured, {name: value.clone() for name, value in head.state_dict().items()}
        optimizer.zero_grad()
        selection(head(vectors[~ends]), *(each[~ends] for each in both)).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    head.load_state_dict(kept)
    return head


def figures(
    corpus: Corpus, rows: Sequence[tuple[ReplayQuestion, Tried]], taught: Sequence[Tried], seed: int
) -> dict[str, tuple[float, float]]:
    """R@5 and whether an answer stands in the first five, in percent, by way of choosing."""
    tested = [each for _, each in rows]
    vectors = torch.tensor(np.array([each.vector for each in tested]))
    ways = {f"always {name}": [n] * len(tested) for n, name in enumerate(STRATEGIES)}
    for name, signals in SIGNALS.items():
        given = choice(taught, signals, seed)(vectors).detach().softmax(1).tolist()
        ways[name] = [best_action(row) for row in given]
        if name == "chosen":
            likelier = [(0, *branches(row)) for row in given]
    ways["best of each"] = [_best(each) for each in tested]
    told = {}
    for name, actions in ways.items():
        pairs = list(zip(tested, actions, strict=True))
        told[name] = _percent([(e.ranks[a] >= 1 / DEPTH, e.holds[a]) for e, a in pairs])
    together = []
    for (question, each), actions in zip(rows, likelier, strict=True):
        places = fused([each.found[action] for action in actions])
        gold = question.gold or frozenset()
        together.append((_reciprocal(corpus, places, gold) >= 1 / DEPTH, _holds(corpus, places, question)))
    told["fused with the likelier"] = _percent(together)
    told["augmented, of the chosen"] = _percent([(action != 0, action != 0) for action in ways["chosen"]])
    return told


def _best(each: Tried) -> int:
    return max(range(len(STRATEGIES)), key=lambda action: (each.ranks[action], each.holds[action], -action))


def _percent(rows: Sequence[tuple[bool, bool]]) -> tuple[float, float]:
    one, other = 100 * np.mean(rows, axis=0)
    return float(one), float(other)


def drawn(
    data: Path, name: str, questions: int, most: int
) -> tuple[list[ReplayPassage], list[ReplayQuestion]]:
    """Some questions whose passage is known, and passages with all of theirs."""
    read, draw = read_set(data, name, SPLITS[name]), random.Random(f"{name} strategies")  # type: ignore[arg-type]
    able = [question for question in read.questions if question.gold and question.answers]
    chosen = draw.sample(able, min(questions, len(able)))
    gold = {passage for question in chosen for passage in question.gold or ()}
    others = [passage for passage in read.passages if passage.id not in gold]
    kept = {each.id for each in draw.sample(others, min(len(others), max(0, most - len(gold))))} | gold
    return [passage for passage in read.passages if passage.id in kept], chosen


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", default=list(SPLITS), choices=SPLITS)
    parser.add_argument("--questions", type=int, default=800)
    parser.add_argument("--passages", type=int, default=6_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--model", type=Path, help="a GGUF file; else the augmentations are by rule")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    writer = Writer(arguments.model, arguments.threads) if arguments.model else None
    with tempfile.TemporaryDirectory() as folder:
        places = find_locations(os.environ, data=folder)
        with closing(Assistant(Settings(), places, offline=True)) as assistant:
            for name in arguments.sets:
                passages, questions = drawn(arguments.data, name, arguments.questions, arguments.passages)
                corpus = Corpus(passages, assistant.search.encoder)
                parts = assistant.models.reader, assistant.search.encoder, writer or by_rule
                every = [(question, tried(corpus, question, *parts)) for question in questions]
                report(name, corpus, every, arguments.seeds)
    if writer:
        writer.close()


def report(
    name: str, corpus: Corpus, every: Sequence[tuple[ReplayQuestion, Tried]], seeds: Sequence[int]
) -> None:
    """One set's table, over the seeds."""
    found = []
    for seed in seeds:
        order = random.Random(seed).sample(every, len(every))
        half = len(order) // 2
        found.append(figures(corpus, order[half:], [each for _, each in order[:half]], seed))
    print(
        f"\n{name}: {len(every)} questions, {len(corpus.passages)} passages, {len(seeds)} seeds", flush=True
    )
    for way in found[0]:
        cells = []
        for column in range(2):
            values = [row[way][column] for row in found]
            cells.append(f"{np.mean(values):5.1f} ± {np.std(values, ddof=1) if len(values) > 1 else 0:.1f}")
        print(f"  {way:<26} {'  '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
