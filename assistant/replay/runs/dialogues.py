"""Task dialogues whose replies are corrected: the generator as it comes, and one that learns as in a chat.

    turn -> reply, measured by the one of the set -> its user's correction
      after an interval: those not held out -> training -> compared on the others -> live, or not

Each turn is replied to before it is learned from, over the entities of its own dialogue. A correction is the
set's reply, or one with other entities' values where a user is not right.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import metadata
from pathlib import Path
from typing import Any

from agents.base.interfaces import Encoder
from agents.models.dialogue_arrays import Strings
from agents.models.dialogue_generator import SHIPPED, DialogueGenerator
from agents.models.encoder import OnnxEncoder
from assistant.learning.lineage import taught
from assistant.learning.recipes.dialogue.lessons import Moment, moments, with_entities
from assistant.learning.recipes.run import SETTINGS
from assistant.learning.shipped_learner import Training, train_on
from assistant.learning.trained import DIALOGUE
from assistant.replay.methods.choice import FROZEN, MethodChoice
from assistant.replay.metrics.held_out_replies import (
    Replies,
    compare,
    is_sound_lesson,
    side_of,
    wanted_reply,
)
from assistant.replay.runs.in_folder import FORMAT, InFolder
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.runs.replay_assistant import own_locations, own_settings
from assistant.replay.runs.run_progress import RunProgress, Watch, told_to
from assistant.replay.runs.steps import AskedStep, LearnedStep, Steps
from assistant.replay.storage.folder import MODEL, RUNS, STEPS, TRAINED, run_name
from assistant.replay.streams.datasets import ReplayQuestion, stream
from assistant.settings.config import Settings
from assistant.settings.locations import Locations
from assistant.wiring.assistant import Assistant
from stores.base.entities import Entity, entity_text
from stores.base.errors import UnreadableDocument, WrongUsage
from stores.learning.dialogue_lessons import DialogueLesson, ToldEntity

_SERVED = "served"


@dataclass(frozen=True)
class StreamedDialogues:
    """What is replayed: the turns of each set, in the order of their files."""

    names: tuple[str, ...]
    parts: tuple[tuple[Moment, ...], ...]

    @property
    def domains(self) -> list[ReplayQuestion]:
        """A question for each turn, by which parts of a report are named."""
        return [_as_question(moment) for part in self.parts for moment in part]

    @property
    def entities(self) -> int:
        """How many different ones there are."""
        return len({(e.name, *e.values.items()) for part in self.parts for m in part for e in m.entities})

    def sha256(self) -> str:
        told = [[m.said, m.shown, m.told.system, m.dialogue] for part in self.parts for m in part]
        return hashlib.sha256(json.dumps(told).encode("utf-8", "replace")).hexdigest()

    def turns(self, plan: ReplayPlan, seed: int) -> list[Moment]:
        """The stream of a seed: dialogues whole, in the plan's order, so many of each set."""
        found: list[Moment] = []
        for part in self.parts:
            of_dialogue: dict[str, list[Moment]] = {}
            for moment in part:
                of_dialogue.setdefault(moment.dialogue, []).append(moment)
            begun = [replace(_as_question(some[0]), id=name) for name, some in of_dialogue.items()]
            for each in stream(begun, order=plan.order, seed=seed, first=plan.first):
                found += of_dialogue[each.id]
        return found


def _as_question(moment: Moment) -> ReplayQuestion:
    return ReplayQuestion(
        moment.dialogue, moment.said[-1], (), None, domain=moment.set_name, topic=moment.domain
    )


def read_dialogue_sets(
    names: Sequence[str], *, data: Path | None, splits: Sequence[str]
) -> StreamedDialogues:
    """Sets of the data folder. Raises `WrongUsage` for what is none, `UnreadableDocument`."""
    from assistant.learning.recipes.examples.dialogues import SETS

    if data is None or not data.is_dir():
        raise WrongUsage("--sets names the folder of the sets of dialogues", hint="As in --sets data/.")
    if unknown := [name for name in names if name not in SETS]:
        raise WrongUsage(
            f"{unknown[0]} is no set of task dialogues", hint=f"dual-feedback plays {', '.join(SETS)}."
        )
    parts = []
    for name in dict.fromkeys(names):
        found: list[Moment] = []
        for split in dict.fromkeys(splits or ("test",)):
            try:
                found += moments(data, name, split, "session")
            except FileNotFoundError as error:
                raise WrongUsage(
                    f"{error.filename} is not there", hint="Sets have the splits train, dev and test."
                ) from error
            except (ValueError, KeyError, TypeError, EOFError, OSError) as error:
                reason = f"the split {split} of {name} cannot be read there ({type(error).__name__}: {error})"
                raise UnreadableDocument(data, reason) from error
        told = [moment for moment in found if moment.entities and moment.told.tells]
        if not told:
            raise WrongUsage(f"{name} has no turn over a knowledge base there")
        parts.append(tuple(told))
    return StreamedDialogues(tuple(dict.fromkeys(names)), tuple(parts))


