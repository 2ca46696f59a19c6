"""Plays turns, for whoever has a person before it: a command, lines of text, a screen, a server, a library.

    play -> what it tells, event by event -> Finished -> remember -> a notice of each thing learned -> settle

The loop runs on a thread of its own, so that what follows a turn goes on while a person types.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import ExitStack, aclosing, contextmanager, suppress
from typing import Any, TypeVar

from agents.base.chat_interfaces import Image, Tools
from assistant.remembering.remembering import Remembering
from assistant.turns.events import Accepted, Busy, Chosen, Event, Finished, NoWord, Wrote
from assistant.turns.pipeline import TurnPipeline
from stores.base.errors import ModelBusy, OverTime, VouchError
from stores.claims.decisions import Learned

T = TypeVar("T")

# A signal that the system hands to another thread, or that comes just before a wait, does not wake the thread
# that waits, and Python lets only the main one act on it: after so long it looks up by itself.
_LOOKS_UP_SECONDS = 0.1
_TELLS_EVERY_SECONDS = 1.0  # who waits for a first word, or for a model that is busy
_FIRST_SECONDS, _LONGEST_SECONDS = 5.0, 60.0  # to the next try, where a busy server does not say how long


class Sending:
    """A message on its way to its answer: announced by the thread that sends it, stopped by any."""

    def __init__(self) -> None:
        self.announced = ExitStack()
        self._is_stopped = False
        self._task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def stop(self) -> None:
        """Ends the reply, once its message is durable, or the wait for a model that is busy."""
        self._is_stopped = True
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended, and the reply with it
                self._loop.call_soon_threadsafe(self._cancel)

    def may_stop(self, yes: bool) -> None:
        """Says whether it may be stopped from now on; called within the task that plays the turn."""
        self._task, self._loop = asyncio.current_task() if yes else None, asyncio.get_running_loop()
        if self._is_stopped:
            self._cancel()

    def _cancel(self) -> None:
        if self._task is not None and not self._task.cancelling():
            self._task.cancel()


class TurnHost:
    """One event loop for all turns, so that a model's connections outlive a turn."""

    def __init__(self, pipeline: TurnPipeline, remembering: Callable[[], Remembering]) -> None:
        """remembering: made when there is first something to remember; by the thread that says so."""
        self._pipeline = pipeline
        self._make_remembering = remembering
        self._remembering: Remembering | None = None
        self._one_at_a_time = asyncio.Lock()
        self._left: set[Future[None]] = set()  # what is being remembered
        self._tasks: set[asyncio.Task[Any]] = set()  # all that runs for this host
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="turns", daemon=True)
        self._thread.start()

    def play(
        self,
        user_id: int,
        session_id: int,
        message: str,
        *,
        watch: Callable[[Event], None],
        material: str = "",
        images: Sequence[Image] = (),
        timeout_seconds: float | None = None,
        instead_of: int | None = None,
        tries_again: bool = False,
    ) -> Finished:
        """Plays one turn to its end, telling `watch` each event, on the loop's thread. See `playing`.

        Ctrl+C stops the reply, keeps its part, and raises KeyboardInterrupt.
        """
        with self.announced(Sending()) as sending:
            return self._run(
                self.playing(
                    sending,
                    user_id,
                    session_id,
                    message,
                    watch=watch,
                    material=material,
                    images=images,
                    timeout_seconds=timeout_seconds,
                    instead_of=instead_of,
                    tries_again=tries_again,
                )
            )

    @contextmanager
    def announced(self, sending: Sending) -> Iterator[Sending]:
        """From the message on, and not only once the loop has come to it, no step of remembering begins."""
        with sending.announced as until_it_is_played:
            if self._remembering is not None:
                until_it_is_played.enter_context(self._remembering.answers_first.announced(self.loop))
            yield sending

    async def playing(
        self,
        sending: Sending,
        user_id: int,
        session_id: int,
        message: str,
        *,
        watch: Callable[[Event], None],
        material: str = "",
        images: Sequence[Image] = (),
        timeout_seconds: float | None = None,
        instead_of: int | None = None,
        behind: int | None = None,
        tools: Tools | None = None,
        tries_again: bool = False,
    ) -> Finished:
        """One turn to its end, to be run on `loop`; each event is told to `watch`.

        images: that go with the message. instead_of: the turn in whose place it comes, with that one's images
        where none are given; it is kept, in a branch of its own. behind: the turn that it follows.
        tools: that its program offers the model.
        tries_again: a model that is busy is asked again, in a further turn, for as long as nobody stops that.
        Raises `OverTime` after `timeout_seconds` for one reply, with its part kept.
        """
        with self._known():
            tries = 0
            if instead_of is not None and not images:
                images = await self._pipeline.images_of(user_id, instead_of)
            while True:
                silence, finished = _Silence(watch), None
                sending.may_stop(False)  # until the message is durable
                turn = self._pipeline.take(
                    user_id,
                    session_id,
                    message,
                    material=material,
                    images=images,
                    instead_of=instead_of,
                    behind=behind,
                    tools=tools,
                )
                try:
                    async with asyncio.timeout(timeout_seconds), aclosing(turn) as events:
                        sending.announced.close()
                        async for event in events:
                            watch(event)
                            silence.heard(event)
                            if isinstance(event, Accepted):
                                sending.may_stop(True)
                            elif isinstance(event, Finished):
                                finished = event
                except TimeoutError:
                    if finished is None:
                        raise OverTime(
                            f"no whole answer within {timeout_seconds:g} s",
                            hint="Give it longer with --timeout; what had arrived is kept.",
                        ) from None
                finally:
                    silence.end()
                assert finished is not None, "a turn that raises nothing finishes"
                if not (tries_again and isinstance(finished.error, ModelBusy)) or silence.is_broken:
                    return finished
                try:
                    await _wait_out(finished.error, tries, watch)
                except asyncio.CancelledError:  # it stays as it ended
                    return finished
                tries, instead_of, behind = tries + 1, None, None  # a further try follows the first

    def remember(self, user_id: int, tell: Callable[[Learned], None]) -> None:
        """Begins what is due for this user, in the background; `tell` is called on the loop's thread."""
        self._left.add(self.remembering(user_id, tell))

    def remembering(self, user_id: int, tell: Callable[[Learned], None]) -> Future[None]:
        """The same for one of several users, who waits for what is theirs alone, or does not."""
        if self._remembering is None:
            self._remembering = self._make_remembering()
        return asyncio.run_coroutine_threadsafe(self._remember(self._remembering, user_id, tell), self.loop)

    def settle(self, timeout_seconds: float | None = None) -> bool:
        """Waits until what was begun is remembered, or for so long; whether it is.

        Raises what went wrong, other than a model that is down: for that the jobs wait.
        """
        done, self._left = _wait(self._left, timeout_seconds)
        for each in done:
            each.result()
        return not self._left

    def settled(self, timeout_seconds: float | None = None) -> str | None:
        """The same, but returns what remembering waits for: empty where it is done, None while it goes on."""
        try:
            return "" if self.settle(timeout_seconds) else None
        except VouchError as error:  # the answer stands, and what was stated waits
            return error.message

    def check_images(self) -> None:
        """Raises `WrongUsage` unless the chat model is known to take images."""
        self._run(self._pipeline.check_images())

    def ask_model(self, text: str) -> str:
        """The chat model's bare reply to a text: whether it can be reached at all."""
        return self._run(self._pipeline.bare_reply(text))

    def close(self) -> None:
        """Ends what still runs and gives back the model's connections; what is not remembered waits."""
        try:
            self._run(self._end())
        finally:
            if self._remembering is not None:
                self._remembering.close()
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
            self.loop.close()

    async def _end(self) -> None:
        others = {task for task in self._tasks if task is not asyncio.current_task()}
        for task in others:  # a turn is among them where Ctrl+C came twice, cancelled already
            if not task.cancelling():
                task.cancel()
        if others:
            await asyncio.wait(others)
        await self._pipeline.aclose()

    async def _remember(
        self, remembering: Remembering, user_id: int, tell: Callable[[Learned], None]
    ) -> None:
        with self._known():
            async with self._one_at_a_time:
                await remembering.run_due(user_id, tell)

    @contextmanager
    def _known(self) -> Iterator[None]:
        """While the task that runs is one of those that `close` ends."""
        task = asyncio.current_task()
        assert task is not None, "it runs in a task"
        self._tasks.add(task)
        try:
            yield
        finally:
            self._tasks.discard(task)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs to its end on the loop; torn out of it by a signal, stops the work and waits until it has."""
        ended = threading.Event()

        async def whole() -> T:
            try:
                with self._known():
                    return await work
            finally:
                ended.set()

        running = asyncio.run_coroutine_threadsafe(whole(), self.loop)
        try:
            _wait({running}, None)
            return running.result()
        except BaseException:
            if not running.done():
                running.cancel()
                ended.wait()
            raise


class _Silence:
    """Tells who watches a turn, second by second, that there is no word yet."""

    def __init__(self, watch: Callable[[Event], None]) -> None:
        self._watch = watch
        self._accepted_at = self._asked_at = 0.0  # seconds of the loop's clock; 0.0 before it came to that
        self._next: asyncio.TimerHandle | None = None
        self.is_broken = False  # some of the reply has come

    def heard(self, event: Event) -> None:
        """Takes in what the turn tells; what is waited for begins with it, or ends."""
        moment = asyncio.get_running_loop().time()
        if isinstance(event, Accepted):
            self._accepted_at = moment
            self._go_on()
        elif isinstance(event, Chosen):
            self._asked_at = moment
            self._go_on()
        elif isinstance(event, Wrote):
            self.is_broken = True
            self.end()

    def end(self) -> None:
        """Tells nothing more."""
        if self._next is not None:
            self._next.cancel()

    def _go_on(self) -> None:
        self.end()
        self._next = asyncio.get_running_loop().call_later(_TELLS_EVERY_SECONDS, self._tell)

    def _tell(self) -> None:
        moment = asyncio.get_running_loop().time()
        asked = moment - self._asked_at if self._asked_at else 0.0
        self._watch(NoWord(moment - self._accepted_at, asked))
        self._go_on()


async def _wait_out(error: ModelBusy, tries: int, watch: Callable[[Event], None]) -> None:
    """Until a busy model can be asked again, told second by second."""
    whole = math.ceil(wait_seconds(error, tries))
    for left in range(whole, 0, -1):
        watch(Busy(left, whole))
        await asyncio.sleep(_TELLS_EVERY_SECONDS)
    watch(Busy(0, whole))


def wait_seconds(error: ModelBusy, tries: int) -> float:
    """As long as the server says; else longer each time. tries: those that were waited out before."""
    if error.retry_after_seconds is not None:
        return max(1.0, error.retry_after_seconds)
    return float(min(_LONGEST_SECONDS, _FIRST_SECONDS * 2**tries))


def _wait(
    running: Collection[Future[T]], timeout_seconds: float | None
) -> tuple[set[Future[T]], set[Future[T]]]:
    """Waits for all of them, or for so long; those that are done and those that are not."""
    ends = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    while True:
        left = _LOOKS_UP_SECONDS if ends is None else min(_LOOKS_UP_SECONDS, ends - time.monotonic())
        done, others = wait_for(running, max(left, 0.0))
        if not others or left <= 0:
            return done, others
