"""Plays a stream of questions through the pipeline of the chat: answered, scored, then learned from.

    question -> a turn, as in the chat -> measured -> noted -> every U, or when a set ends: learned from

Each question is a private session of its own, so that none is completed from another or found as somebody's
own words. A figure of a question hangs on earlier questions only. A run that was killed goes on behind the
last step that it noted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import fmean

from agents.base.interfaces import Candidate
from assistant.replay.methods.method import Asked, Found, Method
from assistant.replay.metrics.measures import Named, measured
from assistant.replay.runs.replay_assistant import ReplayAssistant, ReplayClock
from assistant.replay.runs.steps import AskedStep, LearnedStep, Steps
from assistant.replay.storage.data_set_store import Names
from assistant.replay.streams.datasets import ReplayQuestion
from assistant.turns.events import Event, Finished, Searched
from stores.base.clock import time_by
from stores.learning.lessons import tells_when_to_end

_FUSED = "fused R@5"


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
        ends: Sequence[int] = (),
    ) -> None:
        """questions: as they are stored. interval: U, questions between two trainings; 0: none.

        ends: after how many questions each set ends, where it learns then and not after intervals. Then the
        questions of all sets so far by which trainings end, and which teach nothing, are searched again.
        """
        self.assistant = assistant
        self._method = method
        self._questions = questions
        self._names = names
        self._steps = steps
        self._interval, self._ends = interval, ends
        self._clock = ReplayClock()
        self._retriever = assistant.search.search_by(method)

    def play(self, watch: Callable[[int, int], None] = lambda done, of: None) -> None:
        """Asks what is left of the stream. Raises what a turn failed by; the same call later goes on.

        watch: is given how many questions are done, of how many.
        """
        asked, learned = self._steps.asked, self._steps.learned
        with time_by(self._clock):
            if learned:
                self._method.take_up([step.judged for step in asked[: learned[-1].after]])
            for number in range(len(asked), len(self._questions)):
                self._learn_if_due(number)
                watch(number, len(self._questions))
                self._clock.at(number)
                self._steps.note_asked(self.ask(self._questions[number]))
            if self._ends:
                self._learn_if_due(len(self._questions))
        watch(len(self._questions), len(self._questions))

    def _learn_if_due(self, asked: int) -> None:
        learned = self._steps.learned
        since = learned[-1].after if learned else 0
        is_due = asked in self._ends if self._ends else self._interval and asked % self._interval == 0
        if not is_due or since == asked:
            return
        began = time.monotonic()
        facts = self._method.learn([step.judged for step in self._steps.asked[since:asked]])
        seconds = time.monotonic() - began
        self._steps.note_learned(LearnedStep(asked, facts, seconds, self._held_out(asked)))

    def _held_out(self, asked: int) -> list[float]:
        """Of each set so far, fused R@5 of what is held out; 0 where nothing is."""
        rows = list[float]()
        for begin, end in zip((0, *self._ends), self._ends, strict=False):
            if end <= asked:
                some = [q for q in self._questions[begin:end] if tells_when_to_end(q.text)]
                found = [hit for question in some if (hit := self._hit(question)) is not None]
                rows.append(fmean(found) if found else 0.0)
        return rows

    def _hit(self, question: ReplayQuestion) -> float | None:
        """Fused R@5 of a question, searched as the method is now; None where nothing answers it."""
        search = self.assistant.search
        space = search.spaces.of(self.assistant.stores.journal.user_id(question.user))
        found = self._method.retrieve(Asked(question.id, question.text), search.search_in(space))
        fused = self.named(found.candidates)
        return measured(question, dense=fused, fused=fused, reranked=fused, reply="", tokens=0).get(_FUSED)

    def ask(self, question: ReplayQuestion) -> AskedStep:
        """One question, answered and measured."""
        assistant = self.assistant
        user_id = assistant.stores.journal.user_id(question.user)
        session_id = assistant.stores.journal.open_session(user_id, is_private=True)
        began = time.monotonic()
        assistant.models.judge.calls.clear()
        self._retriever.asked = Asked(question.id, question.text)
        searched: list[Candidate] = []

        def watch(event: Event) -> None:
            if isinstance(event, Searched):
                searched[:] = event.candidates

        finished = played(assistant, user_id, session_id, question.text, watch)
        self._retriever.asked = None
        found = self._retriever.found
        assert found is not None, "a turn that is done has searched"
        by_version = {candidate.passage.version_id: candidate for candidate in searched}
        rows = assistant.stores.journal.found_in(user_id, finished.turn_id)
        reranked = [by_version[row.version_id] for row in rows]
        return AskedStep(
            question=question.id,
            text=question.text,
            domain=question.domain,
            figures=self.figures(question, found, reranked, finished.answer),
            reply=finished.answer,
            judgements=tuple(each for call in assistant.models.judge.calls for each in call.judgements),
            seconds=time.monotonic() - began,
        )

    def figures(
        self, question: ReplayQuestion, found: Found, reranked: Sequence[Candidate], reply: str
    ) -> dict[str, float]:
        """What the answer is worth; see `measured`."""
        return measured(
            question,
            dense=self.named(found.dense),
            fused=self.named(found.candidates),
            reranked=self.named(reranked),
            reply=reply,
            tokens=sum(call.tokens for call in self.assistant.models.judge.calls) + found.tokens,
        )

    def named(self, candidates: Sequence[Candidate]) -> Named:
        """Candidates by their names in the data set."""
        return [(self._names.of(c.passage), c.passage.text) for c in candidates]


def played(
    assistant: ReplayAssistant,
    user_id: int,
    session_id: int,
    message: str,
    watch: Callable[[Event], None] = lambda event: None,
) -> Finished:
    """One turn; raises what it failed by."""
    finished = assistant.turns.host.play(user_id, session_id, message, watch=watch)
    if finished.error is not None:
        raise finished.error
    return finished
