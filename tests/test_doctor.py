"""What works, what does not, and what is put right: each fault is planted, told, repaired, and gone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from agent_fakes import FixedReader
from chroma_server import ChromaServer
from cli_helpers import HANDBOOK, QUESTION, Vouch
from scripted_server import ScriptedServer, says
from sqlalchemy import text
from store_fixtures import (
    DIMENSION,
    ENCODER,
    Stores,
    assert_words_are_exact,
    document,
    fake_encode,
    findable,
)

from agents.base.interfaces import Vectors
from agents.models.reader_files import DamagedReader
from agents.retrieval.reader_judge import Readings
from assistant.checks import environment, models, stored
from assistant.checks.check import Check, Look
from assistant.checks.examination import examine
from assistant.settings.config import IndexSettings, Settings, StoreSettings
from assistant.settings.locations import Locations
from assistant.wiring.assistant import Assistant
from assistant.wiring.parts.models import Models
from assistant.wiring.parts.search import Search
from stores.base.errors import DamagedEncoder
from stores.base.passages import SHARED, searchable_text
from stores.conversation.journal import Outcome
from stores.conversation.turn_search import TurnSearch
from stores.database.database import Database
from stores.vectors.exact import vector_bytes

LOOK = Look(repairs=False)
ANIMALS = ("cat and dog", "dog and owl", "owl and elk", "elk and cat", "a lone wolf")


class FakeEncoder:
    """Of the vectors with which the stores' fixtures fill a store."""

    version, dimension = ENCODER, DIMENSION

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return fake_encode(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return fake_encode(texts)


def assistant_at(folder: Path, *, url: str = "", index: Any = "auto", index_url: str = "") -> Assistant:
    """An assistant whose shared index is wanted from the first passage on."""
    settings = Settings()
    made = Assistant(
        replace(
            settings,
            store=StoreSettings(url=url),
            index=IndexSettings(kind=index, url=index_url),
            retrieval=replace(settings.retrieval, exact_up_to=0),
            reranking=replace(settings.reranking, judge="scores"),  # a reader would be exported each time
            answer=replace(settings.answer, reader=False),
        ),
        Locations(
            data=folder, settings=folder / "settings.toml", cache=folder / "cache", state=folder / "state"
        ),
    )
    made.search.__dict__["wanted_encoder"] = FakeEncoder()  # in place of the one that would be exported
    return made


def fill(assistant: Assistant) -> Stores:
    """Four shared passages, the five tombstones of their document before, a note of Ann's, one of Bob's."""
    stores = Stores.over(assistant.stores.database)
    ann, bob = stores.journal.user_id("ann"), stores.journal.user_id("bob")
    stores.add(ann, document("animals.txt", *ANIMALS, title="Animals"))
    stores.add(ann, document("animals.txt", *ANIMALS[:4], title="Animals"))
    stores.knowledge.remember(ann, "Ann likes cats.")
    stores.knowledge.remember(bob, "Bob likes dogs.")
    assistant.catch_up()
    return stores


@pytest.fixture
def house(database: Database, tmp_path: Path) -> Iterator[Assistant]:
    """A filled store in each database, with no index beside it."""
    made = assistant_at(tmp_path, url=database.url if database.is_postgresql else "", index="exact")
    tmp_path.chmod(0o700)
    for file in tmp_path.glob("vouch.db*"):
        file.chmod(0o600)
    fill(made)
    yield made
    made.close()


@pytest.fixture(params=["faiss", "chroma"])
def indexed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Assistant]:
    """A filled store in SQLite with an index beside it."""
    made = assistant_at(tmp_path / "data", index=request.param)
    fill(made)
    yield made
    made.close()


def examined(assistant: Assistant, how: Look | None = None) -> dict[str, Check]:
    return {check.name: check for check in examine(assistant, how or Look())}


def examined_by_another(assistant: Assistant, how: Look | None = None) -> dict[str, Check]:
    """By the next process: nothing of the index is in its memory yet."""
    assistant.close()
    other = assistant_at(assistant.given.locations.data, index=assistant.given.settings.index.kind)
    try:
        return examined(other, how)
    finally:
        other.close()


