"""The shared index in a ChromaDB server: written by many, told when it is gone, found when it is back."""

from __future__ import annotations

import base64
import itertools
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from chroma_server import ChromaServer
from index_fixtures import clusters

import stores.vectors.chroma_index
from stores.base.errors import StoreUnavailable
from stores.vectors.chroma_index import ChromaServerVectors
from tests.free_ports import free_port

EAST, NORTH, UP, BEYOND = np.eye(4, dtype=np.float32)
NUMBERS = itertools.count(1)


@pytest.fixture
def index(chroma_server: ChromaServer) -> Iterator[ChromaServerVectors]:
    opened = ChromaServerVectors(chroma_server.url, f"own-{next(NUMBERS)}")
    yield opened
    opened.close()


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[ChromaServer]:
    """A server that a test may kill."""
    server = ChromaServer(tmp_path / "data")
    server.start()
    yield server
    server.stop()


class Other(BaseHTTPRequestHandler):
    """Answers everything as a site of something else does, and keeps what it was sent."""

    status = 200
    page = b"<html>" + b"Welcome! " * 100
    logins: list[str | None]

    def answer(self) -> None:
        self.logins.append(self.headers["Authorization"])
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.page)))
        self.end_headers()
        self.wfile.write(self.page)

    do_GET = do_POST = answer  # noqa: N815 - so named by http.server

    def log_message(self, *_: object) -> None:
        """Silent."""


@contextmanager
def other_server(status: int = 200, page: bytes = Other.page) -> Iterator[tuple[int, list[str | None]]]:
    """The port of a server that is no ChromaDB, and the logins that it was given."""
    logins: list[str | None] = []
    handler = type("Handler", (Other,), {"status": status, "page": page, "logins": logins})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port, logins
        finally:
            server.shutdown()
            thread.join()


def test_a_server_that_is_down_is_told_with_its_url_and_what_to_do() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(StoreUnavailable, match=f"{url}: no answer as of a ChromaDB server") as told:
        ChromaServerVectors(url, "fake")
    assert "chroma run" in told.value.hint
    assert told.value.exit_code == 3


@pytest.mark.parametrize("url", ["", "127.0.0.1:8000", "ftp://127.0.0.1", "http://", "http://127.0.0.1:port"])
def test_what_is_no_url_of_a_server_is_told(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="not the URL of a ChromaDB server") as told:
        ChromaServerVectors(url, "fake")
    assert "http://127.0.0.1:8000" in told.value.hint


@pytest.mark.parametrize(
    ("status", "page"), [(200, Other.page), (404, Other.page), (500, b""), (200, b"{}"), (200, b"[1]")]
)
def test_a_server_of_something_else_is_told_in_a_line(status: int, page: bytes) -> None:
    with other_server(status, page) as (port, _):
        with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port}: no answer as of a ChromaDB") as told:
            ChromaServerVectors(f"http://127.0.0.1:{port}", "fake")
        assert len(told.value.message) < 350


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores.vectors.chroma_index, "_ANSWER_SECONDS", 0.1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(StoreUnavailable, match="ReadTimeout"):
            ChromaServerVectors(f"http://127.0.0.1:{silent.getsockname()[1]}", "fake")


@pytest.mark.parametrize("login", ["ann:s3cret", "ann:s3%40cret"])
def test_user_and_password_are_sent_and_never_shown(login: str) -> None:
    with other_server() as (port, logins), pytest.raises(StoreUnavailable) as told:
        ChromaServerVectors(f"http://{login}@127.0.0.1:{port}", "fake")
    sent = base64.b64encode(login.replace("%40", "@").encode()).decode()
    assert set(logins) == {f"Basic {sent}"}
    assert "cret" not in told.value.message + told.value.hint + str(told.value.__cause__)
    assert told.value.message.startswith(f"http://127.0.0.1:{port}: ")


@pytest.mark.parametrize(
    "url", ["htp://ann:s3cret@127.0.0.1", "htp://127.0.0.1?key=s3cret", "http://127.0.0.1:9?key=s3cret"]
)
def test_a_secret_in_what_is_no_servers_url_is_not_shown_either(url: str) -> None:
    with pytest.raises(StoreUnavailable) as told:
        ChromaServerVectors(url, "fake")
    assert "s3cret" not in told.value.message + told.value.hint + str(told.value.__cause__)


