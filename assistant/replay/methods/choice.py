"""Which method a replay searches by, from the words that a person writes: frozen, luf:strict+hard ...

A training that was done is kept with what it told, by what it was made from: a run that was killed learns
again what it had learned without training again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from agents.base.chat_interfaces import ChatModel
from agents.base.interfaces import Encoder, Vectors
from assistant.learning.recipes.retriever.apart import train_apart
from assistant.learning.training_process import Tell
from assistant.replay.methods.luf import LOSSES, Loss, Luf, Remembers
from assistant.replay.methods.method import Frozen, Method
from assistant.replay.streams.datasets import ReplayPassage, ReplayQuestion
from stores.base.errors import InvalidSetting, WrongUsage
from stores.learning.lessons import Lesson

FROZEN = "frozen"  # what all others are compared with
OF_DIALOGUES = "dual-feedback"  # the one that replies over a knowledge base, and searches nothing
OF_FOLLOW_UPS = "unirag"  # the one that makes follow-ups stand alone, in conversations
ALONE = {OF_DIALOGUES: "dialogues", OF_FOLLOW_UPS: "conversations"}  # what these play, and nothing beside it
METHODS = (FROZEN, "luf", *ALONE)
_TOLD, _MADE = "told.json", "candidate"


@dataclass(frozen=True)
class MethodChoice:
    """One method, as it is to be played."""

    kind: str  # of METHODS or OTHERS
    losses: tuple[Loss, ...] = tuple(LOSSES)  # of luf
    quality: float | None = None  # of the simulated writer in the chat model's place; None: there is none

    @staticmethod
    def read(text: str, *, losses: Sequence[str] = tuple(LOSSES)) -> MethodChoice:
        """From `kind`, `luf:loss+loss` or `query2doc:0.8`. Raises `WrongUsage`.

        losses: where the text names none.
        """
        kind, colon, named = text.partition(":")
        known = (*METHODS, *OTHERS)
        if kind not in known:
            raise WrongUsage(f"there is no method {kind!r}", hint=f"There are {', '.join(known)}.")
        if colon and kind in OTHERS and OTHERS[kind].writes:
            return MethodChoice(kind, (), _quality(text, named))
        chosen = tuple(named.split("+")) if colon else tuple(losses)
        if colon and kind != "luf":
            raise WrongUsage(f"{kind} has no losses", hint="Only luf has: luf:strict+hard.")
        if not chosen or chosen == ("",):
            raise WrongUsage(f"{text!r} names no loss", hint="As in luf:strict+hard.")
        if unknown := set(chosen) - set(LOSSES):
            raise WrongUsage(
                f"there is no loss {sorted(unknown)[0]!r}", hint=f"There are {', '.join(LOSSES)}."
            )
        return MethodChoice(kind, tuple(loss for loss in LOSSES if loss in chosen) if kind == "luf" else ())

    @property
    def label(self) -> str:
        """Names it in a report: `luf` is the one with all losses."""
        if self.quality is not None:
            return f"{self.kind}:simulated {self.quality:g}"
        is_whole = self.kind != "luf" or len(self.losses) == len(LOSSES)
        return self.kind if is_whole else f"luf:{'+'.join(self.losses)}"

    @property
    def learns_by_searching(self) -> bool:
        """What it becomes hangs on what it searched, and not only on what was judged."""
        return self.kind in OTHERS and OTHERS[self.kind].learns_by_searching

    @property
    def writes(self) -> bool:
        """It asks a chat model."""
        return self.kind in OTHERS and OTHERS[self.kind].writes and self.quality is None


def _quality(text: str, named: str) -> float:
    try:
        quality = float(named)
    except ValueError:
        quality = -1.0
    if not 0 <= quality <= 1:
        hint = "As in query2doc:0.8, whose writer is simulated and right so often."
        raise WrongUsage(f"{text!r} names no quality between 0 and 1", hint=hint)
    return quality


@dataclass(frozen=True, kw_only=True)
class MethodParts:
    """What methods are made of."""

    folder: Path  # for what is trained
    vectors_of: Callable[[Sequence[int]], Mapping[int, bytes]]
    dimension: int  # of those vectors: of the half that is trained
    encoder: Encoder  # what searches
    start: Path | None  # what a training starts from; None: the packaged encoder
    load: Callable[[Path], Encoder]
    chat: Callable[[], ChatModel]  # one that nobody else asks
    at_end: Callable[[Callable[[], None]], object]  # is given what gives back what the method holds
    seed: int
    training: Mapping[str, Any]  # settings of the training
    threads: int
    hears_users: bool
    remembers: Remembers = "all"  # which lessons a training of luf is made of
    questions: Sequence[ReplayQuestion] = ()  # what is known, for simulated writers alone
    passages: Sequence[ReplayPassage] = ()
    train: Callable[..., Path] = train_apart


@dataclass(frozen=True)
class OtherMethod:
    """A method that the product's are compared with."""

    make: Callable[[MethodChoice, MethodParts], Method]
    writes: bool = False  # a chat model does, or where a quality is named a simulated one
    learns_by_searching: bool = False  # see `MethodChoice`


