"""Plays a stream of questions through the pipeline of the chat: answered, scored, then learned from.

    question -> a turn, as in the chat -> measured -> noted -> (what the user says) -> every U: learned from

Each question is a private session of its own, so that none is completed from another or found as somebody's
own words; what users say afterwards is said in ordinary sessions, and remembered. A figure of a question
hangs on earlier questions only. A run that was killed goes on behind the last step that it noted; where
users speak, their memory is put back to the last copy of it, and the questions since are asked again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from agents.base.interfaces import Candidate
from assistant.replay.methods.method import Asked, Method
from assistant.replay.metrics.measures import measured
from assistant.replay.runs.replay_assistant import ReplayAssistant, ReplayClock
from assistant.replay.runs.steps import AskedStep, LearnedStep, Steps
from assistant.replay.simulation.participants import SimulatedFeedback
from assistant.replay.storage.data_set_store import Names
from assistant.replay.streams.datasets import ReplayQuestion
from assistant.turns.events import Event, Finished, Searched
from stores.base.clock import time_by
from stores.base.errors import TryAgain

Watch = Callable[[int, int], None]  # questions done, of how many


class Player:
    """One run: a method over a stream."""

    def __init__(
        self,
        assistant: ReplayAssistant,
        method: Method,
        questions: Sequence[ReplayQuestion],
        *,
        names: Names,
        steps: Steps,
        interval: int,
        feedback: Mapping[str, SimulatedFeedback] | None = None,
        users_speak: bool = False,
        learns_by_searching: bool = False,
        keep_memory: Callable[[int], None] = lambda questions: None,
    ) -> None:
        """questions: as they are stored. interval: U, questions between two trainings; 0: none.

        feedback: what users say, by question id, where the method hears them. users_speak: to a method of
        this replay, so that passages of the set are measured by themselves, too. learns_by_searching: what
        the method has become hangs on what it searched, too. keep_memory: copies the store, of so many
        questions.
        """
        self._assistant = assistant
        self._method = method
        self._questions = questions
        self._names = names
        self._steps = steps
        self._interval = interval
        self._feedback = (feedback or {}) if method.hears_users else {}
        self._users_speak = users_speak
        self._learns_by_searching = learns_by_searching
        self._keep_memory = keep_memory
        self._clock = ReplayClock()
        self._retriever = assistant.search_by(method)

    def play(self, watch: Watch = lambda done, of: None) -> None:
        """Asks what is left of the stream. Raises what a turn failed by; the same call later goes on."""
        with time_by(self._clock):
            self._take_up()
            for number in range(len(self._steps.asked), len(self._questions)):
                watch(number, len(self._questions))
                self._clock.at(number)
                self._steps.note_asked(self._ask(self._questions[number]))
                if self._is_due(number + 1):
                    self._learn(number + 1)
        watch(len(self._questions), len(self._questions))

    def _is_due(self, asked: int) -> bool:
        return self._interval > 0 and asked % self._interval == 0 and asked < len(self._questions)

    def _take_up(self) -> None:
        """Makes the method what it was behind the last step, and trains where that was left to do."""
        done = len(self._steps.asked)
        for number in range(1, done + 1):
            if self._learns_by_searching:
                self._search(self._questions[number - 1])
            if self._is_due(number):
                self._learn(number, is_noted=number // self._interval <= len(self._steps.learned))

    def _search(self, question: ReplayQuestion) -> None:
        """As its turn searched; the augmenter changes no message that nothing came before."""
        user_id = self._assistant.journal.user_id(question.user)
        search = self._assistant.search_in(self._assistant.spaces.of(user_id))
        self._method.retrieve(Asked(question.id, question.text.strip()), search)

    def _learn(self, asked: int, *, is_noted: bool = False) -> None:
        began = time.monotonic()
        judged = [step.judged for step in self._steps.asked[asked - self._interval : asked]]
        before = len(getattr(self._method, "rounds", ()))
        self._method.learn(judged)
        if not is_noted:
            facts = facts_of(self._method, earlier=before)
            self._steps.note_learned(LearnedStep(asked, facts, time.monotonic() - began))
            self._keep_memory(asked)

    def _ask(self, question: ReplayQuestion) -> AskedStep:
        assistant, seen = self._assistant, _Seen()
        user_id = assistant.journal.user_id(question.user)
        session_id = assistant.journal.open_session(user_id, is_private=True)
        began = time.monotonic()
        assistant.judge.calls.clear()
        self._retriever.asked = Asked(question.id, question.text)
        finished = _played(assistant, user_id, session_id, question.text, seen)
        self._retriever.asked = None
        found = self._retriever.found
        assert found is not None, "a turn that is done has searched"
        by_version = {c.passage.version_id: c for c in seen.candidates}
        reranked = [
            by_version[row.version_id] for row in assistant.journal.found_in(user_id, finished.turn_id)
        ]
        calls = tuple(assistant.judge.calls)  # of the question; what a user then says is judged as well
        answered = time.monotonic()
        said = self._feedback.get(question.id)
        if said is not None:
            self._hear(user_id, said.message)
        return AskedStep(
            question=question.id,
            text=question.text,
            domain=question.domain,
            figures=measured(
                question,
                dense=self._named(found.dense),
                fused=self._named(found.candidates),
                reranked=self._named(reranked),
                reply=finished.answer,
                tokens=sum(call.tokens for call in calls) + found.tokens,
                users_speak=self._users_speak,
            ),
            reply=finished.answer,
            judgements=tuple(j for call in calls for j in call.judgements),
            feedback="" if said is None else said.kind,
            seconds={
                "turn": answered - began,
                "search": found.seconds,
                "model": found.model_seconds,
                "hearing": 0.0 if said is None else time.monotonic() - answered,
            },
        )

    def _hear(self, user_id: int, message: str) -> None:
        """What a user says after an answer, as a turn that is remembered."""
        session_id = self._assistant.journal.open_session(user_id)
        _played(self._assistant, user_id, session_id, message, _Seen())
        if reasons := self._assistant.remember(user_id):
            hint = "The same command, without --fresh, goes on from here."
            raise TryAgain(f"what a user says cannot be remembered: {reasons[0]}", hint=hint)

    def _named(self, candidates: Sequence[Candidate]) -> list[tuple[str, str]]:
        return [(self._names.of(c.passage), c.passage.text) for c in candidates]


class _Seen:
    """What a turn found."""

    def __init__(self) -> None:
        self.candidates: tuple[Candidate, ...] = ()

    def __call__(self, event: Event) -> None:
        if isinstance(event, Searched):
            self.candidates = event.candidates


def _played(assistant: ReplayAssistant, user_id: int, session_id: int, message: str, seen: _Seen) -> Finished:
    finished = assistant.host.play(user_id, session_id, message, watch=seen)
    if finished.error is not None:
        raise finished.error
    return finished


def facts_of(method: Method, *, earlier: int = 0) -> dict[str, Any]:
    """What a method tells of its last training, wall times apart; nothing without more than `earlier`."""
    rounds: Sequence[Any] = getattr(method, "rounds", ())
    if len(rounds) <= earlier or not is_dataclass(rounds[-1]):
        return {}
    facts = asdict(rounds[-1])  # type: ignore[arg-type]
    return {name: value for name, value in facts.items() if name != "seconds"}
