"""Conversations over passages: the query model as it comes, and one that learns as in a chat.

    question behind others -> made to stand alone -> searched as in a chat, measured by the set's passages
      -> its user says which passage answers it
      after an interval: those not held out -> training -> compared on the others -> live, or not

Where a user is not right, the first passage that was found and does not answer is said to answer.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import metadata
from pathlib import Path
from typing import Any

from filelock import FileLock

from agents.backends.query_model import SHIPPED, QueryModel
from assistant.learning.lineage import taught
from assistant.learning.query_learner import WAYS, rows_of
from assistant.learning.recipes.run import SETTINGS
from assistant.learning.shipped_learner import Training, train_on
from assistant.learning.trained import QUERY
from assistant.learning.training_process import train_in_child
from assistant.replay.methods.choice import FROZEN, MethodChoice
from assistant.replay.metrics.held_out_follow_ups import FollowUpSearch, compare, earlier_of
from assistant.replay.runs.in_folder import FORMAT, InFolder
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.runs.replay_assistant import FILLED_AT, ReplayClock, own_locations, own_settings
from assistant.replay.runs.run_progress import RunProgress, Watch, told_to
from assistant.replay.runs.steps import AskedStep, LearnedStep, Steps
from assistant.replay.storage.data_set_store import filled, store_key
from assistant.replay.storage.folder import MODEL, RUNS, STEPS, STORE, TRAINED, run_name
from assistant.replay.streams.datasets import stream
from assistant.replay.streams.follow_ups import AskedBehind, Conversations
from assistant.search.searching import Searching
from assistant.settings.config import Settings
from assistant.settings.locations import Locations
from assistant.wiring.assistant import Assistant
from stores.base.passages import Passage
from stores.learning.follow_ups import FollowUp

_CITED = "[1] "  # so that an answer counts as one, in the chat's form
_SERVED = "served"


@dataclass(frozen=True)
class _Asked:
    """A question of the stream, as the store would have it, and which passages answer it."""

    follow_up: FollowUp
    right: frozenset[str]


class _Search(FollowUpSearch):
    """Searches for passages by their names in the set."""

    def __init__(self, searching: Searching, right: Mapping[int, Collection[str]]) -> None:
        """right: which passages answer, by turn."""
        super().__init__(searching.retriever, searching.spaces)
        self._searching, self.right = searching, right

    def hearing(self, right: Mapping[int, Collection[str]]) -> _Search:
        """The same search, of which others are said to answer."""
        return _Search(self._searching, right)

    def answers(self, follow_up: FollowUp, passage: Passage) -> bool:
        return passage.external_id in self.right[follow_up.turn_id]


class FollowUpReplay(InFolder):
    """Plays the conversations of one set."""

    def __init__(
        self,
        plan: ReplayPlan,
        streamed: Conversations,
        folder: Path,
        *,
        settings: Settings,
        live: Locations,
        base: Path,
        offline: bool = False,
        train: Callable[..., Path] = train_in_child,
        model: Callable[..., QueryModel] = QueryModel,
    ) -> None:
        """live: of the chat, whose data is not touched. base: the model that is trained with adapters."""
        super().__init__(plan, folder, live)
        self._streamed, self._settings, self._offline = streamed, settings, offline
        self._base, self._train, self._model = base, train, model

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        plan = self.plan
        with closing(self._over(self._folder / MODEL)) as assistant:
            encoder = assistant.wanted_encoder.version
        return {
            "answers": "passages",
            "format": FORMAT,
            "vouch": metadata.version("vouch"),
            "data": {
                "names": [self._streamed.name],
                "sha256": self._streamed.sha256(),
                "passages": len(self._streamed.passages),
                "questions": len(self._streamed.asked),
            },
            "methods": [choice.label for choice in plan.played],
            "judge": {"kind": "users", "accuracy": plan.accuracy},
            "interval": plan.interval,
            "seeds": list(plan.seeds),
            "order": plan.order,
            "first": plan.first,
            "threads": plan.threads,
            "encoder": encoder,
            "adapters": hashlib.sha256(SHIPPED.read_bytes()).hexdigest(),
        }

    def _over(self, folder: Path) -> Assistant:
        settings = own_settings(self._settings, learns=False, min_judged=self.plan.min_judged)
        return Assistant(settings, own_locations(self._live, folder), offline=self._offline)

    def turns(self, seed: int) -> list[_Asked]:
        """The stream of a seed: conversations whole, in the plan's order, so many of them."""
        of_conversation: dict[str, list[AskedBehind]] = {}
        for each in self._streamed.asked:
            of_conversation.setdefault(each.conversation, []).append(each)
        found: list[_Asked] = []
        for first in stream(self._streamed.domains, order=self.plan.order, seed=seed, first=self.plan.first):
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
                found.append(_Asked(follow_up, each.right))
        return found

    def _run(
        self, choice: MethodChoice, seed: int, watch: Watch, *, name: str, earlier: Sequence[Steps]
    ) -> Steps:
        folder = self._folder / RUNS / run_name(choice.label, seed)
        folder.mkdir(parents=True, exist_ok=True)
        steps, asked = Steps(folder / STEPS), self.turns(seed)
        if len(steps.asked) == len(asked):
            return steps
        learns = choice.kind != FROZEN
        progress = RunProgress(
            watch,
            name,
            steps,
            questions=len(asked),
            interval=self.plan.interval if learns else 0,
            is_trained=learns,
            earlier=earlier,
        )
        with self._store(folder, watch) as assistant, ExitStack() as at_end:
            search = _Search(assistant.searching, {each.follow_up.turn_id: each.right for each in asked})
            make = partial(self._model, self._base, threads=1)
            rounds = _Rounds(folder / TRAINED, make, search, seed, at_end)
            rounds.go_on(steps)
            said = _said(asked, search, accuracy=self.plan.accuracy, seed=seed)
            options = ("--base", str(self._base), "--adapters", str(SHIPPED))
            training = Training({"seed": seed}, self.plan.threads, options, train=self._train)

            def train(place: Path, lessons: Sequence[FollowUp], heard: _Search) -> Path:
                def tell(done: int, of: int) -> None:
                    progress.trains({"kind": "phase", "phase": f"trying {done} of {of}"})

                rows = rows_of(taught(lessons), tell, earlier=earlier_of, ways=rounds.ways, found=heard.found)
                return told_to(
                    progress.trains,
                    train_on,
                    *(place, QUERY, rows, training),
                    tell=lambda told: None,
                )

            for done in range(len(steps.asked), len(asked)):
                is_due = learns and self.plan.interval and done and done % self.plan.interval == 0
                if is_due and not any(step.after == done for step in steps.learned):
                    began = time.monotonic()
                    facts = rounds.learn([each.follow_up for each in asked[:done]], said, train)
                    steps.note_learned(LearnedStep(done, facts, time.monotonic() - began))
                steps.note_asked(_answered(asked[done].follow_up, rounds, search))
                progress.asked(done + 1, len(asked))
        for left in (STORE, TRAINED):
            shutil.rmtree(folder / left, ignore_errors=True)
        return steps

    @contextmanager
    def _store(self, folder: Path, watch: Watch) -> Iterator[Assistant]:
        """A store of the run's own, which is deleted behind it."""
        stores = self._live.cache / "replay-stores"
        stores.mkdir(parents=True, exist_ok=True)
        with closing(self._over(self._folder / MODEL)) as assistant:
            version = assistant.wanted_encoder.version
        place = stores / store_key(self._streamed.passages, version)
        with FileLock(f"{place}.lock"):
            whole = filled(
                place, self._streamed.passages, self._over, clock=ReplayClock(FILLED_AT), tell=watch
            )
            shutil.rmtree(folder / STORE, ignore_errors=True)
            shutil.copytree(whole, folder / STORE)
        with closing(self._over(folder / STORE)) as assistant:
            yield assistant


