"""Documents as their user sees them: a file each, whether it has changed, and out and back again."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from cli_helpers import Vouch
from store_fixtures import ENCODER, Stores, fake_encode

from assistant.turns.documents_named import documents_named, naming
from stores.base.errors import NotFound, WrongUsage
from stores.base.passages import SHARED, own_space
from stores.memory.documents import NewDocument, NewPassage
from stores.memory.library import Library


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    return Vouch(tmp_path, minilm_folder.parent)


def add(stores: Stores, user: int, space: str, source: str, *texts: str, record: str = "") -> None:
    passages = tuple(NewPassage("On " + text, text) for text in texts)
    document = NewDocument(source, f"About {texts[0]}", f"hash of {space} {source} {texts}", passages, record)
    plan = stores.stored_documents.plan(space, [document])
    receipt = stores.stored_documents.open_receipt(user, space, "added")
    vectors = fake_encode(plan.texts_to_encode())
    stores.stored_documents.store(plan, vectors, encoder_version=ENCODER, receipt_id=receipt)


def test_a_user_sees_the_shared_documents_and_their_own(stores: Stores, ann: int, bob: int) -> None:
    add(stores, ann, own_space(ann), "/home/notes/tea.md", "green tea", "black tea")
    add(stores, bob, own_space(bob), "/home/notes/secret.md", "a secret")
    add(stores, ann, SHARED, "/home/manual.txt", "the manual")
    for number in range(3):
        add(stores, ann, SHARED, f"/home/all.jsonl#{number}", f"record {number}", record=str(number))
    library = Library(stores.database)
    told = [(each.name, each.is_shared, each.passages, len(each.sources)) for each in library.all(ann)]
    assert told == [("tea.md", False, 2, 1), ("all.jsonl", True, 3, 3), ("manual.txt", True, 1, 1)]
    assert [each.name for each in library.all(bob)] == ["secret.md", "all.jsonl", "manual.txt"]
    [tea] = library.named(ann, "tea.md")
    assert list(library.passages(tea, ann)) == [("On green tea", "green tea"), ("On black tea", "black tea")]
    assert list(library.passages(tea, bob)) == []
    with pytest.raises(NotFound, match=r"no document 'tea\.md'"):
        library.named(bob, "tea.md")


def test_a_name_is_a_path_a_file_a_title_or_a_folder(stores: Stores, ann: int) -> None:
    own = own_space(ann)
    add(stores, ann, own, "/home/a/read.md", "one")
    add(stores, ann, own, "/home/b/read.md", "two")
    add(stores, ann, own, "/home/b/deep/other.md", "three")
    add(stores, ann, own, "rules", "four")  # of a pipe
    add(stores, ann, SHARED, "/home/a/read.md", "five")
    library = Library(stores.database)

    def sources(name: str) -> list[str]:
        return [each.source for each in library.named(ann, name)]

    assert sources("/home/a/read.md") == ["/home/a/read.md"]
    assert not library.named(ann, "/home/a/read.md")[0].is_shared  # their own first
    assert sources("other.md") == sources("About three") == ["/home/b/deep/other.md"]
    assert sources("/home/b/") == ["/home/b/deep/other.md", "/home/b/read.md"]
    assert sources("rules") == ["rules"]
    with pytest.raises(WrongUsage, match=r"'read\.md' may be /home/a/read\.md, /home/b/read\.md"):
        library.named(ann, "read.md")
    with pytest.raises(NotFound):
        library.named(ann, "/hom")


def test_the_commands_list_show_refresh_and_remove(vouch: Vouch) -> None:
    assert "There is none" in vouch.run("docs", "list").err
    tea = vouch.write("tea.md", "# Tea\n\nGreen tea steeps for two minutes.\n")
    vouch.run("ingest", tea)
    (name, scope, passages, _day, on_disk, source, collection) = vouch.run("docs", "list").cells[0]
    assert (name, scope, passages, on_disk, source) == ("tea.md", "yours", "1 passage", "", str(tea))
    assert collection == ""
    assert vouch.run("docs").out == vouch.run("docs", "list").out
    assert "Green tea steeps for two minutes." in vouch.run("docs", "show", "tea.md").out
    assert "Nothing has changed on disk." in vouch.run("docs", "refresh").err
    vouch.write("tea.md", "# Tea\n\nGreen tea steeps for three minutes.\n")
    os.utime(tea, (time.time() + 60, time.time() + 60))
    assert vouch.run("docs", "list").cells[0][4] == "changed on disk"
    assert "replaced" in vouch.run("docs", "refresh").out
    [shown] = [vouch.run("docs", "show", "tea.md", "--json").object]
    assert shown["text"] == [{"title": "Tea", "text": "Green tea steeps for three minutes."}]
    Path(tea).unlink()
    assert "is no longer on disk" in vouch.run("docs", "refresh").err
    removed = vouch.run("docs", "remove", "tea.md", "--json").object
    assert removed["removed"] == [str(tea)]
    assert vouch.run("docs", "list", "--json").object == {"schema": 1, "documents": []}
    vouch.run("memory", "undo", str(removed["receipts"][0]))
    assert vouch.run("docs", "list", "--json").object["documents"][0]["on_disk"] == "gone"
    assert "no document 'coffee.md'" in vouch.run("docs", "remove", "coffee.md", code=1).err


def test_a_document_that_a_message_names_is_known_by_its_stem_too(stores: Stores, ann: int, bob: int) -> None:
    add(stores, ann, own_space(ann), "/home/a/tea.md", "green", "black")
    add(stores, bob, own_space(bob), "/home/b/tea.md", "a secret")
    add(stores, ann, SHARED, "/home/c/wine.md", "red")
    add(stores, ann, SHARED, "/home/d/wine.md", "white")
    library = Library(stores.database)
    texts = stores.texts(own_space(ann))
    assert [texts[i] for i in library.called(ann, "tea")] == ["green", "black"]
    for name in ("wine", "beer", "~nobody", "~nobody/tea.md", "a\0b", "x" * 5_000):  # of two, or none
        assert library.called(ann, name) == []


def test_names_leave_the_message_and_other_words_with_an_at_stay() -> None:
    called = {"tea.md": [1, 2], "my notes": [3]}

    def named(message: str) -> tuple[str, list[int] | None]:
        return documents_named(message, 7, lambda user_id, name: called.get(name, []) if user_id == 7 else [])

    assert named("@tea.md how long?") == named("@tea.md: how long?") == ("how long?", [1, 2])
    assert named('how long @"my notes"\ndoes it take @tea.md') == ("how long \ndoes it take", [3, 1, 2])
    for untouched in ("mail ann@tea.md", "@coffee.md how long?", "@tea.md", "how long?"):
        assert named(untouched) == (untouched, None)
    assert [naming("tea.md"), naming("my notes")] == ["@tea.md", '@"my notes"']


def test_the_chat_lists_documents_by_words_of_their_names(vouch: Vouch) -> None:
    assert "There is none. /ingest PATH" in vouch.run("chat", "--plain", stdin="/docs\n").out
    for name in ("green tea.md", "black tea.md"):
        vouch.run("ingest", vouch.write(name, f"# On tea\n\nThe {name} steeps.\n"))
    told = vouch.run("chat", "--plain", stdin="/docs\n/docs tea GREEN\n/docs milk\n").out
    assert (told.count("black tea.md  yours  1 passage"), told.count("green tea.md  yours")) == (1, 2)
    assert "None of them is so called." in told


def test_one_document_alone_is_asked(vouch: Vouch) -> None:
    vouch.run("ingest", vouch.write("tea.md", "# Tea\n\nThe pot is emptied after two minutes.\n"))
    vouch.run("ingest", vouch.write("bath.md", "# Bath\n\nThe pot is emptied after two hours.\n"))
    sources = vouch.run("ask", "--in", "bath.md", "When is the pot emptied?", "--json").object["sources"]
    assert {Path(each["source"]).name for each in sources} == {"bath.md"}
    nothing_kept = vouch.run("ask", "@tea the colour of the lid", code=1).out
    assert "Noted" not in nothing_kept
    assert "the lid" not in vouch.run("memory", "list").out
    answer = vouch.run("ask", "@tea When is the pot emptied?").out
    assert "two minutes" in answer
    assert "two hours" not in answer
    assert "no document 'milk.md'" in vouch.run("ask", "--in", "milk.md", "When?", code=1).err
    assert "quotation mark" in vouch.run("ask", "--in", 'te"a.md', "When?", code=2).err
    assert "exclude one another" in vouch.run("ask", "--in", "tea.md", "--kb", "x", "When?", code=2).err


def test_what_a_document_holds_steers_no_terminal(vouch: Vouch, tmp_path: Path) -> None:
    evil = "Tea \x1b]0;owned\x07at five.\u202e\x9b2J"
    (tmp_path / "evil.txt").write_text(evil, encoding="utf-8")
    vouch.run("ingest", str(tmp_path / "evil.txt"))
    for told in (
        vouch.run("docs", "show", "evil.txt").out,
        vouch.run("docs", "show", "evil.txt", "--json").out,
    ):
        assert "at five." in told
        assert all(c.isprintable() or c in "\n\t" for c in told)