def test_a_server_that_dies_is_told_at_each_use_and_found_again_when_it_is_back(mortal: ChromaServer) -> None:
    index = ChromaServerVectors(mortal.url, "fake")
    index.upsert([1, 2], np.array([EAST, NORTH]))
    mortal.stop()
    for use in (
        lambda: index.nearest(EAST, 1),
        lambda: index.upsert([3], UP[np.newaxis]),
        lambda: index.remove([1]),
        index.version_ids,
    ):
        with pytest.raises(StoreUnavailable, match=f"{mortal.url}: no answer"):
            use()
    mortal.start()
    assert index.nearest(EAST, 5) == [(1, 1.0), (2, 0.0)]
    mortal.stop()
    mortal.start()  # between two uses: no failure is seen
    index.upsert([3], UP[np.newaxis])
    assert index.version_ids() == {1, 2, 3}
    index.close()


def test_a_server_that_is_started_without_its_data_does_not_know_the_fill(mortal: ChromaServer) -> None:
    index, other = ChromaServerVectors(mortal.url, "fake"), ChromaServerVectors(mortal.url, "fake")
    index.set_fill_id("first")
    assert other.fill_id() == "first"
    mortal.stop()
    shutil.rmtree(mortal.folder)
    mortal.start()
    assert index.fill_id() == ""
    index.upsert([1], EAST[np.newaxis])
    assert other.fill_id() == ""
    other.set_fill_id("second")
    assert index.fill_id() == "second"
    index.close()
    other.close()


def test_a_collection_that_was_deleted_is_made_anew(
    index: ChromaServerVectors, chroma_server: ChromaServer
) -> None:
    index.upsert([1], EAST[np.newaxis])
    index._server.delete_collection(index._collection.name)
    assert index.version_ids() == set()
    index.upsert([2], NORTH[np.newaxis])
    assert index.nearest(NORTH, 2) == [(2, 1.0)]


def test_what_the_server_refuses_is_told_and_changes_nothing(index: ChromaServerVectors) -> None:
    index.upsert([1], EAST[np.newaxis])
    with pytest.raises(StoreUnavailable, match="dimension of 4, got 5"):
        index.upsert([2], np.ones((1, 5), dtype=np.float32))
    assert index.version_ids() == {1}


def test_many_threads_and_processes_write_and_search_at_once_and_all_is_found(
    index: ChromaServerVectors, chroma_server: ChromaServer
) -> None:
    version = f"many-{next(NUMBERS)}"
    shared = ChromaServerVectors(chroma_server.url, version)
    vectors = clusters(400, 16)
    script = """
        import sys
        from index_fixtures import clusters
        from stores.vectors.chroma_index import ChromaServerVectors
        url, version, first = sys.argv[1], sys.argv[2], int(sys.argv[3])
        index, vectors = ChromaServerVectors(url, version), clusters(400, 16)
        for i in range(first, first + 100, 10):
            index.upsert(range(i, i + 10), vectors[i : i + 10])
            index.remove([i])
        index.close()
"""
    program = "\n".join(line[8:] for line in script.splitlines())
    tests = Path(__file__).parent
    others = [
        subprocess.Popen(
            [sys.executable, "-c", program, chroma_server.url, version, str(first)],
            env={"PYTHONPATH": f"{tests}:{tests.parent}", "OMP_NUM_THREADS": "1"},
        )
        for first in (0, 100)
    ]
    failures: list[Exception] = []

    def write(first: int) -> None:
        try:
            for i in range(first, first + 50, 10):
                shared.upsert(range(i, i + 10), vectors[i : i + 10])
                shared.remove([i])
                assert i + 9 in {version_id for version_id, _ in shared.nearest(vectors[i + 9], 400)}
        except Exception as failure:  # noqa: BLE001 - asserted below
            failures.append(failure)

    threads = [threading.Thread(target=write, args=[first]) for first in range(200, 400, 50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [other.wait() for other in others] == [0, 0]
    assert failures == []
    kept = set(range(400)) - set(range(0, 400, 10))
    assert shared.version_ids() == kept
    assert all(
        shared.nearest(vectors[i], 400)[0][1] == pytest.approx(1, abs=1e-5) for i in sorted(kept)[::20]
    )
    shared.close()


def test_telemetry_is_off_and_no_text_is_given_to_the_server(index: ChromaServerVectors) -> None:
    assert index._system.settings.anonymized_telemetry is False
    index.upsert([1], EAST[np.newaxis])
    kept = index._collection.get(include=["documents", "metadatas", "uris"])
    assert [set(kept[field]) for field in ("documents", "metadatas", "uris")] == [{None}] * 3
    assert index._collection.metadata is None
