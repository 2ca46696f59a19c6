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
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from agents.base.interfaces import Encoder
from agents.models.dialogue_arrays import Strings
from agents.models.dialogue_generator import SHIPPED, DialogueGenerator
from assistant.learning.held_out.replies import (
    Replies,
    compare,
    is_sound_lesson,
    side_of,
    wanted_reply,
)
from assistant.learning.recipes.dialogue.lessons import Moment, moments, with_entities
from assistant.learning.recipes.dialogue.recipe import PROGRAM
from assistant.learning.training_process import Further, train_in_child
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.runs.run_progress import Watch
from assistant.replay.runs.shipped_replay import Played, ShippedReplay
from assistant.replay.runs.steps import AskedStep
from assistant.replay.storage.folder import MODEL
from assistant.replay.streams.datasets import ReplayQuestion, stream
from stores.base.entities import Entity, entity_text
from stores.base.errors import WrongUsage
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
        """The stream of a seed: dialogues whole, domain by domain, so many of each set."""
        found: list[Moment] = []
        for part in self.parts:
            of_dialogue: dict[str, list[Moment]] = {}
            for moment in part:
                of_dialogue.setdefault(moment.dialogue, []).append(moment)
            begun = [replace(_as_question(some[0]), id=name) for name, some in of_dialogue.items()]
            for each in stream(begun, seed=seed, first=plan.first):
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


class DialogueReplay(ShippedReplay[DialogueLesson, Replies]):
    """Plays dialogues."""

    answers, judge = "dialogue generator", "corrections"

    def __init__(
        self,
        plan: ReplayPlan,
        streamed: StreamedDialogues,
        folder: Path,
        *,
        train: Callable[..., Path] = train_in_child,
        **chat: Any,
    ) -> None:
        """chat: see `ShippedReplay`."""
        super().__init__(plan, folder, **chat)
        self._streamed, self._train = streamed, train

    @property
    def _data(self) -> Mapping[str, Any]:
        return {
            "names": list(self._streamed.names),
            "sha256": self._streamed.sha256(),
            "passages": self._streamed.entities,
            "questions": sum(map(len, self._streamed.parts)),
        }

    @property
    def _begins_with(self) -> Mapping[str, Any]:
        generator = json.loads((SHIPPED / "dialogue.json").read_text(encoding="utf-8"))["sha256"]
        return {"encoder": self._encoder.version, "generator": generator}

    @cached_property
    def _encoder(self) -> Encoder:
        with closing(self._over(self._folder / MODEL)) as assistant:
            return assistant.models.packaged_encoder

    def turns(self, seed: int) -> list[Moment]:
        return self._streamed.turns(self.plan, seed)

    @contextmanager
    def _played(self, folder: Path, seed: int, watch: Watch) -> Iterator[Played[DialogueLesson, Replies]]:
        found = with_entities(self.turns(seed), Strings(self._encoder))
        lessons = [lesson_of(number, moment, rows) for number, (moment, rows) in enumerate(found, start=1)]
        told = corrections(lessons, accuracy=self.plan.accuracy, seed=seed)
        encoder = self._live.cache / "encoders" / self._encoder.version  # as a chat exported it
        options = ("--encoder", str(encoder.resolve()))

        def begin(served: Path) -> Replies:
            generator = DialogueGenerator(served, self._encoder, threads=1)
            return lambda inputs: generator.replies(inputs, most=1)[0].words

        yield Played(
            shipped=SHIPPED,
            begin=begin,
            ask=lambda number, live: _asked(lessons[number], live),
            lessons=lambda done: [lesson for lesson in told[:done] if is_sound_lesson(lesson)],
            rows=lambda some, tell: (lesson.row() for lesson in some),
            compare=lambda held_out, *both: compare([*map(wanted_reply, held_out)], *both, seed=seed),
            training=Further(PROGRAM, {"seed": seed}, self.plan.threads, options, train=self._train),
        )


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
        seconds=seconds,
    )