def repaired(checks: dict[str, Check]) -> dict[str, str]:
    return {name: "; ".join(check.repaired) for name, check in checks.items() if check.repaired}


def broken(checks: dict[str, Check]) -> dict[str, str]:
    return {name: check.found for name, check in checks.items() if check.state == "broken"}


def assert_search_is_whole(assistant: Assistant) -> None:
    """Every live passage has its words and is found first by its own vector, in its own space."""
    found = findable(assistant.stores.database)
    assert_words_are_exact(assistant.stores.database)
    vectors = {row[0]: (row[1], bytes(row[3])) for row in found["vectors"]}
    assert vectors == {
        row["version"]: (
            row["space"],
            vector_bytes(fake_encode([searchable_text(row["title"], row["text"])])[0]),
        )
        for row in found["texts"]
    }
    ann = assistant.stores.journal.user_id("ann")
    for row in found["texts"]:
        if row["space"] == SHARED:
            query = fake_encode([searchable_text(row["title"], row["text"])])[0]
            [(version, score)] = assistant.search.spaces.of(ann).nearest(query, 1)
            assert (version, score) == (row["version"], pytest.approx(1, abs=1e-3))


# What is derived in the database


class Planted(NamedTuple):
    """A fault: the statements that plant it, which check finds it, and what is said of it."""

    check: str
    told: str
    statements: tuple[str, ...]
    postgresql: tuple[str, ...] | None = None  # where they differ there


FIRST = "(SELECT min(id) FROM passage_versions WHERE removed_at IS NULL)"
FAULTS = {
    "missing vectors": Planted("vectors", "6 passages had none", ("DELETE FROM passage_vectors",)),
    "a vector cut short": Planted(
        "vectors",
        "1 vector was malformed",
        (f"UPDATE passage_vectors SET vector = substr(vector, 1, 60) WHERE version_id = {FIRST}",),
    ),
    "a vector of zeros": Planted(
        "vectors",
        "1 vector was malformed",
        (f"UPDATE passage_vectors SET vector = zeroblob(64) WHERE version_id = {FIRST}",),
        (f"UPDATE passage_vectors SET vector = decode(repeat('00', 64), 'hex') WHERE version_id = {FIRST}",),
    ),
    "a vector that holds no number": Planted(
        "vectors",
        "1 vector was malformed",
        (
            "UPDATE passage_vectors SET vector = CAST(substr(vector, 1, 60) || x'0000c07f' AS BLOB) "
            f"WHERE version_id = {FIRST}",
        ),
        (
            "UPDATE passage_vectors SET vector = substr(vector, 1, 60) || decode('0000c07f', 'hex') "
            f"WHERE version_id = {FIRST}",
        ),
    ),
    "a vector in another user's space": Planted(
        "vectors",
        "1 vector was malformed",
        (f"UPDATE passage_vectors SET space = 'user:2' WHERE version_id = {FIRST}",),
    ),
    "a vector of another text": Planted(
        "vectors",
        "1 vector was not that of its text",
        (
            "UPDATE passage_vectors SET vector = (SELECT vector FROM passage_vectors WHERE version_id = "
            f"(SELECT max(id) FROM passage_versions)) WHERE version_id = {FIRST}",
        ),
    ),
    "missing words": Planted(
        "words",
        "1 passage was not in the full-text index",
        (f"DELETE FROM shared_words WHERE rowid = {FIRST}",),
        (f"DELETE FROM passage_words WHERE version_id = {FIRST}",),
    ),
    "words of another text": Planted(
        "words",
        "1 passage was there under other words",
        (f"UPDATE shared_words SET words = 'zebra' WHERE rowid = {FIRST}",),
        (f"UPDATE passage_words SET words = 'zebra' WHERE version_id = {FIRST}",),
    ),
    "words of a tombstone": Planted(
        "words",
        "1 entry was of no live passage",
        ("INSERT INTO shared_words(rowid, words) SELECT max(id) + 1000, 'wolf' FROM passage_versions",),
        (
            "INSERT INTO passage_words SELECT max(id) + 1000, 'shared', 'wolf', 1, "
            "array_to_tsvector(ARRAY['shared/wolf']) FROM passage_versions",
        ),
    ),
    "words in another user's space": Planted(
        "words",
        "1 passage was not in the full-text index; 1 entry was of no live passage",
        ("UPDATE own_words SET space = 'user2' WHERE words LIKE 'ann%'",),
        (
            "UPDATE passage_words SET space = 'user:2', lexemes = array_to_tsvector(ARRAY["
            "'user:2/ann','user:2/like','user:2/cat']) WHERE words LIKE 'ann%'",
        ),
    ),
    "an index that does not find what it holds": Planted(
        "words",
        "the full-text index did not find what it holds",
        ("DELETE FROM shared_words_data WHERE id > 10",),
        ("UPDATE passage_words SET lexemes = ''",),
    ),
    "a passage too many in the statistics": Planted(
        "words",
        "the words of 1 space were counted wrongly",
        ("UPDATE space_statistics SET passages = passages + 1 WHERE space = 'shared'",),
    ),
    "a word counted twice": Planted(
        "words",
        "the words of 1 space were counted wrongly",
        ("UPDATE word_counts SET passages = 9 WHERE space = 'shared' AND token = 'cat'",),
    ),
    "a word that is not counted": Planted(
        "words",
        "the words of 1 space were counted wrongly",
        ("DELETE FROM word_counts WHERE space = 'shared' AND token = 'cat'",),
    ),
    "a word that nobody uses": Planted(
        "words",
        "the words of 1 space were counted wrongly",
        ("INSERT INTO word_counts(space, token, passages) VALUES ('user:9', 'yeti', 1)",),
    ),
}


