"""Whether the query model's own embeddings, of its end token, find more than the packaged encoder's.

    python -m benchmarks.end_token DATA --base MODEL.gguf [--sets squad nq] [--pairs 6000] [--minutes 30]
        [--batch 32] [--first-layer 10] [--temperature 0.02] [--questions 500] [--passages 2000] [--seed 0]

Adapters are trained with questions and their passages of SQuAD's train part: each question against all
passages of its batch (UniRAG, Eq. 7; cosines, since raw states overflow at such temperatures). Text is cut
before the end token is put behind it, so it always stands there, and the state of the last layer at it is the
embedding. R@1, R@5 and R@20 by cosine alone, of the model as it comes, trained, and of the packaged encoder.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.models.networks.causal_lm import CausalLm, load, with_adapters
from assistant.replay.streams.datasets import ReplayPassage, ReplayQuestion, read_set
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant

QUESTION, PASSAGE = "Query: ", "Document: "
MOST_TOKENS, WARM_UP = 96, 0.1
_TESTED = {"squad": "dev", "nq": "test", "popqa": "test"}
DEPTHS = (1, 5, 20)

Vectors = npt.NDArray[np.float32]


def end_states(model: CausalLm, texts: Sequence[str], *, most_tokens: int = MOST_TOKENS) -> Tensor:
    """(n, d), each of length 1: the last layer's state at the end token, which has seen everything."""
    cut = model.tokenizer
    rows = [
        [*cut(text, add_special_tokens=False).input_ids[: most_tokens - 1], cut.eos_token_id]
        for text in texts
    ]
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, tokens in enumerate(rows):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
    causal = model.network.get_base_model() if hasattr(model.network, "get_base_model") else model.network
    states = causal.model(input_ids=ids, attention_mask=mask).last_hidden_state
    return F.normalize(states[torch.arange(len(rows)), mask.sum(1) - 1].float(), dim=1)


def loss_of(questions: Tensor, passages: Tensor, temperature: float) -> Tensor:
    """InfoNCE in nats, the mean over the questions; both (n, d), of length 1, in one order. Source: Eq. 7."""
    return F.cross_entropy(questions @ passages.T / temperature, torch.arange(len(questions)))


def pairs_of(data: Path, most: int, seed: int) -> list[tuple[str, str]]:
    """Questions with their passages; no passage twice in a row."""
    read = read_set(data, "squad", "train")
    texts = {passage.id: passage for passage in read.passages}
    able = [question for question in read.questions if question.gold and min(question.gold) in texts]
    some = random.Random(seed).sample(able, min(most, len(able)))
    return [(question.text, _told(texts[min(question.gold or ())])) for question in some]


def _told(passage: ReplayPassage) -> str:
    return f"{passage.title}: {passage.text}" if passage.title else passage.text


