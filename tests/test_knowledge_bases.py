"""Knowledge bases: read whole or not at all, seen by whom they belong to, and taken back."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_helpers import Vouch
from command_forks import COMMAND
from hypothesis import given
from hypothesis import strategies as st
from kill_points import kills
from sqlmodel import SQLModel
from store_fixtures import ENCODER, Stores, assert_words_are_exact, fake_encode

from assistant.library.ingest import _new
from assistant.library.knowledge_file import KnowledgeFile, prepared, read_knowledge
from stores.base.entities import Entity, entity_of, entity_text
from stores.base.errors import NotFound, UnreadableDocument, WrongUsage
from stores.base.passages import SHARED, own_space
from stores.forgetting.forgetting import Forgetting
from stores.search.knowledge_bases import KnowledgeBases

CAFES = (Entity("Kiku", {"food": "japanese", "area": "north"}), Entity("Pho Lan", {"food": "vietnamese"}))

word = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)


@given(word, st.dictionaries(word, word, max_size=5))
def test_an_entity_is_read_back_from_its_passage(name: str, values: dict[str, str]) -> None:
    assert entity_of(name, entity_text(Entity(name, values))) == Entity(name, values)


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str, str], KnowledgeFile]:
    def reading(name: str, text: str) -> KnowledgeFile:
        (tmp_path / name).write_text(text, "utf-8")
        return read_knowledge(tmp_path / name)

    return reading


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "name,food,area\nKiku,japanese,north\n\nPho Lan,vietnamese,\n"),
        ("a.csv", "\ufeffname;food;area\r\nKiku;japanese;north\r\nPho Lan;vietnamese;\r\n"),
        ("a.csv", "\ufeffsep=|\r\nname|food|area\r\nKiku|japanese|north\r\nPho Lan|vietnamese|\r\n"),
        ("a.tsv", 'food\tname\tarea\njapanese\tKiku\t"north"\nvietnamese\t Pho\xa0 Lan\t\n'),
        (
            "a.jsonl",
            '{"name": "Kiku", "food": ["japanese"], "area": "north"}\n{"name":"Pho Lan","food":"vietnamese"}',
        ),
    ],
)
def test_rows_of_every_kind_of_file_become_the_same_entities(
    read: Callable[[str, str], KnowledgeFile], name: str, text: str
) -> None:
    found = read(name, text)
    assert found.entities == CAFES
    assert set(found.columns) == {"name", "food", "area"}
    assert found.problems == ()


def test_values_of_json_become_text(read: Callable[[str, str], KnowledgeFile]) -> None:
    row = {"id": 7, "stars": 4.5, "garden": True, "bar": False, "tags": ["a", 1], "empty": None}
    (entity,) = read("a.jsonl", json.dumps(row)).entities
    assert entity == Entity("7", {"stars": "4.5", "garden": "yes", "bar": "no", "tags": "a, 1"})


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.csv", "name,food\nKiku,japanese\nPho Lan\n", "line 3 has 1 values for 2 columns"),
        ("a.csv", "sep=,\nname,food\nKiku,japanese\nPho Lan\n", "line 4 has 1 values for 2 columns"),
        ("a.csv", "name,food\nKiku,japanese\nKiku,japanese\n", "line 3 is the same as line 2"),
        ("a.jsonl", '{"name": "Kiku"}\n{"name": "Pho', "line 2 is not valid JSON"),
        ("a.jsonl", '{"name": "a"}\n{"nmae": "b"}', "line 2 has a column 'nmae' that the first row has not"),
        ("a.jsonl", '{"name": "a", "at": {"x": 1}}', "line 1: 'at' is no text, number, yes or no"),
        ("a.csv", f"name,food\nKiku,{'x' * 2001}\n", "line 2: 'food' is longer than 2,000 characters"),
    ],
)
def test_a_bad_row_is_told_with_its_line(
    read: Callable[[str, str], KnowledgeFile], name: str, text: str, problem: str
) -> None:
    (told,) = read(name, text).problems
    assert told.startswith(problem)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "name,name\na,b\n", "two columns 'name'"),
        ("a.csv", "name,a: b\na,b\n", "in the name of a column"),
        ("a.jsonl", "\n", "holds no rows"),
        ("a.xlsx", "name", "is none of these: .csv, .tsv, .jsonl"),
        ("a.jsonl", "x\n" * 200, "more than 100 bad rows"),
        ("a.csv", "name\n" + "\n".join(map(str, range(100_001))), "more than 100,000 rows"),
    ],
)
def test_what_is_no_table_is_refused(
    read: Callable[[str, str], KnowledgeFile], name: str, text: str, reason: str
) -> None:
    if name.endswith(".jsonl") and "bad" in reason:
        text = '{"name": "a"}\n' + text + '{"name": "b"}'
    with pytest.raises(UnreadableDocument, match=reason):
        read(name, text)


def test_bytes_that_are_no_text_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"name\n\xff\xfe\n")
    with pytest.raises(UnreadableDocument, match="is not UTF-8"):
        read_knowledge(tmp_path / "a.csv")
    with pytest.raises(UnreadableDocument, match="No such file"):
        read_knowledge(tmp_path / "b.csv")


def add(stores: Stores, user: int, name: str, *entities: Entity, shared: bool = False) -> int:
    """Stores a knowledge base; returns the receipt."""
    base = KnowledgeBases(stores.database).open(user, name, shared=shared)
    document = _new(prepared(name, Path("cafes.csv"), entities))
    plan = stores.stored_documents.plan(f"kb:{base}", [document])
    receipt = stores.stored_documents.open_receipt(user, SHARED if shared else own_space(user), name)
    stores.stored_documents.store(
        plan, fake_encode(plan.texts_to_encode()), encoder_version=ENCODER, receipt_id=receipt
    )
    return receipt


def names(stores: Stores, user: int, base: str) -> list[str]:
    bases = KnowledgeBases(stores.database)
    return [entity.name for _, entity in bases.entities(bases.named(user, base))]


def test_a_knowledge_base_is_seen_by_its_user_and_a_shared_one_by_all(stores: Stores) -> None:
    ann, bob = stores.journal.user_id("ann"), stores.journal.user_id("bob")
    add(stores, ann, "cafes", CAFES[0])
    add(stores, bob, "cafes", CAFES[1], shared=True)
    assert (names(stores, ann, "cafes"), names(stores, bob, "cafes")) == (["Kiku"], ["Pho Lan"])
    bases = KnowledgeBases(stores.database)
    assert [(base.name, base.is_shared, base.entities) for base in bases.all(ann)] == [
        ("cafes", False, 1),
        ("cafes", True, 1),
    ]
    own = bases.named(ann, "cafes").id
    assert bases.with_id(ann, own).id == own
    with pytest.raises(NotFound, match="was removed"):
        bases.with_id(bob, own)
    with pytest.raises(NotFound, match="no knowledge base 'bars'"):
        bases.named(bob, "bars")
    for name in ("", " ", "a\nb", "x" * 61):
        with pytest.raises(WrongUsage):
            bases.open(ann, name, shared=False)


def test_its_entities_are_found_in_its_space_and_in_no_other(stores: Stores) -> None:
    ann = stores.journal.user_id("ann")
    add(stores, ann, "cafes", *CAFES)
    add(stores, ann, "bars", Entity("Japanese Bar", {}))
    spaces = stores.spaces()
    base = KnowledgeBases(stores.database).named(ann, "cafes")
    (query,) = fake_encode(["japanese"])

    def found(space: object) -> list[str]:
        return sorted(p.title for p in space.found("japanese", query, 10).passages.values())  # type: ignore[attr-defined]

    assert found(spaces.of_knowledge_base(base)) == ["Kiku", "Pho Lan"]
    assert found(spaces.of(ann)) == []
    assert_words_are_exact(stores.database)


def test_it_is_replaced_removed_and_brought_back(stores: Stores) -> None:
    ann = stores.journal.user_id("ann")
    add(stores, ann, "cafes", *CAFES)
    replaced = add(stores, ann, "cafes", CAFES[1], Entity("Anatolia", {"food": "turkish"}))
    assert names(stores, ann, "cafes") == ["Pho Lan", "Anatolia"]
    base = KnowledgeBases(stores.database).named(ann, "cafes")
    removed = stores.stored_documents.remove(
        ann, base.space, ["cafes"], of_space=own_space(ann), summary="removed"
    )
    assert KnowledgeBases(stores.database).all(ann) == []
    with pytest.raises(NotFound, match="nothing of cafes is left"):
        stores.stored_documents.remove(ann, base.space, ["cafes"], of_space=own_space(ann), summary="")
    stores.knowledge.undo(ann, removed)
    assert names(stores, ann, "cafes") == ["Pho Lan", "Anatolia"]
    stores.knowledge.undo(ann, replaced)
    assert names(stores, ann, "cafes") == ["Kiku", "Pho Lan"]


def test_who_forgets_everything_forgets_their_knowledge_bases(stores: Stores) -> None:
    ann = stores.journal.user_id("ann")
    add(stores, ann, "cafes", *CAFES)
    add(stores, ann, "bars", Entity("Harbour Bar", {}), shared=True)
    Forgetting(stores.database).forget_everything(ann)
    assert [base.name for base in KnowledgeBases(stores.database).all(ann)] == ["bars"]
    with stores.database.reading() as sql:
        rows = [list(sql.execute(table.select())) for table in SQLModel.metadata.sorted_tables]
    assert "Harbour Bar" in str(rows)
    for word in ("Kiku", "vietnamese", "'cafes'"):
        assert word not in str(rows)


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    return Vouch(tmp_path, minilm_folder.parent)


CSV = "name,food\nKiku,japanese\nPho Lan,vietnamese\n"


def test_the_commands_add_show_and_remove(vouch: Vouch) -> None:
    file = vouch.write("cafes.csv", CSV)
    assert "cafes was added: 2 entities" in vouch.run("kb", "add", "cafes", file).out
    assert "holds the same" in vouch.run("kb", "add", "cafes", file).out
    assert vouch.run("kb", "list").cells == [
        ["cafes", "yours", "2 entities", str(vouch.folder / "cafes.csv")]
    ]
    shown = vouch.run("kb", "show", "cafes", "--json").object
    assert shown["columns"] == {"food": {"values": 2, "commonest": {"japanese": 1, "vietnamese": 1}}}
    assert vouch.run("kb", "show", "cafes").cells[1] == ["food", "2 values", "japanese, vietnamese"]
    assert vouch.run("memory", "list").out == ""  # it is no memory
    removed = vouch.run("kb", "remove", "cafes").out
    assert vouch.run("kb", "list", "--json").object["knowledge_bases"] == []
    assert "There is none" in vouch.run("kb", "list").err
    vouch.run("memory", "undo", removed.partition("undo ")[2].partition("`")[0])
    assert vouch.run("kb", "list", "--json").object["knowledge_bases"][0]["entities"] == 2


def test_of_a_file_with_bad_rows_nothing_is_added(vouch: Vouch) -> None:
    file = vouch.write("cafes.csv", CSV + "odd\n" * 12)
    told = vouch.run("kb", "add", "cafes", file, code=1).err.splitlines()
    assert len(told) == 11
    assert told[0].endswith("cafes.csv: line 4 has 1 values for 2 columns")
    assert told[-1].endswith("12 rows cannot be read; 2 more are not listed. Nothing was added")
    assert "no knowledge base 'cafes'" in vouch.run("kb", "remove", "cafes", code=1).err


@pytest.mark.slow
def test_killed_at_any_moment_it_holds_all_or_nothing(vouch: Vouch) -> None:
    rows = "".join(f"Place {n},food {n % 7},{n} Mill Lane\n" for n in range(3_000))
    file = vouch.write("places.csv", "name,food,address\n" + rows)
    vouch.run("kb", "add", "small", vouch.write("cafes.csv", CSV))
    seed = int(os.environ.get("VOUCH_TEST_SEED") or random.randrange(10**6))
    print(f"VOUCH_TEST_SEED={seed}")
    moments = random.Random(seed)
    for _ in range(kills(2)):
        running = subprocess.Popen(
            [COMMAND, "kb", "add", "places", file], env=vouch.environment, stdout=-3, stderr=-3
        )
        time.sleep(moments.uniform(0.5, 12.0))
        running.send_signal(signal.SIGKILL)
        running.wait()
        told = vouch.run("kb", "list", "--json").object["knowledge_bases"]
        counts = {base["name"]: base["entities"] for base in told}
        assert counts in ({"small": 2}, {"small": 2, "places": 3_000})
    vouch.run("kb", "add", "places", file)
    assert "every live passage has one" in vouch.run("doctor").out
