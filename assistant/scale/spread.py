"""A worker is made where it works, is given batches, and what it makes of them comes back in their order.

What is left to do is known by the database alone, so a run that was killed goes on by asking it again, and
nothing here is kept. A worker of Ray that dies is made anew, and its batch is done again.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

from assistant.settings.config import ScaleSettings
from stores.base.errors import BackendMissing, TryAgain

B = TypeVar("B")
R = TypeVar("R")
B_contra = TypeVar("B_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

MakeWorker = Callable[
    [], Callable[[B], R]
]  # is sent to other processes: a function of a module, or a partial

_PORT = 6379  # of a cluster's head
_ANSWERS_WITHIN_SECONDS = 10
_AHEAD = 2  # batches that each worker has at a time: one that it works on, and the next
_KEYS = ("VOUCH_API_KEY", "OPENAI_API_KEY")  # of models' servers, and what begins with the first
_NONE = object()


class Spread(Protocol[B_contra, R_co]):
    """What works on batches."""

    def over(self, batches: Iterable[B_contra]) -> Iterator[R_co]:
        """What becomes of each batch, in their order; batches are drawn as they are needed."""
        ...

    def close(self) -> None:
        """Ends the workers."""
        ...


def spread(
    make_worker: MakeWorker[B, R],
    scale: ScaleSettings,
    *,
    cpus: int = 1,
    ahead: int = _AHEAD,
    needs_key: bool = False,
) -> Spread[B, R]:
    """Workers of the engine that the settings name, made when there is a first batch.

    cpus: that a worker takes of a cluster's; 0 for one that others work beside. ahead: batches that each has
    at a time. needs_key: whether it is left the keys of models' servers that its node has; else it has none.
    """
    if scale.engine == "here":
        return InThisProcess(make_worker)
    return OnRay(make_worker, scale, cpus=cpus, ahead=ahead, needs_key=needs_key)


def workers_of(scale: ScaleSettings) -> int:
    """How many there are."""
    return scale.workers or os.cpu_count() or 1


class InThisProcess(Generic[B, R]):
    """One worker, here."""

    def __init__(self, make_worker: MakeWorker[B, R]) -> None:
        self._make_worker = make_worker
        self._worker: Callable[[B], R] | None = None

    def over(self, batches: Iterable[B]) -> Iterator[R]:
        """See `Spread`."""
        if self._worker is None:
            self._worker = self._make_worker()
        yield from map(self._worker, batches)

    def close(self) -> None:
        """See `Spread`."""
        self._worker = None


class OnRay(Generic[B, R]):
    """Actors of Ray: a cluster that is there, or one begun on this machine, which ends with the last."""

    _open: ClassVar[int] = 0  # those with actors in this process
    _one_at_a_time: ClassVar[threading.Lock] = threading.Lock()  # that begins or closes

    def __init__(
        self,
        make_worker: MakeWorker[B, R],
        scale: ScaleSettings,
        *,
        cpus: int = 1,
        ahead: int = _AHEAD,
        needs_key: bool = False,
    ) -> None:
        """See `spread`."""
        self._make_worker, self._scale = make_worker, scale
        self._cpus, self._ahead, self._needs_key = cpus, ahead, needs_key
        self._actors: list[Any] = []
        self._sent: list[Any] = []

    def over(self, batches: Iterable[B]) -> Iterator[R]:
        """See `Spread`. Raises `BackendMissing` without Ray, `TryAgain` where it cannot be reached, and what
        a worker raises. While one works long on a batch, as many again are done by others.
        """
        if not self._actors:
            with OnRay._one_at_a_time:
                self._begin()
        import ray

        left: Iterator[Any] = iter(batches)
        free, running = self._actors * self._ahead, dict[Any, Any]()  # by result, who works on it
        most, results = 2 * len(free), deque[Any]()  # in the order of batches
        while True:
            while free and len(results) < most and (batch := next(left, _NONE)) is not _NONE:
                results.append(free[-1].do.remote(batch, self._sent))
                running[results[-1]] = free.pop()
            if not results:
                return
            if results[0] in running:
                [done], _ = ray.wait(list(running))
                free.insert(0, running.pop(done))
            else:
                yield _got(ray, results.popleft())

    def close(self) -> None:
        """See `Spread`."""
        if self._actors:
            import ray

            with OnRay._one_at_a_time:
                for actor in self._actors:
                    ray.kill(actor)
                self._actors = self._sent = []
                OnRay._open -= 1
                if not OnRay._open:
                    ray.shutdown()

    def _begin(self) -> None:
        _settle_environment()
        try:
            import ray
        except ModuleNotFoundError as error:
            raise BackendMissing(
                'scale.engine is "ray", but Ray is not installed', hint="pip install 'vouch[cluster]'"
            ) from error
        workers = workers_of(self._scale)
        try:
            if self._scale.address:
                _look_for(self._scale.address)
            if not ray.is_initialized():
                ray.init(
                    address=self._scale.address or "local",
                    num_cpus=None if self._scale.address else workers,
                    include_dashboard=False,
                    log_to_driver=False,
                    configure_logging=False,
                )
        except (OSError, RuntimeError, ValueError) as error:
            where = self._scale.address or "this machine"
            raise TryAgain(
                f"Ray at {where} cannot be reached: {error}",
                hint="Ray and Python must have the same versions there as here.",
            ) from error
        there = ray.cluster_resources()  # type: ignore[no-untyped-call]
        # one without a CPU would wait for ever
        workers = max(1, min(workers, int(there.get("CPU", 1)) // max(1, self._cpus)))
        actor = ray.remote(num_cpus=self._cpus, max_restarts=-1, max_task_retries=-1)(_Worker)
        keys = {*_KEYS, *(name for name in os.environ if name.startswith(_KEYS[0]))}
        variables = {} if self._needs_key else dict.fromkeys(keys, "")
        variables |= {"OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"}
        made = actor.options(runtime_env={"env_vars": variables})
        self._sent = [ray.put(self._make_worker)]  # once for all, and kept for those that are made anew
        self._actors = [made.remote() for _ in range(workers)]
        OnRay._open += 1


class _Worker(Generic[B, R]):
    """In an actor; made with its first batch, so that what hinders it is raised as by any other."""

    def __init__(self) -> None:
        self._work: Callable[[B], R] | None = None

    def do(self, batch: B, make_worker: list[Any]) -> R:
        """make_worker: where it lies in Ray's store, of any size; asked for once."""
        if self._work is None:
            import ray

            self._work = ray.get(make_worker[0])()
        return self._work(batch)


def _got(ray: Any, result: Any) -> Any:
    """What a worker has made. Raises what it raised, as if it had been here."""
    try:
        return ray.get(result)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error


def _look_for(address: str) -> None:
    """Raises `OSError` where nobody listens: Ray itself would try for minutes."""
    place = urlsplit(address if "//" in address else f"//{address}")
    socket.create_connection(
        (place.hostname or "", place.port or _PORT), timeout=_ANSWERS_WITHIN_SECONDS
    ).close()


def _settle_environment() -> None:
    """Ray tells nobody that it is used, and answers nobody without a token."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if "RAY_AUTH_TOKEN" not in os.environ and "RAY_AUTH_TOKEN_PATH" not in os.environ:
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    os.environ.setdefault("RAY_AUTH_MODE", "token")