def train(model: CausalLm, pairs: Sequence[tuple[str, str]], arguments: argparse.Namespace) -> None:
    """Until the pairs or the minutes are over."""
    optimizer = torch.optim.AdamW(model.trained.values(), lr=arguments.learning_rate, weight_decay=0.0)
    began, steps = time.monotonic(), len(pairs) // arguments.batch
    model.network.train()
    losses: list[float] = []
    for step in range(steps):
        some = pairs[step * arguments.batch : (step + 1) * arguments.batch]
        passed = max(step / steps, (time.monotonic() - began) / (60 * arguments.minutes))
        if passed >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = arguments.learning_rate * min((step + 1) / (WARM_UP * steps), 1 - passed)
        with torch.autocast("cpu", torch.bfloat16):
            questions = end_states(model, [QUESTION + question for question, _ in some])
            passages = end_states(model, [PASSAGE + passage for _, passage in some])
        loss = loss_of(questions, passages, arguments.temperature)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.trained.values(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
        if (step + 1) % 10 == 0:
            passed_s = time.monotonic() - began
            print(
                f"step {step + 1} of {steps}, loss {np.mean(losses[-10:]):.3f}, {passed_s:.0f} s", flush=True
            )
    model.network.eval()


def recalls(
    embed: Callable[[Sequence[str], str], Vectors],
    passages: Sequence[ReplayPassage],
    questions: Sequence[ReplayQuestion],
) -> list[float]:
    """R@1, R@5 and R@20 in percent. embed: texts, and what stands before each."""
    places = {passage.id: place for place, passage in enumerate(passages)}
    told, asked = embed([*map(_told, passages)], PASSAGE), embed([q.text for q in questions], QUESTION)
    orders = np.argsort(-(asked @ told.T), axis=1, kind="stable")[:, : max(DEPTHS)]
    right = [{places[name] for name in question.gold or ()} for question in questions]
    return [
        100
        * float(
            np.mean([not gold.isdisjoint(order[:depth]) for gold, order in zip(right, orders, strict=True)])
        )
        for depth in DEPTHS
    ]


@torch.no_grad()
def _by(model: CausalLm, texts: Sequence[str], before: str) -> Vectors:
    parts = [texts[at : at + 32] for at in range(0, len(texts), 32)]
    with torch.autocast("cpu", torch.bfloat16):
        found = [end_states(model, [before + text for text in part]).numpy() for part in parts]
    return np.concatenate(found)


def drawn(
    data: Path, name: str, questions: int, most: int
) -> tuple[list[ReplayPassage], list[ReplayQuestion]]:
    """Some questions, and so many passages with theirs among them."""
    read, draw = read_set(data, name, _TESTED[name]), random.Random(name)  # type: ignore[arg-type]
    known = {passage.id for passage in read.passages}
    chosen = draw.sample([q for q in read.questions if q.gold and q.gold <= known], questions)
    gold = {passage for question in chosen for passage in question.gold or ()}
    others = [passage.id for passage in read.passages if passage.id not in gold]
    kept = gold | set(draw.sample(others, min(len(others), max(0, most - len(gold)))))
    return [passage for passage in read.passages if passage.id in kept], chosen


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--base", type=Path, required=True, metavar="MODEL")
    parser.add_argument("--sets", nargs="+", default=["squad", "nq"], choices=_TESTED)
    parser.add_argument("--pairs", type=int, default=6_000)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--first-layer", type=int, default=10)
    parser.add_argument("--learning-rate", type=float, default=2e-4)
    parser.add_argument("--temperature", type=float, default=0.02)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--passages", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    base = load(arguments.base)
    base.network.to(torch.bfloat16)
    rank, first = arguments.rank, arguments.first_layer
    model = with_adapters(base, rank=rank, alpha=4 * rank, first_layer=first)
    sets = {
        name: drawn(arguments.data, name, arguments.questions, arguments.passages) for name in arguments.sets
    }
    rows = {name: {"as it comes": recalls(lambda *t: _by(model, *t), *parts)} for name, parts in sets.items()}
    train(model, pairs_of(arguments.data, arguments.pairs, arguments.seed), arguments)
    with tempfile.TemporaryDirectory() as folder:
        places = find_locations(os.environ, data=folder)
        with closing(Assistant(Settings(), places, offline=True)) as assistant:
            encoder = assistant.search.encoder

            def packaged(texts: Sequence[str], before: str) -> Vectors:
                encode = encoder.encode_queries if before == QUESTION else encoder.encode_passages
                return encode(list(texts))

            for name, parts in sets.items():
                rows[name]["trained"] = recalls(lambda *t: _by(model, *t), *parts)
                rows[name]["packaged encoder"] = recalls(packaged, *parts)
    for name, (passages, questions) in sets.items():
        print(f"{name}: {len(questions)} questions, {len(passages)} passages")
        for way, found in rows[name].items():
            cells = "  ".join(f"R@{depth} {value:5.1f}" for depth, value in zip(DEPTHS, found, strict=True))
            print(f"  {way:17} {cells}", flush=True)


if __name__ == "__main__":
    main()
