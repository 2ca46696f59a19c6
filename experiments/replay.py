"""vouch replay, with methods that are compared with the product's and users who say right and wrong things.

    python -m experiments.replay SET ... [--method query2doc, query2doc:0.8, query-rewrite, rafe or tent]
        [--user-feedback] ...

All other arguments are those of `vouch replay`. The methods:

    query2doc      searched with a passage that a chat model makes up; with a number, a simulated one, which
                   is right so often
    query-rewrite  searched with a chat model's rewrites; or a simulated one's
    rafe           rewrites by templates that a policy learns to choose
    tent           the query side adapts by entropy
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from agents.base.interfaces import Encoder, Vectors
from agents.models.encoders.two_halves import TwoHalves
from assistant.cli import run
from assistant.commands.replay.command import command
from assistant.replay.methods.choice import OTHERS, MethodChoice, MethodParts, OtherMethod
from assistant.replay.methods.method import Method
from assistant.replay.runs.replay import Replay
from experiments.feedback import said_after
from experiments.methods import query2doc, query_rewrite
from experiments.methods.query2doc import Query2Doc
from experiments.methods.query_rewrite import QueryRewrite
from experiments.methods.rafe import Rafe
from experiments.methods.simulated_writers import SimulatedDocuments, SimulatedRewrites
from experiments.methods.tent import Tent
from experiments.methods.writers import ChatWriter


def main() -> None:
    """Runs the command."""
    take_part()
    sys.exit(run(["replay", *sys.argv[1:]]))


def take_part() -> None:
    """Has the replays of this process know the methods and the users."""
    OTHERS.update(METHODS)
    Replay.said_after = staticmethod(said_after)
    if all(parameter.name != "user_feedback" for parameter in command.params):
        command.params.append(
            click.Option(
                ["--user-feedback"], is_flag=True, help="Users say right and wrong things after answers."
            )
        )


def _query2doc(choice: MethodChoice, parts: MethodParts) -> Method:
    if choice.quality is None:
        return Query2Doc(_given_back(query2doc.chat_writer(parts.chat()), parts))
    return Query2Doc(
        SimulatedDocuments(choice.quality, parts.seed, questions=parts.questions, passages=parts.passages)
    )


def _query_rewrite(choice: MethodChoice, parts: MethodParts) -> Method:
    if choice.quality is None:
        return QueryRewrite(_given_back(query_rewrite.chat_writer(parts.chat()), parts))
    return QueryRewrite(
        SimulatedRewrites(choice.quality, parts.seed, questions=parts.questions, passages=parts.passages)
    )


def _given_back(writer: ChatWriter, parts: MethodParts) -> ChatWriter:
    parts.at_end(writer.close)
    return writer


def _rafe(_choice: MethodChoice, parts: MethodParts) -> Method:
    return Rafe(seed=parts.seed)


def _tent(_choice: MethodChoice, parts: MethodParts) -> Method:
    os.environ.setdefault("OMP_NUM_THREADS", str(parts.threads))  # torch, which comes now, heeds it
    from assistant.learning.recipes.retriever.network import load_network
    from experiments.methods.entropy_minimisation import EntropyMinimisation

    adapting = AdaptingFirstHalf(EntropyMinimisation(load_network(parts.start)), parts.encoder)
    return Tent(adapting, parts.vectors_of)


class AdaptingFirstHalf:
    """Adapts what can be trained of an encoder, and encodes with the whole."""

    def __init__(self, adapting: Any, encoder: Encoder) -> None:
        self._adapting, self._encoder = adapting, encoder

    def encode(self, texts: Sequence[str]) -> Vectors:
        first: Vectors = self._adapting.encode(texts)
        return self._encoder.beside(first, texts) if isinstance(self._encoder, TwoHalves) else first

    def step(self, texts: Sequence[str], documents: Sequence[Vectors]) -> float:
        """See `Adapting`; documents: as vectors of the first half."""
        entropy: float = self._adapting.step(texts, documents)
        return entropy


METHODS = {
    "query2doc": OtherMethod(_query2doc, writes=True),
    "query-rewrite": OtherMethod(_query_rewrite, writes=True),
    "rafe": OtherMethod(_rafe, learns_by_searching=True),
    "tent": OtherMethod(_tent, learns_by_searching=True),
}


if __name__ == "__main__":
    main()
