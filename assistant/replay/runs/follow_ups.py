"""Conversations over passages: the query model as it comes, and one that learns as in a chat.

    question behind others -> made to stand alone -> searched as in a chat, measured by the set's passages
      -> its user says which passage answers it
      after an interval: those not held out -> training -> compared on the others -> live, or not

Where a user is not right, the first passage that was found and does not answer is said to answer.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from filelock import FileLock

from agents.backends.query_model import SHIPPED, QueryModel
from assistant.learning.held_out.follow_ups import FollowUpSearch, compare, earlier_of
from assistant.learning.held_out.retrieval import Comparison
from assistant.learning.recipes.query.recipe import PROGRAM, WAYS, rows_of
from assistant.learning.training_process import Further, train_in_child
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.runs.replay_assistant import FILLED_AT, ReplayClock
from assistant.replay.runs.run_progress import Watch
from assistant.replay.runs.shipped_replay import Played, ShippedReplay
from assistant.replay.runs.steps import AskedStep
from assistant.replay.storage.data_set_store import filled, store_key
from assistant.replay.storage.folder import MODEL, STORE
from assistant.replay.streams.datasets import stream
from assistant.replay.streams.follow_ups import AskedBehind, Conversations
from assistant.search.searching import Searching
from assistant.wiring.assistant import Assistant
from stores.base.passages import Passage
from stores.learning.follow_ups import FollowUp

_CITED = "[1] "  # so that an answer counts as one, in the chat's form
_SERVED = "served"


@dataclass(frozen=True)
class AskedFollowUp:
    """A question of the stream, as the store would have it, and which passages answer it."""

    follow_up: FollowUp
    right: frozenset[str]


class _Search(FollowUpSearch):
    """Searches for passages by their names in the set."""

    def __init__(self, searching: Searching, right: Callable[[FollowUp], Collection[str]]) -> None:
        """right: which passages answer."""
        super().__init__(searching.retriever, searching.spaces)
        self._right = right

    def answers(self, follow_up: FollowUp, passage: Passage) -> bool:
        return passage.external_id in self._right(follow_up)


class FollowUpReplay(ShippedReplay[FollowUp, QueryModel]):
    """Plays the conversations of one set."""

    answers, judge = "passages", "users"

    def __init__(
        self,
        plan: ReplayPlan,
        streamed: Conversations,
        folder: Path,
        *,
        base: Path,
        train: Callable[..., Path] = train_in_child,
        model: Callable[..., QueryModel] = QueryModel,
        **chat: Any,
    ) -> None:
        """base: the model that is trained with adapters. chat: see `ShippedReplay`."""
        super().__init__(plan, folder, **chat)
        self._streamed, self._base, self._train, self._model = streamed, base, train, model

    @property
    def _data(self) -> Mapping[str, Any]:
        return {
            "names": [self._streamed.name],
            "sha256": self._streamed.sha256(),
            "passages": len(self._streamed.passages),
            "questions": len(self._streamed.asked),
        }

    @property
    def _begins_with(self) -> Mapping[str, Any]:
        adapters = hashlib.sha256(SHIPPED.read_bytes()).hexdigest()
        return {"encoder": self._encoder_version, "adapters": adapters}

    @cached_property
    def _encoder_version(self) -> str:
        with closing(self._over(self._folder / MODEL)) as assistant:
            return assistant.search.wanted_encoder.version

    def turns(self, seed: int) -> list[AskedFollowUp]:
        """The stream of a seed: conversations whole, so many of them."""
        of_conversation: dict[str, list[AskedBehind]] = {}
        for each in self._streamed.asked:
            of_conversation.setdefault(each.conversation, []).append(each)
        found: list[AskedFollowUp] = []
        for first in stream(self._streamed.domains, seed=seed, first=self.plan.first):
            for each in of_conversation[first.id]:
                messages, answers = zip(*each.earlier, strict=True)
                follow_up = FollowUp(
                    turn_id=len(found) + 1,
                    user_id=0,
                    session=each.conversation,
                    question=each.question,
                    messages=messages,
                    answers=tuple(answer and f"{_CITED}{answer}" for answer in answers),
                    earlier_turns=(),
                    passages=(),
                )
                found.append(AskedFollowUp(follow_up, each.right))
        return found

    @contextmanager
    def _played(self, folder: Path, seed: int, watch: Watch) -> Iterator[Played[FollowUp, QueryModel]]:
        asked = self.turns(seed)
        right = {each.follow_up.turn_id: each.right for each in asked}
        with self._store(folder, watch) as assistant, ExitStack() as at_end:
            search = _Search(assistant.search.searching, lambda each: right[each.turn_id])
            said = _said(asked, search, accuracy=self.plan.accuracy, seed=seed)
            heard = _Search(assistant.search.searching, said)

            @cache
            def begin(served: Path) -> QueryModel:
                model = self._model(self._base, served / SHIPPED.name, threads=1)
                return at_end.enter_context(closing(model)).require_started()

            def ways(follow_up: FollowUp) -> list[str]:
                earlier = earlier_of(follow_up)
                written = begin(SHIPPED.parent).ways(follow_up.question, earlier, most=WAYS, seed=seed)
                return written.result()

            def compared(held_out: Sequence[FollowUp], live: QueryModel, candidate: QueryModel) -> Comparison:
                both = partial(_written, live), partial(_written, candidate)
                return compare(held_out, *both, heard.found, seed=seed)

            options = ("--base", str(self._base), "--adapters", str(SHIPPED))
            yield Played(
                shipped=SHIPPED.parent,
                begin=begin,
                ask=lambda number, live: _asked(asked[number].follow_up, live, search),
                lessons=lambda done: [each.follow_up for each in asked[:done]],
                rows=partial(rows_of, earlier=earlier_of, ways=ways, found=heard.found),
                compare=compared,
                training=Further(PROGRAM, {"seed": seed}, self.plan.threads, options, train=self._train),
            )

    @contextmanager
    def _store(self, folder: Path, watch: Watch) -> Iterator[Assistant]:
        """A store of the run's own, which is deleted behind it."""
        stores = self._live.cache / "replay-stores"
        stores.mkdir(parents=True, exist_ok=True)
        place = stores / store_key(self._streamed.passages, self._encoder_version)
        with FileLock(f"{place}.lock"):
            whole = filled(
                place, self._streamed.passages, self._over, clock=ReplayClock(FILLED_AT), tell=watch
            )
            shutil.rmtree(folder / STORE, ignore_errors=True)
            shutil.copytree(whole, folder / STORE)
        with closing(self._over(folder / STORE)) as assistant:
            yield assistant