def plant(assistant: Assistant, fault: Planted) -> None:
    is_postgresql = assistant.stores.database.is_postgresql
    with assistant.stores.database.writing() as sql:
        for statement in (is_postgresql and fault.postgresql) or fault.statements:
            assert sql.execute(text(statement)).rowcount, statement  # type: ignore[attr-defined]


def test_a_healthy_store_is_all_ok_and_nothing_is_repaired(house: Assistant) -> None:
    checks = examined(house, Look(is_thorough=True))
    assert checks["settings file"].found.startswith("none, defaults are used")
    assert {check.state for check in checks.values()} == {"ok"}, checks
    assert repaired(checks) == {}
    assert_search_is_whole(house)


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_derived_is_told_made_again_and_then_in_order(house: Assistant, name: str) -> None:
    fault = FAULTS[name]
    plant(house, fault)
    before = findable(house.stores.database)
    assert fault.told in broken(examined(house, LOOK))[fault.check]
    assert findable(house.stores.database) == before  # looking changes nothing

    checks = examined(house)
    assert broken(checks) == {}
    assert fault.told in repaired(checks)[fault.check]
    house.close()  # what was in memory is of before the repair
    house.search._searchings.clear()
    assert_search_is_whole(house)
    assert repaired(examined(house)) == {}


def test_turns_that_find_does_not_find_are_told_and_written_anew(house: Assistant) -> None:
    ann = house.stores.journal.user_id("ann")
    house.stores.journal.accept(ann, house.stores.journal.open_session(ann), "My canary", parts=[])
    with house.stores.database.writing() as sql:  # as after a restore that left this table out
        sql.execute(text("DELETE FROM turn_words"))
    assert broken(examined(house, LOOK)) == {"turns": "1 turn was found by no word"}
    assert TurnSearch(house.stores.database).find(ann, "canary") == []
    assert repaired(examined(house)) == {"turns": "1 turn was found by no word"}
    assert [hit.excerpt for hit in TurnSearch(house.stores.database).find(ann, "canary")] == ["My canary"]
    assert repaired(examined(house)) == {}


