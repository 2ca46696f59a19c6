"""What several tests need and what takes long to make."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from chroma_server import ChromaServer
from hypothesis import settings
from postgres_server import MISSING, PostgresServer, find_programs, running_server
from store_fixtures import Stores, fresh_database

from agents.models.encoder import prepare_encoder
from agents.models.reader_files import WEIGHTS, prepare_reader
from assistant.settings.locations import find_locations
from stores.database.database import Database

settings.register_profile("vouch", deadline=None)  # a busy machine is no defect
settings.load_profile("vouch")

# Begun by `nohup` or with `&`, the tests would hand signals that are ignored on to every command they begin.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """The packaged encoder, exported, and the reader beside it: a minute once, then kept between sessions."""
    cache = find_locations(os.environ).cache
    prepare_reader(WEIGHTS, cache / "readers", tell=print)
    return prepare_encoder(None, cache / "encoders", tell=print, offline=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server, with a migrated, empty database `vouch_empty` to copy."""
    programs = find_programs()
    if programs is None:
        if os.environ.get("VOUCH_TEST_POSTGRES") == "required":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with running_server(programs) as server:
        server.execute("CREATE DATABASE vouch_empty TEMPLATE template0")
        Database(server.url("vouch_empty")).close()
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A migrated, empty database of each kind."""
    if request.param == "sqlite":
        opened = fresh_database(tmp_path)
        yield opened
        opened.close()
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    url = server.new_database(template="vouch_empty")
    opened = Database(url)
    yield opened
    opened.close()
    server.drop(url)


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    """A ChromaDB server of this session's own, killed at its end."""
    server = ChromaServer(tmp_path_factory.mktemp("chroma-server"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def stores(database: Database) -> Stores:
    return Stores.over(database)


@pytest.fixture
def ann(stores: Stores) -> int:
    return stores.journal.user_id("ann")


@pytest.fixture
def bob(stores: Stores) -> int:
    return stores.journal.user_id("bob")
