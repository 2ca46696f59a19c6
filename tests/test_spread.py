"""Bulk work by actors of Ray: the same vectors to the bit, whoever dies, and no process left behind."""

from __future__ import annotations

import importlib.util
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from assistant.library.documents import PreparedDocument, PreparedPassage
from assistant.scale.spread import InThisProcess, OnRay, spread
from assistant.settings.config import ScaleSettings, Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.base.errors import TryAgain
from stores.base.passages import own_space

WORKERS = ScaleSettings(engine="ray", workers=2)
MANY = 1100  # passages: more than one step


def doubling(seen: Path | None) -> Callable[[Sequence[int]], list[int]]:
    def doubled(batch: Sequence[int]) -> list[int]:
        if seen is not None:
            (seen / f"{os.getpid()}").touch()
            time.sleep(0.05)
        return [2 * each for each in batch]

    return doubled


def test_in_this_process_one_worker_is_made_when_it_is_needed() -> None:
    made: list[int] = []

    def make() -> Callable[[int], int]:
        made.append(1)
        return lambda number: number + 1

    workers = spread(make, ScaleSettings())
    assert isinstance(workers, InThisProcess)
    assert made == []
    assert list(workers.over([1, 2])) + list(workers.over([3])) == [2, 3, 4]
    assert made == [1]
    workers.close()


def needs_ray() -> None:
    """Without importing it: what it reads of the environment it reads then."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed")


def processes() -> list[str]:
    """Of Ray, as far as this user sees them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if "raylet" in command or "gcs_server" in command or command.startswith("ray::"):
            found.append(command)
    return found


@pytest.mark.slow
def test_batches_come_back_in_order_though_a_worker_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_ray()
    here = Path(__file__).parent
    monkeypatch.setenv(
        "PYTHONPATH", f"{here}{os.pathsep}{here.parent}"
    )  # where the worker is made of this file
    before = processes()
    workers = OnRay(partial(doubling, tmp_path), WORKERS)
    batches = [[number, number + 1] for number in range(60)]

    def drawn() -> Iterator[list[int]]:
        for place, batch in enumerate(batches):
            if place == 20:
                os.kill(int(next(tmp_path.iterdir()).name), signal.SIGKILL)
            yield batch

    try:
        assert list(workers.over(drawn())) == [[2 * n, 2 * n + 2] for n in range(60)]
        assert len(list(tmp_path.iterdir())) >= 3  # one was made anew
    finally:
        workers.close()
    for _ in range(100):
        if (left := processes()) == before:
            break
        time.sleep(0.1)
    assert left == before


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_told() -> None:
    needs_ray()
    workers = OnRay(partial(doubling, None), ScaleSettings(engine="ray", address="127.0.0.1:1"))
    with pytest.raises(TryAgain, match=r"127\.0\.0\.1:1"):
        list(workers.over([[1]]))


@pytest.mark.slow
def test_documents_get_the_same_vectors_to_the_bit(tmp_path: Path, minilm_folder: Path) -> None:
    needs_ray()
    kept = [
        vectors(tmp_path / name, minilm_folder, scale) for name, scale in (("here", None), ("ray", WORKERS))
    ]
    assert len(kept[0]) == MANY
    assert kept[0] == kept[1]


def vectors(data: Path, minilm: Path, scale: ScaleSettings | None) -> dict[str, bytes]:
    places = find_locations(
        {"XDG_CACHE_HOME": str(minilm.parent.parent.parent), "HOME": str(data)}, data=str(data)
    )
    settings = Settings(scale=scale) if scale else Settings()
    assistant = Assistant(settings, places, offline=True)
    try:
        assistant.catch_up()
        user = assistant.stores.journal.user_id("ann")
        document = PreparedDocument(
            "lockers",
            "Lockers",
            "1",
            tuple(
                PreparedPassage("", f"Locker {n} of hall {n % 7} holds {37 * n} keys.") for n in range(MANY)
            ),
        )
        for _ in assistant.turns.ingest.run(user, own_space(user), [document], summary="lockers"):
            pass
        with assistant.stores.database.reading() as sql:
            rows = sql.connection().exec_driver_sql(
                "SELECT v.text, x.vector FROM passage_vectors AS x"
                " JOIN passage_versions AS v ON v.id = x.version_id"
            )
            return {text: bytes(vector) for text, vector in rows}
    finally:
        assistant.close()