def test_one_stale_vector_in_the_sample_has_all_looked_at(
    house: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    with house.stores.database.writing() as sql:
        sql.execute(
            text("UPDATE passage_vectors SET vector = :v"), {"v": vector_bytes(fake_encode(["?"])[0])}
        )
    monkeypatch.setattr("assistant.checks.check.SAMPLE", 1)
    assert "6 vectors were not that of their text" in repaired(examined(house))["vectors"]
    assert_search_is_whole(house)


def test_vectors_of_tombstones_are_kept_for_undo(house: Assistant) -> None:
    examined(house, Look(is_thorough=True))
    with house.stores.database.reading() as sql:
        kept = sql.execute(
            text(
                "SELECT count(*) FROM passage_vectors WHERE version_id IN "
                "(SELECT id FROM passage_versions WHERE removed_at IS NOT NULL)"
            )
        ).scalar()
    assert kept == 5  # of the document's first content


def test_jobs_that_wait_are_done(house: Assistant) -> None:
    Stores.over(house.stores.database).knowledge.remember(
        house.stores.journal.user_id("ann"), "Ann has a boat."
    )
    assert "1 job waiting" in examined(house, LOOK)["shared index"].found
    checks = examined(house)
    assert "1 job that waited was done" in repaired(checks)["shared index"]
    assert repaired(examined(house)) == {}


# What cannot be made again


def test_a_changed_text_is_named_and_nothing_pretends_to_repair_it(house: Assistant) -> None:
    with house.stores.database.writing() as sql:
        sql.execute(text("UPDATE passage_versions SET text = 'Bob likes eels.' WHERE text LIKE 'Bob%'"))
        passage, version = sql.execute(
            text("SELECT passage_id, id FROM passage_versions WHERE text LIKE 'Bob%'")
        ).one()
    for _ in range(2):
        check = examined(house)["texts"]
        assert check.state == "broken"
        assert check.found == f"1 text is not what was stored: passage {passage} (version {version})"
        assert "vouch restore" in check.advice


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (("DROP TABLE feedback",), "there is no table feedback"),
        (("ALTER TABLE rounds DROP COLUMN recipe",), "rounds has no column recipe"),
        (("DROP INDEX waiting_jobs",), "jobs has no index waiting_jobs"),
        (("DROP TABLE word_counts",), "there is no table word_counts"),
    ],
    ids=["table", "column", "index", "words"],
)
def test_a_schema_that_lacks_something_is_told_and_nothing_is_looked_at_in_it(
    house: Assistant, statements: tuple[str, ...], told: str
) -> None:
    with house.stores.database.writing() as sql:
        for statement in statements:
            sql.execute(text(statement))
    checks = examined(house)
    assert broken(checks) == {"database": told}
    assert "vouch restore" in checks["database"].advice
    assert checks["vectors"].found == "not looked at, because of: database"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE alembic_version SET version_num = '9999'", "schema 9999, which this release does not know"),
        ("DROP TABLE alembic_version", "it does not say which schema it has"),
    ],
    ids=["too new", "nameless"],
)
def test_a_schema_that_is_not_ours_is_told_and_left_as_it_is(
    house: Assistant, tmp_path: Path, statement: str, told: str
) -> None:
    with house.stores.database.writing() as sql:
        sql.execute(text(statement))
    house.close()
    del house.stores.__dict__["database"]
    checks = examined(house)
    assert told in broken(checks)["database"]
    assert checks["texts"].state == "missing"


def test_a_row_that_names_another_that_is_not_there_is_told(tmp_path: Path) -> None:
    assistant = assistant_at(tmp_path / "data", index="exact")
    fill(assistant)
    with assistant.stores.database._engine.connect() as connection:
        connection.exec_driver_sql("ROLLBACK")
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        connection.exec_driver_sql("UPDATE receipts SET user_id = 77 WHERE user_id = 2")
        connection.exec_driver_sql("PRAGMA foreign_keys=ON")
    assert broken(examined(assistant)) == {"database": "1 row of receipts names another that is not there"}
    assistant.close()


@pytest.mark.parametrize("left", [0.1, 0.9])
def test_a_truncated_database_is_told_with_what_to_do(tmp_path: Path, left: float) -> None:
    assistant = assistant_at(tmp_path / "data", index="exact")
    fill(assistant)
    assistant.close()
    file = tmp_path / "data" / "vouch.db"
    os.truncate(file, int(file.stat().st_size * left))
    again = assistant_at(tmp_path / "data", index="exact")
    checks = examined(again)
    assert broken(checks).keys() == {"database"}
    assert "estore a backup" in checks["database"].advice
    again.close()


