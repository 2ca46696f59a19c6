"""Whether a file has changed since it was read is told by its content, whatever its times say."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

import pytest
from document_files import Write, write
from sqlalchemy import select
from sqlmodel import col
from store_fixtures import DIMENSION, ENCODER, Stores, fake_encode, passages_by_text

from assistant.library import documents
from assistant.library.documents import CHANGED_MEANWHILE, Readable, ReadFile, read_file
from assistant.library.formats.outlines import Reading
from assistant.library.ingest import Encoding, Ingest
from stores.base import file_states
from stores.base.clock import time_by
from stores.base.errors import UnreadableDocument
from stores.base.passages import SHARED, own_space
from stores.database.tables import DocumentVersion
from stores.forgetting.forgetting import Forgetting
from stores.memory.library import Library, OnDisk

__all__ = ["write"]  # a fixture
LONG_AGO = 1_000_000_000
OLD, NEW = "The hall opens at nine.", "The hall opens at five."  # equally long


class FakeEncoder:
    version, dimension = ENCODER, DIMENSION
    encode_queries = encode_passages = staticmethod(fake_encode)


class House:
    """The documents of one user, read from files on disk."""

    def __init__(self, stores: Stores, user: int, *, space: str = "") -> None:
        self._stores, self._user, self._space = stores, user, space or own_space(user)
        self.library = Library(stores.database)

    def ingest(self, path: Path) -> list[str]:
        """What became of each document, or why not."""
        return self.store(read_file(path))

    def store(self, read: Iterator[Readable]) -> list[str]:
        ingest = Ingest(self._stores.stored_documents, FakeEncoder, self._stores.indexer)
        return [
            step.reason if isinstance(step, UnreadableDocument) else step.change
            for step in ingest.run(self._user, self._space, read, summary="ingested")
            if not isinstance(step, Encoding)
        ]

    @property
    def on_disk(self) -> OnDisk:
        (known,) = self.library.all(self._user)
        return known.on_disk()

    @property
    def texts(self) -> list[str]:
        return sorted(self._stores.texts(self._space).values())

    def undo(self) -> None:
        self._stores.knowledge.undo(self._user)


@pytest.fixture
def house(stores: Stores, ann: int) -> House:
    return House(stores, ann)


@pytest.fixture
def hall(write: Write, house: House, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that was written long ago, and was read."""
    monkeypatch.setattr(
        file_states, "SETTLED_NS", 20_000_000
    )  # longer than the clock of any file system here
    path = write("hall.txt", OLD)
    os.utime(path, (LONG_AGO, LONG_AGO))
    time.sleep(0.04)
    assert house.ingest(path) == ["new"]
    return path


def rewrite(path: Path, text: str, *, at: float) -> None:
    path.write_text(text)
    os.utime(path, (at, at))


def test_a_file_is_as_it_was_read_until_its_content_changes(house: House, hall: Path) -> None:
    assert house.on_disk == ""
    os.utime(hall)
    assert house.on_disk == "", "that was only its time"
    rewrite(hall, NEW, at=time.time())
    assert house.on_disk == "changed"
    assert (house.ingest(hall), house.on_disk, house.texts) == (["replaced"], "", [NEW])
    hall.unlink()
    assert house.on_disk == "gone"


def test_a_file_whose_times_tell_is_not_read_to_know(
    house: House, hall: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_states, "WatchedFile", None)
    assert house.on_disk == ""
    rewrite(hall, OLD + NEW, at=LONG_AGO)
    assert house.on_disk == "changed"


@pytest.mark.parametrize("at", [LONG_AGO - 1, LONG_AGO, time.time() + 10**9], ids=["older", "same", "future"])
def test_another_content_is_a_change_whatever_the_time_of_the_file(
    house: House, hall: Path, at: float
) -> None:
    rewrite(hall, NEW, at=at)
    assert house.on_disk == "changed"
    assert (house.ingest(hall), house.on_disk, house.texts) == (["replaced"], "", [NEW])
    rewrite(hall, OLD, at=at)
    assert house.on_disk == "changed"


def test_a_file_that_a_copy_with_its_old_time_replaced_has_changed(house: House, hall: Path) -> None:
    backup = hall.with_name("hall.txt.bak")
    rewrite(backup, NEW, at=LONG_AGO)
    backup.replace(hall)
    assert house.on_disk == "changed"


