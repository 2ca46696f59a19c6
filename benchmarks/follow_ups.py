"""Whether a question that was made to stand alone finds what a follow-up asks for.

    python -m benchmarks.follow_ups DATA [--model MODEL.gguf --adapters ADAPTERS.gguf] [--part test]
        [--sets canard ikat mtrag inscit doc2dial everyday documents] [--limit 250] [--threads 1]
        [--seed 0] [--cold]

Of each set, questions behind others are searched among its passages (for canard and ikat: all answers of the
part; for everyday: all messages), by the product's own search, in these ways:

    raw       the question as it was typed
    before    with the last question and the first words of its answer, as `QueryAugmenter` makes it
    both      raw and before, each passage by its better score: a chat where nothing is rewritten in time
    rewrite   as the model makes it stand alone; raw where it says that it does
    three     raw, before and rewrite, each passage by its best score
    two       before and rewrite, likewise: a chat where the rewrite comes in time
    ranks     both and rewrite by reciprocal ranks
    gold      as a person made it stand alone, where the set has that

R@5: a right passage is among the first five. nDCG@3: one gain for each right one. Differences to `both` are
paired, with 95 % intervals by bootstrap. closed: the share of the way from raw to gold. ROUGE-1 recall,
exact match and BLEU of the corpus compare the words of raw and rewrite with gold's. Milliseconds are those of
one rewrite; what was said before is read ahead, as a chat does when it has answered, unless --cold says
otherwise.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np

from agents.backends.query_model import QueryModel
from agents.base.fusion import reciprocal_ranks
from agents.base.interfaces import Exchange
from agents.base.memory_page import answered
from agents.retrieval.query_augmenter import QueryAugmenter
from agents.retrieval.retriever import best_of
from assistant.replay.streams.datasets import ReplayPassage
from assistant.replay.streams.follow_ups import SETS as OF_CONVERSATIONS
from assistant.replay.streams.follow_ups import AskedBehind, read_conversations
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.judged_corpus import add_passages
from benchmarks.questions import interval, normalised_answer
from training.dialogue.measures import bleu
from training.query_model.rewrites import OWN_DATA

SETS = (*OF_CONVERSATIONS, "everyday", "documents")
WAYS = ("raw", "before", "both", "rewrite", "three", "two", "ranks", "gold")
_CITED = "[1] "  # so that an answer counts as one, in the chat's form: its first words
_TOKEN = re.compile(r"\w+|[^\w\s]")
_IN_TIME_MS = 400  # the default that a turn waits


def read_set(data: Path, name: str, part: str) -> tuple[list[ReplayPassage], list[AskedBehind]]:
    """Passages and questions of one set."""
    if name in OF_CONVERSATIONS:
        read = read_conversations(name, data, part)
        return list(read.passages), list(read.asked)
    return _everyday(part) if name == "everyday" else _documents(part)


def _records(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _everyday(part: str) -> tuple[list[ReplayPassage], list[AskedBehind]]:
    passages, asked = [], []
    for file in sorted((OWN_DATA / "everyday").glob(f"{part}-*.jsonl")):
        for talk in _records(file):
            passages += [
                ReplayPassage(id=f"{talk['id']}/{n}", title="", text=said["t"])
                for n, said in enumerate(talk["says"])
            ]
            for ask in talk["asks"]:
                if ask["kind"] == "followup" and "from" in ask:
                    before = talk["asks"][ask["prev"]]
                    earlier = ((before["q"], before.get("a", "")),)
                    right = frozenset({f"{talk['id']}/{ask['from']}"})
                    asked.append(AskedBehind(ask["q"], earlier, right, ask["alone"]))
    return passages, asked


def _documents(part: str) -> tuple[list[ReplayPassage], list[AskedBehind]]:
    folder = OWN_DATA / "documents"
    questions = {each["id"]: each for each in _records(folder / "questions.jsonl") if each["split"] == part}
    names = {each["doc"] for each in questions.values()}
    passages = [
        ReplayPassage(id=each["id"], title=each.get("title", ""), text=each["text"])
        for each in _records(folder / "passages.jsonl")
        if each["doc"] in names
    ]
    asked = [
        AskedBehind(
            each["q"],
            ((questions[each["prev"]]["q"], questions[each["prev"]].get("answer", "")),),
            frozenset({each["passage"]}),
            each["alone"],
        )
        for each in questions.values()
        if each.get("prev") in questions
    ]
    return passages, asked


def at_five(found: Sequence[str], right: frozenset[str]) -> float:
    return float(bool(right.intersection(found[:5])))


def ndcg_three(found: Sequence[str], right: frozenset[str]) -> float:
    gains = sum(1 / math.log2(rank + 1) for rank, each in enumerate(found[:3], start=1) if each in right)
    return gains / sum(1 / math.log2(rank + 1) for rank in range(1, min(3, len(right)) + 1))


def unigram_recall(written: str, gold: str) -> float:
    """ROUGE-1: the share of gold's words that were written."""
    wanted = Counter(normalised_answer(gold).split())
    shared = wanted & Counter(normalised_answer(written).split())
    return sum(shared.values()) / max(1, sum(wanted.values()))