def test_what_could_not_be_weighed_is_told_with_its_reason(tmp_path: Path) -> None:
    assistant = assistant_at(tmp_path / "data", index="exact")
    ann = assistant.stores.journal.user_id("ann")
    session = assistant.stores.journal.open_session(ann)
    turn = assistant.stores.journal.accept(
        ann, session, "It rains.", parts=["It rains."], learns=True
    ).turn_id
    assistant.stores.journal.finish(turn, Outcome(state="done"))
    assert examined(assistant)["remembering"].found == "1 job left for the next chat"
    job = assistant.stores.claim_jobs.take(ann, lease=timedelta(minutes=1))
    assert job is not None
    assistant.stores.claim_jobs.postpone(job, "the model is down")
    told = examined(assistant)["remembering"]
    assert (told.state, told.found) == ("missing", "1 job waits after a failure: the model is down")
    assistant.close()


# The shared index


def folder_of(assistant: Assistant) -> Path:
    return assistant.given.locations.data / assistant.given.settings.index.kind / ENCODER


def largest_file(assistant: Assistant) -> Path:
    files = [file for file in folder_of(assistant).rglob("*") if file.is_file()]
    return max(files, key=lambda file: file.stat().st_size)


def written(assistant: Assistant, act: Callable[[Any], object]) -> None:
    """Does something to the index behind the database's back."""
    act(assistant.search._indexes.open(assistant.search.encoder, True))


def first_live(assistant: Assistant) -> int:
    return min(Stores.over(assistant.stores.database).texts(SHARED))


def lose_one(assistant: Assistant) -> None:
    written(assistant, lambda index: index.remove([first_live(assistant)]))


def add_one(assistant: Assistant) -> None:
    written(assistant, lambda index: index.upsert([77], fake_encode(["planted"])))


def falsify_one(assistant: Assistant) -> None:
    written(
        assistant,
        lambda index: index.upsert([first_live(assistant)], -fake_encode([f"Animals\n{ANIMALS[0]}"])),
    )


def delete_folder(assistant: Assistant) -> None:
    shutil.rmtree(folder_of(assistant))


def truncate_file(assistant: Assistant) -> None:
    file = largest_file(assistant)
    os.truncate(file, file.stat().st_size // 2)


def replace_by_noise(assistant: Assistant) -> None:
    for file in folder_of(assistant).rglob("*"):
        if file.is_file() and file.suffix != ".lock":
            file.write_bytes(np.random.default_rng(7).bytes(file.stat().st_size or 10))


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lose_one, "1 passage missing and 0 too many"),
        (add_one, "0 passages missing and 1 too many"),
        (falsify_one, "1 vector was not the database's"),
        (delete_folder, "the index was empty"),
        (truncate_file, "was deleted, and filled from the database (4 vectors)"),
        (replace_by_noise, "was deleted, and filled from the database (4 vectors)"),
    ],
    ids=["missing", "extra", "stale", "deleted", "truncated", "noise"],
)
def test_an_index_that_differs_is_told_filled_again_and_then_in_order(
    indexed: Assistant, harm: Callable[[Assistant], None], told: str
) -> None:
    assert repaired(examined(indexed)) == {}
    harm(indexed)
    assert list(broken(examined_by_another(indexed, LOOK))) == ["shared index"]
    checks = examined_by_another(indexed)
    assert broken(checks) == {}
    assert told in repaired(checks)["shared index"]
    assert repaired(examined_by_another(indexed, Look(is_thorough=True))) == {}
    other = assistant_at(indexed.given.locations.data, index=indexed.given.settings.index.kind)
    assert_search_is_whole(other)
    other.close()


@pytest.mark.parametrize("harm", [lose_one, add_one, falsify_one], ids=["missing", "extra", "stale"])
def test_an_index_on_a_server_is_filled_again_there(
    chroma_server: ChromaServer, tmp_path: Path, harm: Callable[[Assistant], None]
) -> None:
    assistant = assistant_at(tmp_path / "data", index="chroma", index_url=chroma_server.url)
    fill(assistant)
    harm(assistant)
    assert "filled from the database (4 vectors)" in repaired(examined(assistant))["shared index"]
    assert repaired(examined(assistant, Look(is_thorough=True))) == {}
    assert_search_is_whole(assistant)
    assistant.close()


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    assistant = assistant_at(tmp_path / "data", index="exact")
    fill(assistant)
    assistant.close()
    away = assistant_at(tmp_path / "data", index="chroma", index_url="http://127.0.0.1:9")
    with away.stores.database.writing() as sql:
        sql.execute(text("UPDATE jobs SET done_at = NULL"))
    check = examined(away)["shared index"]
    assert check.state == "broken"
    assert "http://127.0.0.1:9" in check.found
    assert "nothing is lost" in check.advice
    away.close()