def _said(
    asked: Sequence[AskedFollowUp], search: _Search, *, accuracy: float, seed: int
) -> Callable[[FollowUp], Collection[str]]:
    """What users say answers: the right passages so often; else the first found that is none of them."""
    draw = random.Random(f"{seed} users")
    said: dict[int, Collection[str] | None] = {
        each.follow_up.turn_id: each.right if draw.random() < accuracy else None for each in asked
    }

    def of(follow_up: FollowUp) -> Collection[str]:
        told = said[follow_up.turn_id]
        if told is None:
            wrong = (each for each in search.ranked(follow_up, "") if not search.answers(follow_up, each))
            told = said[follow_up.turn_id] = {next(wrong).external_id}
        return told

    return of


def _written(model: QueryModel, follow_up: FollowUp) -> str:
    return model.begin(follow_up.question, earlier_of(follow_up)).result()


def _asked(follow_up: FollowUp, live: QueryModel, search: _Search) -> AskedStep:
    began = time.monotonic()
    alone = _written(live, follow_up)
    found, seconds = search.found(follow_up, alone), time.monotonic() - began
    figures = {"follow-up R@5": float(found >= 1 / 5), "follow-up MRR": found}
    return AskedStep(
        f"{follow_up.session} {len(follow_up.messages)}",
        follow_up.question,
        "",
        figures,
        alone,
        seconds=seconds,
    )
