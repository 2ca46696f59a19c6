"""One's own conversation under two models: which answers, citations and memory writes would change.

    live store -> a copy as it was before the conversation -> model A plays it -> replies, memory writes
                                                           -> model B plays it -> the same -> compared

Each model has a copy of its own, and remembers in it what the messages state. The live store is only read.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assistant.replay.metrics.metrics import token_f1
from assistant.replay.runs.named_models import is_retriever, make_live, searched_by, what_can_be_named
from assistant.replay.runs.replay_assistant import ReplayAssistant, ReplayClock, own_locations, own_settings
from assistant.settings.config import Settings
from assistant.settings.locations import Locations
from assistant.turns.events import Finished
from stores.base.clock import now, time_by
from stores.base.errors import NotFound, WrongUsage
from stores.base.passages import SHARED
from stores.database.database import Database, database_file
from stores.database.tables import Turn
from stores.exchange.earlier_state import copy_untouched, go_back_to, keep_one_user
from stores.learning.checkpoints import Checkpoints

EXTRACTIVE = "extractive"
_DATABASE = "vouch.db"
_MOST_TURNS = 100_000

Watch = Callable[[str, int, int], None]  # which model, turns done, of how many


@dataclass(frozen=True)
class Message:
    """Something a user said, as it is said again."""

    text: str
    material: str = ""
    turn_id: int = 0  # of the recorded turn; 0 for a line of a file


@dataclass(frozen=True)
class Reply:
    """What one model made of a message."""

    answer: str
    citations: tuple[str, ...]  # texts of the passages cited, in order
    writes: tuple[str, ...]  # what was stored, each as "action scope: text"; "not remembered: why"


@dataclass(frozen=True)
class Compared:
    """One message under both models."""

    message: Message
    one: Reply
    other: Reply

    @property
    def answer_change(self) -> float:
        """0 for the same words, 1 for none in common."""
        return 1 - token_f1(self.one.answer, self.other.answer)

    @property
    def citation_change(self) -> float:
        """0 for the same passages cited, 1 for none in common."""
        return _apart(self.one.citations, self.other.citations)

    @property
    def write_change(self) -> float:
        """0 for the same memory writes, 1 for none in common."""
        return _apart(self.one.writes, self.other.writes)

    @property
    def change(self) -> float:
        """All three together, 0 to 3: by it the worst comes first."""
        return self.answer_change + self.citation_change + self.write_change


class Conversations:
    """Plays messages of one user under two models, in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        *,
        settings: Settings,
        live: Locations,
        user: str,
        api_key: str = "",
        offline: bool = False,
        session_id: int | None = None,
    ) -> None:
        """folder: an empty one, for the copies. live: of the chat, whose data is only read.

        session_id: the recorded one to be played, which may be private; no other of these is in the copies.
        """
        self._folder, self._settings, self._live = folder, settings, live
        self._user = user
        self._begins, self._is_private = now(), False  # of what is played
        self._compared: list[Any] = []  # of each model that was played, what makes it another one
        self._api_key, self._offline = api_key, offline
        source = database_file(settings.store.url) if settings.store.url else live.data / _DATABASE
        if source is None:
            raise WrongUsage("a conversation can be replayed from a database in a file only")
        if not source.is_file():
            raise NotFound("there is no conversation of yours yet")
        self._start = folder / "start"
        self._start.mkdir(parents=True)
        copy_untouched(source, self._start / _DATABASE)
        Database.at(self._start).close()  # it may be of an earlier release
        keep_one_user(self._start / _DATABASE, user, session_id)

    def recorded(self, session_id: int) -> list[Message]:
        """A session's messages; the copies know what was known before the first of them."""
        assistant = self._over(self._start, self._settings)
        try:
            user_id = assistant.stores.journal.known_user_id(self._user)
            turns = assistant.stores.journal.turns(user_id, session_id, limit=_MOST_TURNS)
            said = [turn for turn in turns if turn.message]  # what was forgotten is blank
            if not said:
                raise NotFound(f"session {session_id} holds no message")
            self._begins = min(turn.accepted_at for turn in said)
            self._is_private = assistant.stores.journal.is_private(user_id, session_id)
            go_back_to(assistant.stores.database, self._begins)
            return [_message(turn) for turn in said]
        finally:
            assistant.close()

    @property
    def are_the_same(self) -> bool:
        """Whether the models compared last were one model under two names."""
        one, other = self._compared
        return bool(one == other)

    def compare(
        self,
        messages: Sequence[Message],
        model: str,
        against: str,
        watch: Watch = lambda model, done, of: None,
        tell_same: Callable[[], None] = lambda: None,
    ) -> list[Compared]:
        """Every message under both, the greatest change first; of equals, the earlier one.

        tell_same: called, before anything is played, where both names are of one model. Raises `NotFound` for
        a model that is not here, before anything is played, too.
        """
        self._compared.clear()
        named = {name: self._settings_for(name) for name in (model, against)}
        made: list[ReplayAssistant] = []
        replies: list[list[Reply]] = []
        try:
            for place, name in enumerate((model, against)):
                made.append(self._copy(place, named[name]))
                make_live(name, made[-1])
                self._compared.append((named[name].model, searched_by(made[-1])))
            if self.are_the_same:
                tell_same()
            for name in (model, against):
                replies.append(self._played(made[0], name, messages, watch))
                made.pop(0).close()  # before the other one loads its reader
        finally:
            for assistant in made:
                assistant.close()
        rows = [Compared(*row) for row in zip(messages, *replies, strict=True)]
        return sorted(rows, key=lambda row: -row.change)

    def _copy(self, place: int, settings: Settings) -> ReplayAssistant:
        """One model's own, as everything was before the conversation."""
        folder = self._folder / f"model-{place + 1}"
        shutil.copytree(self._start, folder)
        if (trained := self._live.data / "models").is_dir():
            (folder / "models").symlink_to(trained)
        return self._over(folder, settings)

    def _played(
        self, assistant: ReplayAssistant, model: str, messages: Sequence[Message], watch: Watch
    ) -> list[Reply]:
        clock = ReplayClock(self._begins)
        with time_by(clock):
            user_id = assistant.stores.journal.user_id(self._user)
            session_id = assistant.stores.journal.open_session(user_id, is_private=self._is_private)
            replies = []
            for number, message in enumerate(messages):
                watch(model, number, len(messages))
                clock.at(number)
                replies.append(_reply(assistant, user_id, session_id, message))
            return replies

    def _settings_for(self, model: str) -> Settings:
        """With another chat model, where one is named."""
        trained = Checkpoints(self._live.data / "models")
        if is_retriever(model, trained):
            return self._settings
        if model == EXTRACTIVE:
            return replace(self._settings, model=replace(self._settings.model, backend="extractive"))
        if self._settings.model.backend == "extractive":
            hint = f"{what_can_be_named(trained)} Of a model server in the settings, any model."
            raise NotFound(f"there is no model {model!r}", hint=hint)
        return replace(self._settings, model=replace(self._settings.model, name=model))

    def _over(self, folder: Path, settings: Settings) -> ReplayAssistant:
        reranking = settings.reranking
        return ReplayAssistant(
            own_settings(settings, learns=settings.memory.learn, min_judged=reranking.min_judged),
            own_locations(self._live, folder),
            api_key=self._api_key,
            offline=self._offline,
        )