OTHERS: dict[str, OtherMethod] = {}  # by kind; none in the product: experiments/replay.py adds its own


def checked_training(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings of the training, as they are; loads torch. Raises `WrongUsage` for what cannot be."""
    from assistant.learning.recipes.retriever.training import RetrieverTraining

    known = [each.name for each in fields(RetrieverTraining) if each.name != "seed"]
    if unknown := set(settings) - set(known):
        there_are = f"There are {', '.join(known)}."
        raise WrongUsage(f"a replay's training has no setting {sorted(unknown)[0]!r}", hint=there_are)
    try:
        RetrieverTraining(**settings)
    except InvalidSetting as wrong:
        name = wrong.key.rpartition(".")[2]
        raise WrongUsage(f"--training {name} is {wrong.found!r}, but must be {wrong.expected}") from wrong
    return settings


def make_method(choice: MethodChoice, parts: MethodParts) -> Method:
    """A method that has learned nothing yet."""
    if choice.kind == "luf":
        kept = KeptTrainings(parts.folder / "kept", start=parts.start, train=parts.train)
        return Luf(
            parts.vectors_of,
            parts.folder / "rounds",
            dimension=parts.dimension,
            losses=choice.losses,
            settings={**parts.training, "seed": parts.seed},
            remembers=parts.remembers,
            hears_users=parts.hears_users,
            threads=parts.threads,
            train=kept.train,
            load=lambda folder: LoadedLater(parts.load, folder),
        )
    if other := OTHERS.get(choice.kind):
        return other.make(choice, parts)
    return Frozen()


class KeptTrainings:
    """Trainings in a folder, each done once: whoever asks for the same again is told the same."""

    def __init__(self, folder: Path, *, start: Path | None, train: Callable[..., Path]) -> None:
        """start: what a training begins with that names nothing else. train: see `train_apart`."""
        self._folder = folder
        self._start = start
        self._train = train
        self._version = "start"  # of what the next one may begin with

    def train(
        self,
        folder: Path,
        lessons: Sequence[Lesson],
        vectors: Mapping[int, bytes],
        *,
        settings: Mapping[str, Any],
        encoder: Path | None = None,
        tell: Tell = lambda told: None,
        **others: Any,
    ) -> Path:
        """See `train_apart`. Of trainings before the last one only what they told is kept."""
        begins = "start" if encoder is None else self._version
        key = _key(lessons, vectors, settings, begins)
        place = self._folder / key
        if (place / _TOLD).is_file():
            made = self._taken_up(place, folder, tell)
        else:
            told: list[Mapping[str, Any]] = []

            def note(each: Mapping[str, Any] | None) -> None:
                if each is not None:
                    told.append(each)
                tell(each)

            started = encoder or self._start
            made = self._train(
                folder, lessons, vectors, settings=settings, encoder=started, tell=note, **others
            )
            self._keep(place, made, told)
        self._version = key
        return made

    def _keep(self, place: Path, made: Path, told: Sequence[Mapping[str, Any]]) -> None:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(made, place / _MADE, copy_function=os.link)
        written = place / f"{_TOLD}.new"
        written.write_text(json.dumps(told), encoding="utf-8")
        written.rename(place / _TOLD)  # whole or not there
        for earlier in self._folder.iterdir():
            if earlier != place:
                shutil.rmtree(earlier / _MADE, ignore_errors=True)

    @staticmethod
    def _taken_up(place: Path, folder: Path, tell: Tell) -> Path:
        for each in json.loads((place / _TOLD).read_text(encoding="utf-8")):
            tell(each)
        made = folder / _MADE
        if (place / _MADE).is_dir():
            shutil.copytree(place / _MADE, made, copy_function=os.link)
        return made


def _key(
    lessons: Sequence[Lesson], vectors: Mapping[int, bytes], settings: Mapping[str, Any], begins: str
) -> str:
    told = [[asdict(lesson) for lesson in lessons], sorted(settings.items()), begins]
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode("utf-8", "replace"))
    for version in sorted(vectors):
        digest.update(vectors[version])
    return digest.hexdigest()[:16]


class LoadedLater:
    """An encoder that is loaded when it first encodes: of several trainings only the last one's is."""

    def __init__(self, load: Callable[[Path], Encoder], folder: Path) -> None:
        self._load, self._folder = load, folder

    @cached_property
    def _encoder(self) -> Encoder:
        return self._load(self._folder)

    @property
    def version(self) -> str:
        return self._encoder.version

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_queries(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_passages(texts)