def test_a_file_that_was_just_written_is_not_known_by_its_times(
    house: House, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a file system's clock ticks so seldom that a second writing has the times of the first."""
    path = write("hall.txt", OLD)
    house.ingest(path)
    as_it_was, stat = path.stat(), Path.stat
    path.write_text(NEW)
    monkeypatch.setattr(Path, "stat", lambda self, **how: as_it_was if self == path else stat(self, **how))
    assert house.on_disk == "changed"


def test_a_file_that_another_user_alone_can_read_is_known_by_its_times(
    house: House, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path) -> None:
        raise PermissionError

    path = write("hall.txt", OLD)  # just now
    house.ingest(path)
    monkeypatch.setattr(file_states, "WatchedFile", refused)
    assert house.on_disk == ""
    rewrite(path, NEW, at=LONG_AGO)
    assert house.on_disk == "changed"


def test_what_is_undone_is_told_from_the_file_again(house: House, hall: Path) -> None:
    rewrite(hall, NEW, at=LONG_AGO + 1)
    house.ingest(hall)
    house.undo()
    assert (house.texts, house.on_disk) == ([OLD], "changed")


def test_a_clock_that_was_ahead_hides_no_change(house: House, write: Write) -> None:
    path = write("hall.txt", OLD)
    with time_by(lambda: datetime.now(UTC) + timedelta(days=365)):
        house.ingest(path)
    rewrite(path, NEW, at=time.time())
    assert house.on_disk == "changed"


@pytest.mark.parametrize(("days", "became"), [(-1, "changed"), (0, ""), (365, "changed")])
def test_of_what_an_earlier_release_read_only_the_day_is_known(
    house: House, stores: Stores, hall: Path, days: int, became: OnDisk
) -> None:
    """And that is no day where the clock was ahead: it is read once more."""
    os.utime(hall)
    with stores.database.writing() as sql:
        at = (datetime.now(UTC) + timedelta(days=days)).replace(tzinfo=None)
        sql.connection().exec_driver_sql(
            f"UPDATE document_versions SET file_state = NULL, created_at = '{at.isoformat(' ')}'"
        )
    assert house.on_disk == became
    assert (house.ingest(hall), house.on_disk) == (["same"], "")


@pytest.mark.parametrize("name", ["hall.txt", "hall.jsonl"])
def test_what_somebody_may_not_replace_is_not_taken_as_read(
    stores: Stores, ann: int, bob: int, write: Write, name: str
) -> None:
    path = write(name, records(1, count=1))
    sharing = House(stores, ann, space=SHARED)
    sharing.ingest(path)
    path.write_bytes(records(2, count=1))
    [refused] = House(stores, bob, space=SHARED).ingest(path)
    assert "was shared by ann" in refused
    assert sharing.on_disk == "changed"


def test_of_a_forgotten_document_nothing_is_known(house: House, stores: Stores, ann: int, hall: Path) -> None:
    Forgetting(stores.database).forget(ann, [passages_by_text(stores)[OLD]])
    with stores.database.reading() as sql:
        assert sql.scalar(select(col(DocumentVersion.file_state))) == ""


# While it is read


def meanwhile(monkeypatch: pytest.MonkeyPatch, *writings: bytes, path: Path) -> None:
    """Has somebody write the next of these when half of the file has been read."""
    left, read_whole = list(writings), documents.read_whole

    class Halved:
        def __init__(self, file: IO[bytes]) -> None:
            self._file = file

        def read(self, size: int) -> bytes:
            first = self._file.read(8192)
            if left:
                path.write_bytes(left.pop(0))
            return first + self._file.read(size - len(first))

    def halved(file: IO[bytes], source: str, suffix: str) -> Reading:
        return read_whole(Halved(file), source, suffix)  # type: ignore[arg-type]

    monkeypatch.setattr(documents, "read_whole", halved)


def numbers(first: int) -> bytes:
    """Longer than what is read at once; all sentences equally long."""
    return b"".join(b"Guest %d has locker %d.\n\n" % (first, n) for n in range(1000, 9000))


def test_a_file_that_is_written_to_while_it_is_read_is_read_again(
    house: House, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("a.txt", numbers(1))
    meanwhile(monkeypatch, numbers(2), numbers(3), path=path)
    assert house.ingest(path) == ["new"]
    assert {text.split()[1] for text in house.texts} == {"3"}
    assert house.on_disk == ""


def test_a_file_that_is_written_to_all_the_time_is_to_be_read_again(
    house: House, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("a.txt", numbers(1))
    meanwhile(monkeypatch, numbers(2), numbers(3), numbers(4), path=path)
    assert set(house.ingest(path)) == {CHANGED_MEANWHILE, "new"}
    assert house.on_disk == "changed"
    assert house.ingest(path) == ["replaced"]
    assert (house.on_disk, {text.split()[1] for text in house.texts}) == ("", {"4"})


def records(first: int, *, count: int = 400) -> bytes:
    lines = (f'{{"id": {n}, "text": "Guest {first} has locker {n}."}}\n' for n in range(1000, 1000 + count))
    return "".join(lines).encode()


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_a_collection_that_was_read_is_as_it_was(house: House, write: Write, suffix: str) -> None:
    import gzip

    packed = gzip.compress if suffix.endswith(".gz") else bytes
    path = write(f"a{suffix}", packed(records(1)))
    assert set(house.ingest(path)) == {"new"}
    assert house.on_disk == ""
    path.write_bytes(packed(records(1, count=401)))
    assert house.on_disk == "changed"
    assert (house.ingest(path)[-1], house.on_disk) == ("new", "")


def test_a_collection_that_is_written_to_while_it_is_read_is_to_be_read_again(
    house: House, write: Write
) -> None:
    path = write("a.jsonl", records(1, count=4000))

    def read() -> Iterator[Readable]:
        for number, each in enumerate(read_file(path)):
            if number == 9:
                path.write_bytes(records(2, count=4000))
            yield each

    assert CHANGED_MEANWHILE in house.store(read())
    assert {text.split()[1] for text in house.texts} == {"1", "2"}
    assert house.on_disk == "changed"
    house.ingest(path)
    assert ({text.split()[1] for text in house.texts}, house.on_disk) == ({"2"}, "")


def test_a_collection_of_which_a_part_was_read_is_to_be_read_again(house: House, write: Write) -> None:
    path = write("a.jsonl", records(1))
    house.store(each for each in read_file(path) if not isinstance(each, ReadFile))  # killed before the end
    assert house.on_disk == "changed"
    assert (set(house.ingest(path)), house.on_disk) == ({"same"}, "")


def test_a_collection_that_is_given_up_is_not_read_again_for_ever(house: House, write: Write) -> None:
    path = write("a.jsonl", records(1, count=3) + b"bad\n" * 200 + records(2, count=4000))
    assert "more bad lines" in house.ingest(path)[-4]
    assert house.on_disk == ""


# Moved files


def _told(house: House) -> list[tuple[str, list[str]]]:
    """Each document: its source, and what it holds."""
    return [
        (known.source, [text for _, text in house.library.passages(known, house._user)])
        for known in house.library.all(house._user)
    ]


def test_a_moved_file_is_the_same_document_and_is_replaced_when_it_changes(
    house: House, write: Write
) -> None:
    old = write("a.md", f"# Hall\n\n{OLD}")
    assert house.ingest(old) == ["new"]
    new = old.rename(old.parent / "b.md")
    assert house.ingest(new) == ["same"]
    assert _told(house) == [(str(new), [OLD])]
    new.write_text(f"# Hall\n\n{NEW}")
    assert house.ingest(new) == ["replaced"]
    assert _told(house) == [(str(new), [NEW])]


def test_a_file_that_was_moved_and_changed_at_once_is_replaced(house: House, write: Write) -> None:
    old = write("a.md", OLD)
    house.ingest(old)
    new = old.rename(old.parent / "b.md")
    new.write_text(NEW)
    assert house.ingest(new) == ["replaced"]
    assert _told(house) == [(str(new), [NEW])]


def test_a_file_in_the_place_of_a_deleted_one_with_other_words_is_another_document(
    house: House, write: Write
) -> None:
    old = write("a.md", OLD)
    house.ingest(old)
    new = old.rename(
        old.parent / "b.md"
    )  # with the number of a file that is gone, as a system gives it again
    new.write_text("Tea is served to guests at four.")
    assert house.ingest(new) == ["new"]
    assert [source for source, _ in _told(house)] == [str(old), str(new)]


def test_a_copy_stays_where_the_first_one_stands(house: House, write: Write) -> None:
    old, copy = write("a.md", f"# Hall\n\n{OLD}"), write("b.md", f"# Hall\n\n{OLD}")
    assert [*house.ingest(old), *house.ingest(copy)] == ["new", "same"]
    assert _told(house) == [(str(old), [OLD])]


def test_a_file_moved_over_another_takes_its_place(house: House, write: Write) -> None:
    old, other = write("a.md", f"# Hall\n\n{OLD}"), write("b.md", "Tea is served at four.")
    house.ingest(old)
    house.ingest(other)
    assert house.ingest(old.rename(other)) == ["same"]
    assert _told(house) == [(str(other), [OLD])]
    other.write_text(f"# Hall\n\n{NEW}")
    assert house.ingest(other) == ["replaced"]
    assert _told(house) == [(str(other), [NEW])]


def test_records_of_a_moved_file_move_with_it(house: House, write: Write) -> None:
    old = write("a.jsonl", f'{{"id": 1, "text": "{OLD}"}}\n{{"id": 2, "text": "Tea at four."}}\n')
    house.ingest(old)
    new = old.rename(old.parent / "b.jsonl")
    new.write_text(f'{{"id": 1, "text": "{NEW}"}}\n{{"id": 2, "text": "Tea at four."}}\n')
    assert sorted(house.ingest(new)) == ["replaced", "same"]
    known = house.library.all(house._user)
    assert [source for each in known for source in each.sources] == [f"{new}#1", f"{new}#2"]


def test_what_somebody_else_shared_keeps_its_path(stores: Stores, ann: int, write: Write) -> None:
    old = write("a.md", f"# Hall\n\n{OLD}")
    House(stores, ann, space=SHARED).ingest(old)
    new = old.rename(old.parent / "b.md")
    bob = House(stores, stores.journal.user_id("bob"), space=SHARED)
    assert bob.ingest(new) == ["same"]
    assert [source for source, _ in _told(bob)] == [str(old)]