def lesson_of(number: int, moment: Moment, rows: Sequence[Entity]) -> DialogueLesson:
    """A turn as the store has it, rightly corrected."""
    return DialogueLesson(
        turn_id=number,
        user_id=1,
        dialogue=moment.dialogue,
        base=moment.set_name,
        messages=moment.said,
        answers=moment.shown,
        constraints=dict(moment.state.constraints),
        meeting=moment.state.meeting,
        entities=tuple(ToldEntity(i, row.name, entity_text(row)) for i, row in enumerate(rows)),
        reply=moment.told.system,
    )


def corrections(lessons: Sequence[DialogueLesson], *, accuracy: float, seed: int) -> list[DialogueLesson]:
    """What users write: right so often; else each value is exchanged for one of the same column."""
    draw = random.Random(f"{seed} corrections")
    return [
        lesson if draw.random() < accuracy else replace(lesson, reply=_exchanged(lesson, draw))
        for lesson in lessons
    ]


def _exchanged(lesson: DialogueLesson, draw: random.Random) -> str:
    wanted = wanted_reply(lesson)
    columns: dict[int, list[str]] = {}
    place: dict[str, int] = {}
    for row in wanted.inputs.rows:
        for cell in row:
            columns.setdefault(cell.column, []).append(cell.value)
            place.setdefault(cell.value, cell.column)
    words = []
    for word in wanted.words:
        others = [value for value in columns.get(place.get(word, -1), ()) if value != word]
        words.append(draw.choice(others) if others else word)
    return " ".join(words)


def _trained(
    folder: Path,
    lessons: Sequence[DialogueLesson],
    *,
    settings: Mapping[str, Any],
    threads: int,
    encoder: Path,
    **how: Any,
) -> Path:
    """A candidate, trained on those that are not held out; its folder. encoder: exported."""
    training = Training(settings, threads, ("--encoder", str(encoder.resolve())))
    return train_on(folder, DIALOGUE, (each.row() for each in taught(lessons)), training, **how)


class DialogueReplay(InFolder):
    """Plays dialogues."""

    def __init__(
        self,
        plan: ReplayPlan,
        streamed: StreamedDialogues,
        folder: Path,
        *,
        settings: Settings,
        live: Locations,
        offline: bool = False,
        train: Callable[..., Path] | None = None,
    ) -> None:
        """live: of the chat, whose prepared encoder is used and whose data is not touched."""
        super().__init__(plan, folder, live)
        self._streamed, self._settings, self._offline = streamed, settings, offline
        self._train = train or _trained

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        plan = self.plan
        return {
            "answers": "dialogue generator",
            "format": FORMAT,
            "vouch": metadata.version("vouch"),
            "data": {
                "names": list(self._streamed.names),
                "sha256": self._streamed.sha256(),
                "passages": self._streamed.entities,
                "questions": sum(map(len, self._streamed.parts)),
            },
            "methods": [choice.label for choice in plan.played],
            "judge": {"kind": "corrections", "accuracy": plan.accuracy},
            "interval": plan.interval,
            "seeds": list(plan.seeds),
            "order": plan.order,
            "first": plan.first,
            "threads": plan.threads,
            "encoder": self._encoder.version,
            "generator": json.loads((SHIPPED / "dialogue.json").read_text(encoding="utf-8"))["sha256"],
        }

    @cached_property
    def _encoder(self) -> OnnxEncoder:
        places = own_locations(self._live, self._folder / MODEL)
        settings = own_settings(self._settings, learns=False, min_judged=self.plan.min_judged)
        with closing(Assistant(settings, places, offline=self._offline)) as assistant:
            return assistant.packaged_encoder

    def _run(
        self, choice: MethodChoice, seed: int, watch: Watch, *, name: str, earlier: Sequence[Steps]
    ) -> Steps:
        folder = self._folder / RUNS / run_name(choice.label, seed)
        folder.mkdir(parents=True, exist_ok=True)
        steps, turns = Steps(folder / STEPS), self._streamed.turns(self.plan, seed)
        if len(steps.asked) == len(turns):
            return steps
        learns = choice.kind != FROZEN
        progress = RunProgress(
            watch,
            name,
            steps,
            questions=len(turns),
            interval=self.plan.interval if learns else 0,
            is_trained=learns,
            earlier=earlier,
        )
        found = with_entities(turns, Strings(self._encoder))
        lessons = [lesson_of(number, moment, rows) for number, (moment, rows) in enumerate(found, start=1)]
        at = self._live.cache / "encoders" / self._encoder.version
        training: dict[str, Any] = {"settings": {"seed": seed}, "threads": self.plan.threads, "encoder": at}
        train = partial(told_to, progress.trains, self._train, tell=lambda told: None, **training)
        rounds = _Rounds(folder / TRAINED, self._encoder, train, seed)
        rounds.go_on(steps)
        told = corrections(lessons, accuracy=self.plan.accuracy, seed=seed)
        for done in range(len(steps.asked), len(lessons)):
            is_due = learns and self.plan.interval and done and done % self.plan.interval == 0
            if is_due and not any(step.after == done for step in steps.learned):
                began = time.monotonic()
                facts = rounds.learn(told[:done])
                steps.note_learned(LearnedStep(done, facts, time.monotonic() - began))
            steps.note_asked(_asked(lessons[done], rounds.live))
            progress.asked(done + 1, len(lessons))
        shutil.rmtree(folder / TRAINED, ignore_errors=True)
        return steps