def test_an_index_that_another_process_writes_is_said_to_be_and_is_not_broken(indexed: Assistant) -> None:
    lose_one(indexed)  # and keeps the lock
    other = assistant_at(indexed.given.locations.data, index=indexed.given.settings.index.kind)
    check = examined(other)["shared index"]
    assert check.state == "ok"
    assert check.found.startswith("another process is writing it: 1 passage missing")
    assert check.repaired == ()
    other.close()


def test_a_look_that_ends_by_a_defect_is_told_and_the_others_go_on(
    house: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(*_: object) -> Check:
        raise ValueError("not enough values to unpack\n[SQL: SELECT ...]")

    monkeypatch.setattr(stored, "words", look)
    checks = examined(house)
    assert broken(checks)["words"] == "ValueError: not enough values to unpack"
    assert "report" in checks["words"].advice
    assert [checks[name].state for name in ("texts", "vectors")] == ["ok", "ok"]


# The directory, the disk, the encoder


@pytest.mark.parametrize(
    ("name", "mode", "state", "advice"),
    [
        (".", 0o755, "warning", "chmod 700"),
        ("vouch.db", 0o644, "warning", "chmod 600"),
        ("vouch.db", 0o400, "broken", "chmod -R u+rwX"),
        (".", 0o500, "broken", "chmod -R u+rwX"),
        ("faiss", 0o300, "broken", "chmod -R u+rwX"),
    ],
    ids=["open directory", "open file", "read-only file", "read-only directory", "hidden folder"],
)
def test_wrong_permissions_are_told_with_the_command_that_corrects_them(
    tmp_path: Path, name: str, mode: int, state: str, advice: str
) -> None:
    folder = tmp_path / "data"
    (folder / "faiss").mkdir(parents=True)
    folder.chmod(0o700)
    (folder / "vouch.db").touch(mode=0o600)
    assert environment.data_directory(folder).state == "ok"
    (folder / name).chmod(mode)
    check = environment.data_directory(folder)
    folder.chmod(0o700)
    assert check.state == state
    assert advice in check.advice


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_somebody_else_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "vouch.db").touch(mode=0o600)
    os.chown(tmp_path / "vouch.db", 12345, -1)
    check = environment.data_directory(tmp_path)
    assert check.found == f"{tmp_path / 'vouch.db'} belongs to another user"
    assert "chown" in check.advice


def test_a_disk_with_little_room_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=123_000_000))
    check = environment.data_directory(tmp_path)
    assert (check.state, check.advice) == ("broken", "Make room on that disk.")
    assert "123 MB free" in check.found


def test_a_repair_that_finds_the_disk_full_says_so_and_is_done_when_there_is_room(tmp_path: Path) -> None:
    assistant = assistant_at(tmp_path / "data", index="exact")
    stores = fill(assistant)
    many = [f"note {number} of many" for number in range(200)]
    stores.add(1, document("many.txt", *many))
    with assistant.stores.database.writing() as sql:
        sql.execute(text("DELETE FROM passage_vectors"))
        sql.execute(text("DELETE FROM jobs"))
    with assistant.stores.database._engine.connect() as connection:
        connection.exec_driver_sql("ROLLBACK")
        connection.exec_driver_sql("VACUUM")
    assistant.close()  # below, each connection finds the disk as full as it can be
    from sqlalchemy import event

    def fill_disk(connection: Any, _record: Any) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(assistant.stores.database._engine, "connect", fill_disk)
    check = examined(assistant)["vectors"]
    assert (check.state, check.found.rpartition(": ")[2]) == ("broken", "the disk is full")
    assert check.advice.startswith("Make room")
    event.remove(assistant.stores.database._engine, "connect", fill_disk)
    assistant.stores.database.close()
    checks = examined(assistant)
    assert broken(checks) == {}
    assert "jobs that waited were done" in repaired(checks)["shared index"]  # they were asked for before
    assert_search_is_whole(assistant)
    assistant.close()


