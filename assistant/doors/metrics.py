"""What a server tells of itself at /metrics, in Prometheus' format: counts and times, and nobody's words.

Turns, their steps and tokens are those of this process, as it logs them; jobs and rounds those of the
database.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST

if TYPE_CHECKING:
    from stores.checks.counts import Counts

_TURNS = "assistant.turns.pipeline"  # logs each turn when it has ended, with its steps
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics(logging.Handler):
    """Counts what is logged of turns; to be closed."""

    def __init__(self, counts: Callable[[], Counts]) -> None:
        """counts: of the database, asked at each look."""
        super().__init__()
        self._registry = CollectorRegistry()
        self._turns = Counter(
            "vouch_turns", "Turns that have ended.", ["state", "model"], registry=self._registry
        )
        self._steps = Histogram(
            "vouch_step_seconds", "Steps of a turn.", ["step"], registry=self._registry, buckets=_SECONDS
        )
        self._tokens = Counter(
            "vouch_tokens", "Tokens, as model servers counted them.", ["direction"], registry=self._registry
        )
        self._registry.register(_Stored(counts))
        turns = logging.getLogger(_TURNS)
        turns.addHandler(self)
        turns.setLevel(min(logging.INFO, turns.getEffectiveLevel()))  # else nothing is told of a turn

    def emit(self, record: logging.LogRecord) -> None:
        told = getattr(record, "fields", {})
        if "milliseconds" not in told:
            return
        self._turns.labels(told["state"], told["model"]).inc()
        for step, milliseconds in told["milliseconds"].items():
            self._steps.labels(step).observe(milliseconds / 1000)
        for direction, count in told["tokens"].items():
            self._tokens.labels(direction).inc(count)

    def text(self) -> tuple[bytes, str]:
        """As Prometheus reads it, and the kind of text that it is."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST

    def close(self) -> None:
        logging.getLogger(_TURNS).removeHandler(self)
        super().close()


class _Stored:
    """What the database says when it is asked."""

    def __init__(self, counts: Callable[[], Counts]) -> None:
        self._counts = counts

    def collect(self) -> Iterable[Metric]:
        """Of the library: a metric a kind of thing."""
        counts = self._counts()
        jobs = GaugeMetricFamily("vouch_jobs_waiting", "Jobs that are not done.", labels=["kind"])
        for kind, count in counts.jobs.items():
            jobs.add_metric([kind], count)
        rounds = GaugeMetricFamily("vouch_rounds", "Rounds of training.", labels=["recipe", "state"])
        for (recipe, state), count in counts.rounds.items():
            rounds.add_metric([recipe, state], count)
        return [jobs, rounds]