def _message(turn: Turn) -> Message:
    return Message(turn.message, turn.material, turn.id or 0)


def _reply(assistant: ReplayAssistant, user_id: int, session_id: int, message: Message) -> Reply:
    finished = assistant.turns.host.play(
        user_id, session_id, message.text, watch=lambda event: None, material=message.material
    )
    if finished.error is not None:
        raise finished.error
    failed = tuple(f"not remembered: {reason}" for reason in assistant.remember(user_id))
    writes = _writes(assistant, user_id, finished.turn_id)
    return Reply(finished.answer, _cited(finished), writes + failed)


def _cited(finished: Finished) -> tuple[str, ...]:
    passages = [source.passage for source in finished.cited]
    return tuple(f"{p.title}: {p.text}" if p.title else p.text for p in passages)


def _writes(assistant: ReplayAssistant, user_id: int, turn_id: int) -> tuple[str, ...]:
    claims = [claim for claim in assistant.stores.claims.of_turn(user_id, turn_id) if claim.state == "stored"]
    return tuple(f"{c.action} {'shared' if c.scope == SHARED else 'yours'}: {c.text}" for c in claims)


def _apart(one: Collection[str], other: Collection[str]) -> float:
    """1 less the share of all that both have; 0 where neither has anything."""
    both, either = set(one) & set(other), set(one) | set(other)
    return 1 - len(both) / len(either) if either else 0.0