def _asked(lesson: DialogueLesson, reply: Replies) -> AskedStep:
    wanted, began = wanted_reply(lesson), time.monotonic()
    words = reply(wanted.inputs)
    side, seconds = side_of(wanted, words), time.monotonic() - began
    figures = {"BLEU": side.bleu}
    if wanted.values.intersection(wanted.words):
        figures["Entity-F1"] = side.f1
    return AskedStep(
        f"{lesson.dialogue} {len(lesson.messages)}",
        lesson.messages[-1],
        lesson.base,
        figures,
        " ".join(words),
        seconds={"turn": seconds},
    )


class _Rounds:
    """The generator of one run, and how it learns."""

    def __init__(self, folder: Path, encoder: Encoder, train: Callable[..., Path], seed: int) -> None:
        """folder: for what is trained. train: is given a folder and lessons; see `_trained`."""
        self._folder, self._encoder, self._train, self._seed = folder, encoder, train, seed
        self.live = self._replies(SHIPPED)

    def go_on(self, steps: Steps) -> None:
        """With the generator that was live behind the steps so far."""
        promoted = [step.after for step in steps.learned if step.facts.get("is_promoted")]
        if promoted:
            self.live = self._replies(self._place(promoted[-1]) / "candidate" / _SERVED)

    def learn(self, told: Sequence[DialogueLesson]) -> dict[str, Any]:
        """One round; its facts, none where there are too few dialogues to train, end and decide by."""
        sound = [lesson for lesson in told if is_sound_lesson(lesson)]
        held_out = [wanted_reply(lesson) for lesson in sound if lesson.is_held_out]
        ends = [lesson.tells_when_to_end for lesson in sound if not lesson.is_held_out]
        if not held_out or not any(ends) or all(ends):
            return {}
        place = self._place(len(told))
        place.mkdir(parents=True, exist_ok=True)
        made = self._train(place, sound)
        best = json.loads((made / SETTINGS).read_text(encoding="utf-8"))["best_epoch"]
        candidate = self._replies(made / _SERVED)
        decided = compare(held_out, self.live, candidate, seed=self._seed).promotion
        if decided.is_promoted:
            self.live = candidate
        else:
            shutil.rmtree(place, ignore_errors=True)
        return {
            "lessons": len(ends),
            "best_epoch": best if decided.is_promoted else 0,
            "is_promoted": decided.is_promoted,
            "reason": decided.reason,
        }

    def _place(self, after: int) -> Path:
        return self._folder / f"after-{after}"

    def _replies(self, folder: Path) -> Replies:
        generator = DialogueGenerator(folder, self._encoder, threads=1)
        return lambda inputs: generator.replies(inputs, most=1)[0].words