def loads_only_when_made_again(folder: Path) -> FakeEncoder:
    """As the loader of encoders: a folder that is there is the damaged one."""
    if folder.exists():
        raise DamagedEncoder(folder, "model.onnx has changed since it was exported")
    return FakeEncoder()


class WithDamagedEncoder(Search):
    """Loads the encoder of one folder."""

    folder = Path()

    @property
    def wanted_encoder(self) -> Any:  # type: ignore[override]
        return loads_only_when_made_again(self.folder)


def with_encoder_in(assistant: Assistant, folder: Path) -> Assistant:
    made = Assistant(assistant.given.settings, assistant.given.locations, search=WithDamagedEncoder)
    assert isinstance(made.search, WithDamagedEncoder)
    made.search.folder = folder
    folder.mkdir(parents=True)
    return made


def test_a_damaged_encoder_of_ours_is_deleted_and_prepared_again(tmp_path: Path) -> None:
    before = assistant_at(tmp_path / "data", index="exact")
    fill(before)
    before.close()
    folder = before.given.locations.cache / "encoders" / ENCODER
    assistant = with_encoder_in(before, folder)
    assert "model.onnx has changed" in broken(examined(assistant, LOOK))["encoder"]
    assert folder.exists()
    assert "deleted, and prepared again" in repaired(examined(assistant))["encoder"]
    assert repaired(examined(assistant)) == {}
    assistant.close()


def test_a_damaged_encoder_that_the_settings_name_is_left_to_its_owner(tmp_path: Path) -> None:
    before = assistant_at(tmp_path / "data", index="exact")
    fill(before)
    before.close()
    assistant = with_encoder_in(before, tmp_path / "my-encoder")
    checks = examined(assistant)
    assert "model.onnx has changed" in broken(checks)["encoder"]
    assert checks["vectors"].state == "missing"
    assert (tmp_path / "my-encoder").exists()
    assistant.close()


# The reader and the chat model


class WithReader(Models):
    """Its reader knows nothing, and is damaged where a test says so."""

    damage: DamagedReader | None = None

    @property
    def readings(self) -> Readings:  # type: ignore[override]
        if self.damage:
            raise self.damage
        return Readings(FixedReader({}))


def asked_about(tmp_path: Path, **changed: Any) -> Assistant:
    """An assistant with other settings of its models."""
    before = assistant_at(tmp_path / "data")
    return Assistant(replace(before.given.settings, **changed), before.given.locations, models=WithReader)


def test_a_reader_that_nobody_uses_is_not_loaded(tmp_path: Path) -> None:
    scores = replace(Settings().reranking, judge="scores")
    assistant = asked_about(tmp_path, reranking=scores, answer=replace(Settings().answer, reader=False))
    assert "not used" in models.reader(assistant).found


def test_a_damaged_reader_is_told(tmp_path: Path) -> None:
    assistant = asked_about(tmp_path, reranking=replace(Settings().reranking, judge="reader"))
    assert "judges passages" in models.reader(assistant).found
    assert isinstance(assistant.models, WithReader)
    assistant.models.damage = DamagedReader(tmp_path, "model.onnx has changed")
    with pytest.raises(DamagedReader, match="changed"):
        models.reader(assistant)


@pytest.mark.parametrize(
    ("backend", "name", "told"),
    [
        ("vllm", "some/model", "not installed"),
        ("transformers", "~/no-such-model-here", "holds no model"),
        ("transformers", "some/model", "not asked"),
    ],
)
def test_a_model_of_this_process_is_looked_for(tmp_path: Path, backend: Any, name: str, told: str) -> None:
    assistant = asked_about(tmp_path, model=replace(Settings().model, backend=backend, name=name))
    assert told in models.chat_model(assistant, asks_server=False).found


# The command


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path_factory.mktemp("library"), minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    return library.copy_to(tmp_path)


def checks(vouch: Vouch, *arguments: str, code: int = 0) -> dict[str, dict[str, Any]]:
    found = vouch.run("doctor", "--json", *arguments, code=code).objects
    return {entry["check"]: entry for entry in found if "check" in entry}


