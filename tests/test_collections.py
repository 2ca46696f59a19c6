"""Collections: documents that their user puts together under a name, and asks alone."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from cli_helpers import Vouch
from store_fixtures import Stores
from test_library import add

from stores.base.errors import NotFound, WrongUsage
from stores.base.passages import SHARED, own_space
from stores.memory.collections import MOST_LETTERS, name_of_folder, require_name
from stores.memory.documents import OthersDocument
from stores.memory.library import Library


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    return Vouch(tmp_path, minilm_folder.parent)


def place(stores: Stores, user: int, space: str, source: str, name: str, *, even_placed: bool = True) -> None:
    stores.stored_documents.place(user, space, {source: name}, even_placed=even_placed)


def test_a_collection_means_all_that_stands_in_it_and_ones_own_comes_first(
    stores: Stores, ann: int, bob: int
) -> None:
    library, own = Library(stores.database), own_space(ann)
    for source in ("/a/tea.md", "/b/work.md"):
        add(stores, ann, own, source, source)
        place(stores, ann, own, source, "work")
    add(stores, bob, SHARED, "/c/rules.md", "rules")
    place(stores, bob, SHARED, "/c/rules.md", "work")
    assert [each.source for each in library.named(ann, "work")] == ["/a/tea.md", "/b/work.md"]
    assert [each.source for each in library.named(bob, "work")] == ["/c/rules.md"]
    assert [each.source for each in library.named(ann, "work", shared=True)] == ["/c/rules.md"]
    assert [each.source for each in library.named(ann, "work.md")] == ["/b/work.md"]
    assert len(library.called(ann, "work")) == 2
    place(stores, ann, own, "/a/tea.md", "", even_placed=True)
    assert [each.source for each in library.named(ann, "work")] == ["/b/work.md"]


def test_what_stands_in_one_stays_there_unless_it_is_moved(stores: Stores, ann: int) -> None:
    own = own_space(ann)
    add(stores, ann, own, "/a/tea.md", "tea")
    place(stores, ann, own, "/a/tea.md", "drinks", even_placed=False)
    place(stores, ann, own, "/a/tea.md", "a", even_placed=False)
    assert Library(stores.database).all(ann)[0].collection == "drinks"
    add(stores, ann, own, "/a/tea.md", "tea, changed")  # read again
    assert Library(stores.database).all(ann)[0].collection == "drinks"


def test_what_somebody_else_shared_is_moved_by_them_alone(stores: Stores, ann: int, bob: int) -> None:
    add(stores, bob, SHARED, "/c/rules.md", "rules")
    with pytest.raises(OthersDocument):
        place(stores, ann, SHARED, "/c/rules.md", "mine")
    assert Library(stores.database).all(bob)[0].collection == ""
    add(stores, bob, own_space(bob), "/c/secret.md", "secret")
    place(stores, ann, own_space(ann), "/c/secret.md", "mine")  # in a space of Ann's there is none
    assert {each.collection for each in Library(stores.database).all(bob)} == {""}
    with pytest.raises(NotFound):
        Library(stores.database).named(ann, "mine")


def test_who_reads_a_shared_folder_again_leaves_it_where_it_stands(vouch: Vouch) -> None:
    vouch.write("rules/opening.md", "# Opening\n\nThe room opens at ten.\n")
    vouch.run("ingest", "--shared", "rules", "--into", "house")
    vouch.environment["VOUCH_USER"] = "bob"
    again = vouch.run("ingest", "--shared", "rules", "--into", "bobs")
    assert "same" in again.out
    [listed] = vouch.run("docs", "list", "--json").object["documents"]
    assert listed["collection"] == "house"
    assert "was shared by ann" in vouch.run("docs", "move", "opening.md", "--into", "bobs", code=2).err


def test_documents_and_collections_share_one_name_space(stores: Stores, ann: int) -> None:
    add(stores, ann, own_space(ann), "/a/tea.md", "tea")
    known = Library(stores.database).all(ann)
    wrong = ("", " ", " a", "a\nb", "a\x1b[0m", 'say "a"', "~", "..", "@a", "own", "x" * (MOST_LETTERS + 1))
    for name in ("tea.md", "/a/tea.md", "About tea", *wrong):
        with pytest.raises(WrongUsage):
            require_name(name, known, shared=False)
    require_name("About tea", known, shared=True)  # what is one's own takes no name from what is shared
    for name in ("tea", "drinks", "Getränke für später", "x" * MOST_LETTERS):
        require_name(name, known, shared=False)


def test_what_others_share_takes_the_place_of_no_collection_of_ones_own(
    stores: Stores, ann: int, bob: int
) -> None:
    library = Library(stores.database)
    add(stores, ann, own_space(ann), "/a/tea.md", "tea")
    place(stores, ann, own_space(ann), "/a/tea.md", "handbook")
    add(stores, bob, SHARED, "handbook", "rules")
    assert [each.source for each in library.named(ann, "handbook")] == ["/a/tea.md"]
    require_name("handbook", library.all(ann), shared=False)
    assert [each.source for each in library.named(bob, "handbook")] == ["handbook"]


def test_what_is_moved_together_is_moved_or_not_together(vouch: Vouch) -> None:
    vouch.write("shared/rules.md", "# Rules\n\nThe room opens at ten.\n")
    vouch.run("ingest", "--shared", "shared/rules.md")
    vouch.environment["VOUCH_USER"] = "bob"
    vouch.write("own.md", "# Mine\n\nA note.\n")
    vouch.run("ingest", "own.md")
    vouch.run("docs", "move", "own.md", "rules.md", "--into", "all", code=2)
    listed = vouch.run("docs", "list", "--json").object["documents"]
    assert {each["collection"] for each in listed} == {None}


def test_what_is_new_in_a_folder_or_a_file_comes_into_its_collection(vouch: Vouch) -> None:
    vouch.write("Project/readme.md", "# Project\n\nIt starts in May.\n")
    vouch.write("Project/all.jsonl", json.dumps({"id": "1", "text": "One."}) + "\n")
    vouch.run("ingest", "Project")
    vouch.write("Project/two.md", "# Two\n\nIt ends in June.\n")
    vouch.run("ingest", "Project")
    file = Path(
        vouch.write("Project/all.jsonl", "".join(json.dumps({"id": i, "text": f"{i}."}) + "\n" for i in "12"))
    )
    os.utime(file, (time.time() + 60, time.time() + 60))
    vouch.run("docs", "refresh")
    vouch.run("ingest", "Project/two.md", "--into", "Project")  # as it is called already
    listed = vouch.run("docs", "list", "--json").object["documents"]
    assert {(each["name"], each["collection"], each["records"]) for each in listed} == {
        ("readme.md", "Project", 1), ("two.md", "Project", 1), ("all.jsonl", "Project", 2),
    }  # fmt: skip
    assert (
        "is what a collection is called"
        in vouch.run("ingest", "-", "--name", "Project", code=2, stdin="x").err
    )


def test_a_folder_is_called_by_as_much_of_its_path_as_nothing_else_has(stores: Stores, ann: int) -> None:
    library, own = Library(stores.database), own_space(ann)

    def named(folder: str) -> str:
        return name_of_folder(Path(folder), library.all(ann), shared=False)

    assert named("/x/docs") == "docs"
    add(stores, ann, own, "/x/docs/tea.md", "tea")
    place(stores, ann, own, "/x/docs/tea.md", "docs")
    assert named("/x/docs") == "docs"  # read again
    assert named("/y/docs") == "y/docs"
    add(stores, ann, own, "rules", "rules")
    assert named("/x/rules") == "x/rules"
    assert named("/") == ""


def test_it_is_read_into_moved_asked_alone_and_exported(vouch: Vouch) -> None:
    vouch.write("tea/green.md", "# Green\n\nThe kettle for green tea is set to 75 degrees.\n")
    vouch.write("tea/all.jsonl", json.dumps({"id": "1", "text": "Black tea is drunk with milk."}) + "\n")
    coffee = vouch.write("coffee.md", "# Coffee\n\nThe kettle for coffee is set to 94 degrees.\n")
    vouch.run("ingest", "tea")
    vouch.run("ingest", coffee, "--into", "drinks")

    def collections() -> dict[str, str | None]:
        listed = vouch.run("docs", "list", "--json").object["documents"]
        return {each["name"]: each["collection"] for each in listed}

    assert collections() == {"green.md": "tea", "all.jsonl": "tea", "coffee.md": "drinks"}
    question = "What is the kettle set to?"
    assert "94" in vouch.run("ask", "--in", "drinks", question).out
    assert "75" in vouch.run("ask", f"@tea {question}").out
    assert "no document 'beer'" in vouch.run("ask", "--in", "beer", question, code=1).err

    moved = vouch.run("docs", "move", "tea", "coffee.md", "--into", "hot drinks")
    assert "Moved all.jsonl, green.md, coffee.md into hot drinks." in moved.out
    assert set(collections().values()) == {"hot drinks"}
    assert '`vouch docs move "' not in vouch.run("docs", "move", "hot drinks", "--out").err
    assert set(collections().values()) == {None}
    back = vouch.run("docs", "move", "coffee.md", "--into", "drinks").err
    assert "`vouch docs move coffee.md --out` moves it back." in back
    vouch.run("ingest", "tea")
    assert collections() == {"green.md": "tea", "all.jsonl": "tea", "coffee.md": "drinks"}
    assert "is what a document is called" in vouch.run("ingest", "tea", "--into", "coffee.md", code=2).err
    assert "--into COLLECTION, or --out" in vouch.run("docs", "move", "tea", code=2).err
    lines = [json.loads(line) for line in vouch.run("memory", "export").out.splitlines()]
    exported = {each["source"]: each["collection"] for each in lines if each["record"] == "document"}
    assert exported[coffee] == "drinks"
