"""What somebody shared is replaced and removed by them and by curators alone, through every door."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_helpers import Vouch
from store_fixtures import ENCODER, Stores, document, fake_encode

from stores.base.passages import SHARED
from stores.memory.documents import NewDocument, OthersDocument, StoredDocuments

RULES, CHANGED = document("rules.md", "Quiet after ten."), document("rules.md", "Noise is fine.")


def store(documents: StoredDocuments, user: int, *new: NewDocument) -> None:
    plan = documents.plan(SHARED, new)
    receipt = documents.open_receipt(user, SHARED, "added")
    vectors = fake_encode(plan.texts_to_encode())
    documents.store(plan, vectors, encoder_version=ENCODER, receipt_id=receipt)


def test_another_user_neither_replaces_nor_removes_it(stores: Stores, ann: int, bob: int) -> None:
    receipt, _ = stores.add(ann, RULES)
    documents = stores.stored_documents
    with pytest.raises(OthersDocument, match=r"rules\.md was shared by ann"):
        store(documents, bob, CHANGED)
    with pytest.raises(OthersDocument, match="shared by ann"):
        documents.remove(bob, SHARED, ["rules.md"], of_space=SHARED, summary="removed")
    assert set(stores.texts().values()) == {"Quiet after ten."}
    assert documents.of_others(bob, SHARED, ["rules.md", "else.md"]) == {"rules.md": "ann"}
    plan = documents.plan(SHARED, [CHANGED, document("new.md", "Tea at five.")], user_id=bob)
    assert ([d.source for d in plan.changed], plan.others) == (["new.md"], {"rules.md": "ann"})
    stores.knowledge.undo(ann, receipt)
    assert stores.texts() == {}


def test_who_shared_it_and_a_curator_do_both(stores: Stores, ann: int, bob: int) -> None:
    stores.add(ann, RULES)
    store(stores.stored_documents, ann, CHANGED)
    curated = StoredDocuments(stores.database, curators=["bob"])
    store(curated, bob, RULES)
    assert set(stores.texts().values()) == {"Quiet after ten."}
    curated.remove(bob, SHARED, ["rules.md"], of_space=SHARED, summary="removed")
    assert stores.texts() == {}


def test_what_nobody_is_known_to_have_shared_is_nobodys_to_change(stores: Stores, ann: int, bob: int) -> None:
    stores.add(ann, RULES)
    with stores.database.writing() as sql:
        sql.connection().exec_driver_sql("UPDATE document_versions SET added_by = NULL")
    with pytest.raises(OthersDocument, match="somebody else"):
        store(stores.stored_documents, ann, CHANGED)


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    return Vouch(tmp_path, minilm_folder.parent)


def test_no_command_of_another_user_changes_what_is_shared(vouch: Vouch, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    rules, ships = shelf / "rules.md", tmp_path / "ships.csv"
    rules.write_text("# Rules\n\nQuiet after ten.\n")
    ships.write_text("name,berth\nKittiwake,4\n")
    vouch.run("ingest", "--shared", str(shelf), "--user", "ann")
    vouch.run("kb", "add", "ships", str(ships), "--shared", "--user", "ann")
    rules.write_text("# Rules\n\nNoise is fine.\n")
    ships.write_text("name,berth\nKittiwake,9\n")
    refused = "was shared by ann"
    for code, *command in (
        (1, "ingest", "--shared", str(rules)),
        (1, "docs", "refresh", "rules.md"),
        (2, "docs", "remove", "--shared", "rules.md"),
        (2, "docs", "remove", "--shared", str(shelf)),
        (1, "kb", "add", "ships", str(ships), "--shared"),
        (2, "kb", "remove", "--shared", "ships"),
    ):
        assert refused in vouch.run(*map(str, command), "--user", "bob", code=int(code)).err, command
    for command in (("docs", "remove", "rules.md"), ("kb", "remove", "ships")):
        assert "is shared, and none of yours" in vouch.run(*command, "--user", "bob", code=1).err
    vouch.run("docs", "refresh", "--user", "bob")  # it is nothing of bob's
    assert "Quiet after ten." in vouch.run("docs", "show", "rules.md", "--user", "bob").out
    assert "4" in vouch.run("kb", "show", "ships", "--user", "bob").out
    vouch.run("docs", "remove", "--shared", "rules.md", "--user", "ann")