def measure(
    assistant: Assistant, name: str, asked: Sequence[AskedBehind], model: QueryModel | None, *, is_cold: bool
) -> None:
    space = assistant.search.spaces.of(assistant.stores.journal.user_id("ann"))
    retriever = assistant.search.searching.retriever

    def found(*queries: str) -> list[str]:
        return [c.passage.source for c in best_of([retriever.retrieve(q, space) for q in queries]).candidates]

    scores: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    words = list[tuple[str, str, str]]()  # of question, rewrite and gold
    waits, anew = list[float](), 0
    for each in asked:
        said = [Exchange(q, q, _CITED + a if a else "") for q, a in each.earlier]
        before = QueryAugmenter().augment(each.question, said).text
        ways = {"raw": found(each.question), "before": found(before), "both": found(each.question, before)}
        if each.gold:
            ways["gold"] = found(each.gold)
        if model:
            earlier = [(one.message, answered(one)) for one in said]
            if not is_cold:
                model.read_ahead(earlier).result()
            began = time.perf_counter()
            alone = model.begin(each.question, earlier).result()
            waits.append((time.perf_counter() - began) * 1000)
            anew += bool(alone)
            ways["rewrite"] = found(alone) if alone else ways["raw"]
            ways["three"] = found(each.question, before, alone) if alone else ways["both"]
            ways["two"] = found(before, alone) if alone else ways["both"]
            ways["ranks"] = _joined(ways["both"], ways["rewrite"]) if alone else ways["both"]
            if each.gold:
                told = alone or each.question
                words.append((each.question, told, each.gold))
        for way, order in ways.items():
            scores[way].append((at_five(order, each.right), ndcg_three(order, each.right)))
    print(f"{name}, {len(asked)} follow-ups")
    means = {way: np.mean(of_way, axis=0) for way, of_way in scores.items() if of_way}
    for way, mean in means.items():
        line = f"  {way:8} R@5 {mean[0] * 100:5.1f}  nDCG@3 {mean[1] * 100:5.1f}"
        if way in ("rewrite", "three", "two", "ranks"):
            more = [np.array(scores[way])[:, n] - np.array(scores["both"])[:, n] for n in (0, 1)]
            spans = [interval(differences, seed=0) for differences in more]
            line += "  against both " + ", ".join(
                f"{differences.mean() * 100:+.1f} ({low * 100:+.1f} to {high * 100:+.1f})"
                for differences, (low, high) in zip(more, spans, strict=True)
            )
        if "gold" in means and way != "gold":
            way_closed = (mean - means["raw"]) / np.maximum(means["gold"] - means["raw"], 1e-9)
            line += f"  closed {way_closed[0] * 100:.0f} %, {way_closed[1] * 100:.0f} %"
        print(line, flush=True)
    if waits:
        fifths = quantiles(waits, n=20)
        in_time = np.mean(np.array(waits) <= _IN_TIME_MS) * 100
        print(
            f"  rewritten {anew}; ms p50 {median(waits):.0f}, p95 {fifths[-1]:.0f}; "
            f"{in_time:.0f} % within {_IN_TIME_MS} ms"
        )
    if words:
        raw, rewritten, gold = zip(*words, strict=True)
        for way, texts in (("raw", raw), ("rewrite", rewritten)):
            print(f"  {way:8} {_alike(texts, gold)}", flush=True)


def _alike(written: Sequence[str], gold: Sequence[str]) -> str:
    pairs = list(zip(written, gold, strict=True))
    recall = np.mean([unigram_recall(*pair) for pair in pairs]) * 100
    exact = np.mean([normalised_answer(text) == normalised_answer(right) for text, right in pairs]) * 100
    spaced = [[" ".join(_TOKEN.findall(text)) for text in texts] for texts in (gold, written)]
    return f"ROUGE-1 recall {recall:.1f}, exact {exact:.1f}, BLEU {bleu(*spaced):.1f}"


def _joined(*rankings: Sequence[str]) -> list[str]:
    names = {name: number for number, name in enumerate(dict.fromkeys(chain(*rankings)))}
    fused = reciprocal_ranks([[names[each] for each in ranking] for ranking in rankings])
    return sorted(names, key=lambda name: -fused[names[name]])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--adapters", type=Path)
    parser.add_argument("--part", default="test", choices=("dev", "test"))
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--limit", type=int, default=250)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cold", action="store_true", help="nothing is read ahead")
    arguments = parser.parse_args()
    model = None
    if arguments.model:
        model = QueryModel(arguments.model, arguments.adapters, threads=arguments.threads)
        model.begin("and then?", [("what comes first?", "this")]).result()  # until it has started
    for name in arguments.sets:
        passages, asked = read_set(arguments.data, name, arguments.part)
        with tempfile.TemporaryDirectory() as folder:
            places = find_locations({}, data=folder)
            with closing(Assistant(Settings(), places, offline=True)) as assistant:
                add_passages(assistant, passages)
                some = random.Random(arguments.seed).sample(asked, min(arguments.limit, len(asked)))
                measure(assistant, name, some, model, is_cold=arguments.cold)


if __name__ == "__main__":
    main()