def _said(
    asked: Sequence[_Asked], search: _Search, *, accuracy: float, seed: int
) -> Callable[[FollowUp], Collection[str]]:
    """What users say answers: the right passages so often; else the first found that is none of them."""
    draw = random.Random(f"{seed} users")
    is_right = {each.follow_up.turn_id: draw.random() < accuracy for each in asked}

    def said(follow_up: FollowUp) -> Collection[str]:
        right = search.right[follow_up.turn_id]
        if is_right[follow_up.turn_id]:
            return right
        names = (passage.external_id for passage in search.ranked(follow_up, ""))
        return {next(name for name in names if name not in right)}

    return said


class _Rounds:
    """The query model of one run, and how it learns."""

    def __init__(
        self,
        folder: Path,
        make: Callable[[Path], QueryModel],
        search: _Search,
        seed: int,
        at_end: ExitStack,
    ) -> None:
        """folder: for what is trained. make: a model, by its adapters. at_end: closes them."""
        self._folder, self._make, self._search, self._seed = folder, make, search, seed
        self._at_end = at_end
        self._shipped = self._begun(SHIPPED)
        self._live = self._shipped

    def alone(self, follow_up: FollowUp) -> str:
        """As the live one makes it stand alone; empty where it leaves it."""
        return _written(self._live, follow_up)

    def ways(self, follow_up: FollowUp) -> list[str]:
        """Ways of the shipped one."""
        earlier = earlier_of(follow_up)
        return self._shipped.ways(follow_up.question, earlier, most=WAYS, seed=self._seed).result()

    def go_on(self, steps: Steps) -> None:
        """With the model that was live behind the steps so far."""
        promoted = [step.after for step in steps.learned if step.facts.get("is_promoted")]
        if promoted:
            place = self._folder / f"after-{promoted[-1]}" / "candidate"
            self._live = self._begun(place / _SERVED / SHIPPED.name)

    def learn(
        self,
        lessons: Sequence[FollowUp],
        said: Callable[[FollowUp], Collection[str]],
        train: Callable[[Path, Sequence[FollowUp], _Search], Path],
    ) -> dict[str, Any]:
        """One round; its facts, none where there are too few conversations to train, end and decide by."""
        held_out = [each for each in lessons if each.is_held_out]
        ends = [each.tells_when_to_end for each in lessons if not each.is_held_out]
        if not held_out or not any(ends) or all(ends):
            return {}
        heard = self._search.hearing({each.turn_id: said(each) for each in lessons})
        place = self._folder / f"after-{len(lessons)}"
        place.mkdir(parents=True, exist_ok=True)
        made = train(place, lessons, heard)
        best = json.loads((made / SETTINGS).read_text(encoding="utf-8"))["best_epoch"]
        candidate = self._begun(made / _SERVED / SHIPPED.name)
        decided = compare(
            held_out, self.alone, lambda each: _written(candidate, each), heard.found, seed=self._seed
        ).promotion
        if decided.is_promoted:
            self._live = candidate
        else:
            shutil.rmtree(place, ignore_errors=True)
        return {
            "lessons": len(ends),
            "best_epoch": best if decided.is_promoted else 0,
            "is_promoted": decided.is_promoted,
            "reason": decided.reason,
        }

    def _begun(self, adapters: Path) -> QueryModel:
        return self._at_end.enter_context(closing(self._make(adapters))).require_started()


def _written(model: QueryModel, follow_up: FollowUp) -> str:
    return model.begin(follow_up.question, earlier_of(follow_up)).result()


def _answered(follow_up: FollowUp, rounds: _Rounds, search: _Search) -> AskedStep:
    began = time.monotonic()
    alone = rounds.alone(follow_up)
    found, seconds = search.found(follow_up, alone), time.monotonic() - began
    figures = {"follow-up R@5": float(found >= 1 / 5), "follow-up MRR": found}
    return AskedStep(
        f"{follow_up.session} {len(follow_up.messages)}",
        follow_up.question,
        "",
        figures,
        alone,
        seconds={"turn": seconds},
    )
