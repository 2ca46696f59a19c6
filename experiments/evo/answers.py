"""What a month of use gains in answers: python -m experiments.evo.answers --work DIR --right .9 .7

    month of train parts -> live weights, last candidate -> questions of test parts -> five first -> answer

DIR is that of `training.relevance`. A month is that of `experiments.evo.month` without its test parts: 1,300
questions in a drawn order. Behind it all questions of the test parts of everyday and documents are later
ones. The built-in model answers each from the five first of an order, without what a chat puts before them.
An answer is right where it is sure and the words of the data stand before its first citation. Gains are over
the fixed mix, by question the mean of all months, with 95 % intervals over questions.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import torch

from agents.base.chat_interfaces import ChatModel, ReplyRequest, Source
from agents.base.interfaces import Candidate
from agents.retrieval.relevance import Relevance
from assistant.replay.storage.data_set_store import Names
from assistant.wiring.assistant import Assistant
from benchmarks.everyday_chat import outcome
from experiments.evo.month import Ended, month, rounds
from experiments.evo.stream import SHOWN, shown
from training.examples import documents, everyday
from training.relevance import MIX, SETS, Ranking, assistant_at, rankings

TAUGHT = {"everyday train": 750, "documents train": 300, "locomo": 250}
LATER = ("everyday test", "documents test")


class Asked:
    """A question whose answer is known, with what was found for it in the order of its ranking."""

    def __init__(
        self, ranking: Ranking, text: str, wanted: str, found: Sequence[Candidate], chat: ChatModel
    ) -> None:
        self.ranking, self._text, self._wanted = ranking, text, wanted
        self._found, self._chat = found, chat
        self._read: dict[tuple[int, ...], bool] = {}

    def first(self, relevance: Relevance) -> tuple[int, ...]:
        """The places of those that the answer is made from."""
        return tuple(self.ranking.order(relevance)[:SHOWN].tolist())

    def is_right(self, relevance: Relevance) -> bool:
        """Whether the answer is."""
        if (first := self.first(relevance)) not in self._read:
            sources = (Source(n, self._found[i].passage) for n, i in enumerate(first, start=1))
            request = ReplyRequest((), self._text, self._text, tuple(sources))
            self._read[first] = outcome(asyncio.run(_said(self._chat, request)), self._wanted) == "right"
        return self._read[first]


async def _said(chat: ChatModel, request: ReplyRequest) -> str:
    return "".join([str(piece) async for piece in chat.stream(request)])


def answers() -> dict[str, str]:
    """The words that are wanted, by the questions of the test parts."""
    told = {
        f"{talk.id}?{i}": asked.span
        for talk in everyday.undated("test")
        for i, asked in enumerate(talk.questions)
    }
    return told | {each["id"]: each["answer"] for each in documents.questions("test")}


def asked_later(assistant: Assistant, name: str, work: Path, most: int | None) -> Iterator[Asked]:
    """The questions of a test part, or so many of them; searched again for the texts that were found.

    Raises ValueError where another search made the rankings.
    """
    pairs = list(zip(SETS[name](Path()).questions, rankings(name, Path(), work), strict=True))
    wanted, names = answers(), Names.of_store(work / f"{name} store")
    for question, ranking in pairs if most is None else random.Random(1).sample(pairs, most):
        space = assistant.search.spaces.of(assistant.stores.journal.user_id(question.user))
        found = assistant.search.searching.retriever.retrieve(question.text, space).candidates
        gold = names.as_stored(question).gold or ()
        if [names.of(each.passage) in gold for each in found] != (ranking.evidence >= 0).tolist():
            raise ValueError(f"{question.id}: delete {work / name}.npz, which another search made")
        yield Asked(ranking, question.text, wanted[question.id], found, assistant.models.chat_model)


def row(right: float, name: str, some: Sequence[Asked], last: Mapping[int, Ended]) -> str:
    """What the weights of all months gain on these questions. last: each month's last round, by its seed."""

    def gained(weights: Sequence[Relevance]) -> str:
        return shown(np.array([np.mean([q.is_right(w) for w in weights]) - q.is_right(MIX) for q in some]))

    candidates = [ended.candidate for ended in last.values()]
    recall = [np.mean([q.ranking.recall(w, 5) for w in candidates]) - q.ranking.recall(MIX, 5) for q in some]
    moved = np.mean([set(q.first(w)) != set(q.first(MIX)) for w in candidates for q in some])
    before, live = np.mean([q.is_right(MIX) for q in some]), gained([e.live for e in last.values()])
    cells = f"{before:.4f} | {live} | {gained(candidates)} | {shown(np.array(recall))} | {moved:.3f}"
    return f"| {right} | {name} | {len(some)} | {cells} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--right", type=float, nargs="+", default=(0.9, 0.7))
    parser.add_argument("--months", type=int, default=3)
    parser.add_argument("--questions", type=int, help="of each part, drawn; all where it is left out")
    told = parser.parse_args()
    torch.set_num_threads(1)
    last: dict[float, dict[int, Ended]] = {right: {} for right in told.right}
    for right in told.right:
        for seed in range(told.months):
            every = list(rounds(month(told.work, seed, TAUGHT), right=right, seed=seed))
            last[right][seed] = every[-1]
            live = sum(ended.came.promotion.is_promoted for ended in every)
            print(f"right {right}, month {seed}: {live} of {len(every)} rounds live", flush=True)
    print("\n| right | questions of | all | answers right | live | last candidate | its R@5 | other fives |")
    print("| ---: | --- | ---: | ---: | --- | --- | --- | ---: |")
    for name in LATER:
        with closing(assistant_at(told.work / f"{name} store")) as assistant:
            some = list(asked_later(assistant, name, told.work, told.questions))
            for right in told.right:
                print(row(right, name, some, last[right]), flush=True)


if __name__ == "__main__":
    main()
