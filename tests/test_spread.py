"""Bulk work by actors of Ray: the same vectors to the bit, whoever dies, and no process left behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import docx
import pytest
from begun_processes import begun_with, left_of, needs_ray
from document_files import LONG, Write, write

from assistant.library.documents import PreparedDocument, PreparedPassage, Readable, ReadFile
from assistant.library.reading import read_files
from assistant.replay.runs.replay_assistant import own_settings
from assistant.scale.spread import InThisProcess, OnRay, spread
from assistant.settings.config import ScaleSettings, Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.base.errors import InvalidSetting, TryAgain, UnreadableDocument
from stores.base.passages import own_space

__all__ = ["write"]  # a fixture

WORKERS = ScaleSettings(engine="ray", workers=2)
MANY = 1100  # passages: more than one step


def doubling(seen: Path | None, _large: bytes = b"") -> Callable[[Sequence[int]], list[int]]:
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


@pytest.fixture
def leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process is left behind of those begun from here, and workers find this file."""
    needs_ray()
    here = Path(__file__).parent
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(here), str(here.parent), str(tmp_path))))
    yield
    assert not left_of(str(tmp_path))


@pytest.mark.slow
@pytest.mark.usefixtures("leaves_nothing")
def test_batches_come_back_in_order_though_a_worker_is_killed(tmp_path: Path) -> None:
    (seen := tmp_path / "seen").mkdir()
    workers = OnRay(partial(doubling, seen, bytes(1_000_000)), WORKERS)
    batches = [[number, number + 1] for number in range(60)]

    def drawn() -> Iterator[list[int]]:
        for place, batch in enumerate(batches):
            if place == 20:
                os.kill(int(next(seen.iterdir()).name), signal.SIGKILL)
            yield batch

    with closing(workers):
        assert list(workers.over(drawn())) == [[2 * n, 2 * n + 2] for n in range(60)]
        assert len(list(seen.iterdir())) >= 3  # one was made anew
        assert begun_with(str(tmp_path))


def keys(worker: str) -> Callable[[str], str]:
    if worker == "nobody":
        raise InvalidSetting("scale.worker", worker, "somebody")
    return lambda name: os.environ[name]


@pytest.mark.slow
@pytest.mark.usefixtures("leaves_nothing")
def test_only_who_needs_a_key_has_it_and_an_error_is_that_of_the_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ["VOUCH_API_KEY", "VOUCH_API_KEY_OTHER", "OPENAI_API_KEY"]
    for name in names:
        monkeypatch.setenv(name, "k" * 20)
    one = replace(WORKERS, workers=1)
    with closing(OnRay(partial(keys, "ann"), one, cpus=0)) as with_none:
        assert list(with_none.over(names)) == ["", "", ""]
        with closing(OnRay(partial(keys, "ann"), WORKERS, needs_key=True)) as with_keys:  # there is one CPU
            assert list(with_keys.over(names)) == ["k" * 20] * 3
        with closing(OnRay(partial(keys, "nobody"), one, cpus=0)) as broken:
            with pytest.raises(InvalidSetting, match=r"^scale\.worker is 'nobody'") as raised:
                list(broken.over(names))
            assert raised.value.key == "scale.worker"
        with pytest.raises(KeyError):
            list(with_none.over(["NOT_THERE"]))


def hostile(file: Path) -> Path:
    """One that takes too much memory, and ends its reader."""
    docx.Document().save(str(file))
    with ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    body = b"<w:body>" + b"<w:p/>" * 2_000_000
    parts["word/document.xml"] = parts["word/document.xml"].replace(b"<w:body>", body)
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return file


def told(read: Readable) -> str:
    return read.source if isinstance(read, ReadFile) else repr(read)  # some were written just before


@pytest.mark.slow
@pytest.mark.usefixtures("leaves_nothing")
def test_files_are_read_by_workers_as_they_are_here(write: Write, tmp_path: Path) -> None:
    files = [write(f"{number:02}.txt", f"{LONG} {number}") for number in range(20)]
    files.insert(3, hostile(tmp_path / "hostile.docx"))
    files.insert(5, write("records.jsonl", '{"id": 1, "text": "Oslo"}\nbad\n'))
    files.insert(7, tmp_path / "none.txt")
    here, there = (list(read_files(files, scale)) for scale in (ScaleSettings(), WORKERS))
    assert [told(each) for each in here] == [told(each) for each in there]
    unread = [each for each in there if isinstance(each, UnreadableDocument)]
    assert [each.source for each in unread] == [str(files[n]) for n in (3, 5, 7)]
    assert "takes more memory" in unread[0].reason


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


def test_a_run_of_a_replay_has_no_workers_of_its_own() -> None:
    settings = Settings(scale=ScaleSettings(engine="ray"))
    assert own_settings(settings, learns=False, min_judged=1).scale.engine == "here"
