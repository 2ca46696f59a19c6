"""An index in a folder or on a server, and what happens to it: settings that change, files that go.

Whatever happens, each shared passage is found first by its own vector at the next question.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from chroma_server import ChromaServer
from cli_helpers import HANDBOOK, QUESTION, Vouch

from assistant.checks.check import Check, Look
from assistant.checks.searched import shared_index
from benchmarks.durability import Death, Worker
from benchmarks.durable_checks import check_found
from benchmarks.durable_worker import QuickAssistant, Specification, document
from stores.base.errors import DamagedIndex, StoreUnavailable
from stores.base.passages import SHARED, own_space
from tests.free_ports import free_port

Open = Callable[..., QuickAssistant]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Open]:
    """Opens the one data directory by given settings, as often as asked."""
    opened: list[QuickAssistant] = []

    def open_house(kind: str, url: str = "") -> QuickAssistant:
        specification = Specification(work="", folder=str(tmp_path), index_kind=kind, index_url=url)
        opened.append(QuickAssistant(specification))
        opened[-1].catch_up()
        return opened[-1]

    yield open_house
    for assistant in opened:
        assistant.close()


def read(assistant: QuickAssistant, first: int, last: int, *, space: str = SHARED) -> None:
    papers = [document(number, 1) for number in range(first, last)]
    for _ in assistant.turns.ingest.run(
        assistant.stores.journal.user_id("ann"), space, papers, summary="papers"
    ):
        pass


def must_find(assistant: QuickAssistant, number: int) -> None:
    paper = document(number, 1)
    text = paper.passages[-1].text
    check_found(assistant, assistant.stores.journal.user_id("ann"), text, paper.title)


def uses_index(assistant: QuickAssistant) -> bool:
    with assistant.stores.database.reading() as sql:
        return assistant.search.searching.shared_index.to_search(sql) is not None


def folder_of(assistant: QuickAssistant, kind: str) -> Path:
    return assistant.given.locations.data / kind


def looked(assistant: QuickAssistant) -> Check:
    return shared_index(assistant, Look())


@pytest.fixture(params=["faiss", "chroma"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_what_was_read_under_other_settings_is_in_the_index_when_they_come_back(
    house: Open, kind: str
) -> None:
    before = house(kind)
    read(before, 0, 20)
    before.close()
    meanwhile = house("exact")
    read(meanwhile, 20, 30)
    meanwhile.close()
    again = house(kind)
    assert again.search.searching.shared_index.differences() == (set(), set())
    assert uses_index(again)
    must_find(again, 25)


def test_a_deleted_index_is_not_asked_and_is_filled_by_the_next_reading(house: Open, kind: str) -> None:
    before = house(kind)
    read(before, 0, 20)
    before.close()
    shutil.rmtree(folder_of(before, kind))
    again = house(kind)
    assert not uses_index(again)
    must_find(again, 5)
    read(again, 20, 21)
    assert again.search.searching.shared_index.differences() == (set(), set())
    assert uses_index(again)
    must_find(again, 5)


def test_an_index_that_is_deleted_while_a_chat_is_open_is_not_asked_and_filled_again(
    house: Open, kind: str
) -> None:
    chat = house(kind)
    read(chat, 0, 20)
    must_find(chat, 5)
    shutil.rmtree(folder_of(chat, kind))
    assert not uses_index(chat)
    must_find(chat, 5)
    read(chat, 20, 21)
    assert chat.search.indexer.hindrance is None
    assert uses_index(chat)
    must_find(chat, 5)


def test_an_index_that_another_process_made_anew_is_used_by_an_open_chat(house: Open, kind: str) -> None:
    chat = house(kind)
    read(chat, 0, 20)
    shutil.rmtree(folder_of(chat, kind))
    doctor = house(kind)  # the lock that the chat holds is on a file that is gone
    assert "the index was empty" in looked(doctor).repaired
    doctor.close()
    assert uses_index(chat)
    must_find(chat, 5)
    read(chat, 20, 21)
    must_find(chat, 20)
    assert chat.search.searching.shared_index.differences() == (set(), set())


def test_a_server_that_lost_its_data_is_filled_again(house: Open, tmp_path: Path) -> None:
    server = ChromaServer(tmp_path / "server")
    server.start()
    try:
        chat = house("chroma", server.url)
        read(chat, 0, 20)
        assert uses_index(chat)
        server.stop()
        shutil.rmtree(server.folder)
        server.start()
        assert not uses_index(chat)
        must_find(chat, 5)
        read(chat, 20, 21)
        assert chat.search.searching.shared_index.differences() == (set(), set())
        assert uses_index(chat)
    finally:
        server.stop()


def test_a_server_that_is_down_holds_up_the_shared_index_alone(house: Open) -> None:
    told: list[str] = []
    assistant = house("chroma", f"http://127.0.0.1:{free_port()}")
    assistant.given.tell = told.append
    read(assistant, 0, 20)
    waiting = assistant.search.indexer.waiting()
    assert waiting > 0
    ann = assistant.stores.journal.user_id("ann")
    read(assistant, 30, 31, space=own_space(ann))
    assistant.catch_up()
    assert assistant.search.indexer.waiting() == waiting
    assert len(told) == 1
    assert told[0].startswith("The shared index waits: http://127.0.0.1:")
    assert "nothing is lost" in told[0]
    must_find(assistant, 30)
    must_find(assistant, 5)  # exactly: the index was never filled


@pytest.mark.slow
def test_whoever_writes_which_index_and_is_killed_an_index_that_is_asked_is_whole(
    house: Open, tmp_path: Path
) -> None:
    seed = int(os.environ.get("VOUCH_TEST_SEED") or random.randrange(10**6))
    print(f"VOUCH_TEST_SEED={seed}")
    chance = random.Random(seed)

    def killed(number: int, kind: str) -> str:
        of_worker = Specification(
            work="ingest", folder=str(tmp_path), index_kind=kind, user=f"user {number}", first=1_000 * number
        )
        return Worker(of_worker, Death.of(seed, "ingest", number)).live()

    numbers = itertools.count()
    for _ in range(4):
        kinds = chance.sample(["faiss", "faiss", "chroma", "exact"], 3)
        with ThreadPoolExecutor() as threads:
            list(threads.map(killed, numbers, kinds))
        if chance.random() < 0.3:
            shutil.rmtree(tmp_path / "data" / chance.choice(["faiss", "chroma"]), ignore_errors=True)
        for kind in chance.sample(["faiss", "chroma"], 2):
            after = house(kind)
            assert after.search.indexer.waiting() == 0
            if uses_index(after):
                assert after.search.searching.shared_index.differences() == (set(), set())
            after.close()
    last = house("faiss")
    read(last, 100, 120)
    assert uses_index(last)
    must_find(last, 110)


def test_while_its_server_is_down_everything_that_needs_no_index_is_done_and_it_is_told_once(
    tmp_path: Path, minilm_folder: Path
) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    url = f"http://127.0.0.1:{free_port()}"
    vouch.set(f'[index]\nurl = "{url}"\n[retrieval]\nexact_up_to = 0\n')
    assert vouch.run("ingest", "--shared", vouch.write("handbook.md", HANDBOOK)).err.count(url) == 1
    asked = vouch.run("ask", QUESTION)
    assert "10:00" in asked.out
    assert asked.err.count(url) == 1
    said = vouch.chat("/remember I like tea.", "What do I like?", "/undo")
    assert "Remembered, yours" in said
    assert "I like tea" in said.partition("Assistant:")[2]
    assert "Undone" in said


# The doctor


def damage(assistant: QuickAssistant, kind: str) -> None:
    name = {"faiss": "description.json", "chroma": "chroma.sqlite3"}[kind]
    (file,) = folder_of(assistant, kind).rglob(name)
    file.write_bytes(b"damaged" * 1_000)


def test_a_damaged_index_is_not_taken_for_one_that_another_process_writes(house: Open, kind: str) -> None:
    before = house(kind)
    read(before, 0, 20)
    before.search.searching.shared_index.forget()  # nothing says that it was ever filled
    before.close()
    damage(before, kind)
    again = house(kind)
    read(again, 20, 21)
    assert isinstance(again.search.indexer.hindrance, DamagedIndex)
    assert again.search.indexer.waiting() > 0
    check = looked(again)
    assert check.state == "ok"
    assert any("was deleted, and filled from the database" in line for line in check.repaired)
    assert again.search.indexer.waiting() == 0
    assert again.search.searching.shared_index.differences() == (set(), set())
    assert uses_index(again)


def test_an_index_that_was_never_filled_is_filled_by_the_doctor(house: Open, kind: str) -> None:
    before = house("exact")
    read(before, 0, 20)
    before.close()
    again = house(kind)
    assert shared_index(again, Look(repairs=False)).found == "none: the shared memory is searched exactly"
    assert "the index was not filled yet" in looked(again).repaired
    assert looked(again).repaired == ()
    assert uses_index(again)


def test_a_full_disk_is_not_taken_for_another_process(house: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    assistant = house("faiss")

    def no_room(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("No space left on device")

    monkeypatch.setattr("stores.vectors.faiss_index.FaissVectors._begin_writing", no_room)
    read(assistant, 0, 20)
    assert assistant.search.indexer.hindrance is not None
    with pytest.raises(StoreUnavailable, match="No space left"):
        looked(assistant)


def test_killed_while_the_doctor_makes_an_index_anew_it_is_not_asked(
    house: Open, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = house(kind)
    read(before, 0, 20)
    before.close()
    damage(before, kind)
    doctor = house(kind)

    def killed(self: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("stores.search.shared_index.SharedIndex.fill_anew", killed)
        with pytest.raises(KeyboardInterrupt):
            looked(doctor)
    doctor.close()
    again = house(kind)
    assert not uses_index(again)
    read(again, 20, 21)
    assert uses_index(again)
    must_find(again, 5)
