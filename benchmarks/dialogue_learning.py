"""A generator that learns from corrections beside one that never does: a stream of task dialogues.

    python -m benchmarks.dialogue_learning DATA [--set smd] [--parts train] [--dialogues 400]
        [--rounds 150 400 800] [--corrections right] [--seed 0]

Each turn is replied to by the generator that is live then, and afterwards corrected as the set has it. With
so many corrections a round begins, as in the chat: trained from what is shipped on those that are not held
out, compared on those that are, promoted or refused. Told are BLEU and Entity-F1 of the last third of the
turns, for the generator that learns and for the shipped one, and what came of each round.

--corrections: right, those of the set; others, replies of other turns; values, the right ones with each value
exchanged for that of another entity; both are what a user who means harm would write.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

from agents.models.dialogue_arrays import Strings
from agents.models.dialogue_generator import DialogueGenerator
from agents.models.encoder import OnnxEncoder
from assistant.learning.lineage import taught as not_held_out
from assistant.learning.recipes.dialogue.lessons import Moment, moments, with_entities
from assistant.learning.recipes.examples.dialogues import SETS
from assistant.learning.training_process import train_in_child
from assistant.replay.metrics.dialogue import bleu, entity_f1
from assistant.replay.metrics.held_out_replies import (
    Replies,
    WantedReply,
    compare,
    is_sound_lesson,
    wanted_reply,
)
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.base.entities import Entity, entity_text
from stores.learning.dialogue_lessons import DialogueLesson, ToldEntity

MODULE = "assistant.learning.recipes.dialogue.from_use"


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


def corrected(lessons: Sequence[DialogueLesson], way: str, draw: random.Random) -> list[DialogueLesson]:
    """The same with what their users write instead."""
    if way == "right":
        return list(lessons)
    if way == "others":
        replies = draw.sample([lesson.reply for lesson in lessons], len(lessons))
        return [replace(lesson, reply=reply) for lesson, reply in zip(lessons, replies, strict=True)]
    return [replace(lesson, reply=_exchanged(lesson, draw)) for lesson in lessons]


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


def stream(arguments: argparse.Namespace, encoder: OnnxEncoder, folder: Path) -> Iterator[str]:
    """Plays the turns; yields what is told."""
    turns = [m for part in arguments.parts for m in moments(arguments.data, arguments.set, part, "session")]
    kept = set(list(dict.fromkeys(m.dialogue for m in turns))[: arguments.dialogues])
    turns = [m for m in turns if m.dialogue in kept and (m.told.tells or arguments.set == "smd")]
    chosen = with_entities(turns, Strings(encoder))
    right = [lesson_of(number, moment, rows) for number, (moment, rows) in enumerate(chosen, start=1)]
    right = [lesson for lesson in right if lesson.entities]
    draw = random.Random(arguments.seed)
    told = corrected(right, arguments.corrections, draw)
    taught = [lesson for lesson in told if is_sound_lesson(lesson)]
    wanted = [wanted_reply(lesson) for lesson in right]
    shipped = live = _generator(None, encoder)
    replies: list[list[str]] = []
    yield f"{len(kept)} dialogues, {len(right)} turns; {arguments.corrections}: {len(taught)} sound"
    for number, each in enumerate(wanted):
        if number in arguments.rounds:
            began = time.monotonic()
            workplace = folder / f"round-{number}"
            workplace.mkdir()
            some = [lesson for lesson in taught if lesson.turn_id <= number]
            made = _trained(workplace, some, encoder, arguments)
            candidate = _generator(made / "served", encoder)
            held_out = [wanted_reply(lesson) for lesson in some if lesson.is_held_out]
            found = compare(held_out, _by(live), _by(candidate), seed=arguments.seed)
            live = candidate if found.promotion.is_promoted else live
            yield f"after {number} corrections, {time.monotonic() - began:.0f} s: {found.promotion.reason}"
        replies.append(_by(live)(each.inputs))
    last = len(wanted) * 2 // 3
    never = [_by(shipped)(each.inputs) for each in wanted[last:]]
    yield f"the last {len(never)} turns, learning: {_figures(wanted[last:], replies[last:])}"
    yield f"the last {len(never)} turns, never learning: {_figures(wanted[last:], never)}"


def _generator(folder: Path | None, encoder: OnnxEncoder) -> DialogueGenerator:
    from agents.models.dialogue_generator import SHIPPED

    return DialogueGenerator(folder or SHIPPED, encoder, threads=1)


def _by(generator: DialogueGenerator) -> Replies:
    return lambda inputs: generator.replies(inputs, most=1)[0].words


def _trained(
    folder: Path, lessons: Sequence[DialogueLesson], encoder: OnnxEncoder, arguments: argparse.Namespace
) -> Path:
    file = folder / "lessons.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for lesson in not_held_out(lessons):
            out.write(json.dumps(asdict(lesson) | {"measured": lesson.tells_when_to_end}) + "\n")
    place = find_locations(os.environ).cache / "encoders" / encoder.version
    options = ["--encoder", str(place), "--settings", json.dumps({"seed": arguments.seed})]
    return train_in_child(folder, MODULE, [file], options)


def _figures(wanted: Sequence[WantedReply], told: Sequence[Sequence[str]]) -> str:
    right, texts = [" ".join(each.words) for each in wanted], [" ".join(words) for words in told]
    f1 = entity_f1(
        [each.values.intersection(each.words) for each in wanted],
        [each.values.intersection(words) for each, words in zip(wanted, told, strict=True)],
        strict=True,
    )
    return f"BLEU {bleu(right, texts):.1f}  Entity-F1 {f1:.1f} (strict)"


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--set", default="smd", choices=SETS)
    parser.add_argument("--parts", nargs="+", default=["train"])
    parser.add_argument("--dialogues", type=int, default=400)
    parser.add_argument("--rounds", type=int, nargs="+", default=[150, 400, 800])
    parser.add_argument("--corrections", default="right", choices=("right", "others", "values"))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = find_locations(os.environ, data=folder)
        with closing(Assistant(Settings(), places, offline=True)) as assistant:
            for line in stream(arguments, assistant.packaged_encoder, Path(folder)):
                print(line, flush=True)


if __name__ == "__main__":
    main()