def test_the_command_says_what_it_repaired_and_a_second_run_has_nothing_to_do(vouch: Vouch) -> None:
    with vouch.database() as database, database.writing() as sql:
        sql.execute(text("DELETE FROM passage_vectors"))
    looked = checks(vouch, "--no-repair", code=1)
    assert (looked["vectors"]["state"], looked["vectors"]["repaired"]) == ("broken", [])
    assert checks(vouch)["vectors"]["repaired"] == ["1 passage had none", "1 passage was encoded"]
    again = checks(vouch)
    assert {tuple(entry["repaired"]) for entry in again.values()} == {()}
    assert [name for name, entry in again.items() if entry["state"] != "ok"] == []
    assert "10:00" in vouch.run("ask", QUESTION).out


def test_what_was_repaired_is_printed_for_people(vouch: Vouch) -> None:
    with vouch.database() as database, database.writing() as sql:
        sql.execute(text("DELETE FROM word_counts"))
    out = vouch.run("doctor").out
    assert "repaired: the words of 1 space were counted wrongly" in " ".join(out.split())


def test_a_key_that_the_settings_name_by_no_id_is_told(vouch: Vouch, tmp_path: Path) -> None:
    settings = tmp_path / "keys.toml"
    settings.write_text('[terminal.keys]\nwhi = "f9"\n', "utf-8")
    for command in (["doctor"], ["sessions"]):
        told = vouch.run(*command, "--settings", str(settings), code=2).err
        assert "keys.toml line 2: terminal.keys.whi is the id of no key" in told
        assert "did you mean terminal.keys.why?" in told
    settings.write_text('[terminal.keys]\nwhy = "f9"\n', "utf-8")
    assert checks(vouch, "--settings", str(settings))["keys"]["state"] == "ok"


def test_doctor_says_what_it_reaches_without_online(vouch: Vouch) -> None:
    told = " ".join(vouch.run("doctor", "--help").out.split())
    assert "reaches only the PostgreSQL and Chroma servers that the settings name" in told
    assert "downloads nothing and asks no model server" in told


def test_a_directory_that_others_can_read_is_a_warning(vouch: Vouch) -> None:
    vouch.data.chmod(0o755)
    check = checks(vouch)["data directory"]
    assert check["state"] == "warning"
    assert "chmod 700" in check["advice"]


def test_a_damaged_database_is_said_to_be_damaged(vouch: Vouch) -> None:
    file = vouch.data / "vouch.db"
    content = bytearray(file.read_bytes())
    content[4096:8192] = b"\0" * 4096
    file.write_bytes(content)
    ran = vouch.run("doctor", "--json", code=1)
    assert '"state": "broken"' in ran.out


def test_a_model_server_is_asked_only_when_online(vouch: Vouch) -> None:
    with ScriptedServer([says("yes")]) as server:
        vouch.use_server(server.base_url)
        assert "not asked" in checks(vouch)["chat model"]["found"]
        assert server.requests == []
        assert "answers" in checks(vouch, "--online")["chat model"]["found"]


def test_no_secret_of_the_settings_is_shown(vouch: Vouch) -> None:
    vouch.set(
        '[model]\nbackend = "openai"\nname = "m"\nbase_url = "http://127.0.0.1:9/v1?key=s3cret"\n'
        'extra_headers = {Authorization = "Bearer s3cret"}\nextra_body = {user = {key = ["s3cret"]}}\n'
        "retries = 0\n"
    )
    for ran in (
        vouch.run("doctor", "-v"),
        vouch.run("doctor", "--json", "--online", code=1),
        vouch.run("ask", QUESTION),
    ):
        assert "s3cret" not in ran.out + ran.err
        assert "http://127.0.0.1:9/v1" in ran.out + ran.err


def test_each_setting_is_shown_with_where_it_came_from(vouch: Vouch) -> None:
    vouch.set("[answer]\nsentences = 2\n")
    found = vouch.run("doctor", "--json").objects
    origins = {entry["setting"]: entry["origin"] for entry in found if "setting" in entry}
    assert origins["answer.sentences"] == "settings.toml line 2"
    assert origins["answer.passages"] == "default"
