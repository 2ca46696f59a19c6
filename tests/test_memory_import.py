"""An import takes in what a file tells as history: nothing half done, nothing shared or learned by it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select
from store_fixtures import Stores, assert_words_are_exact, document, findable
from test_claims import state

from stores.base.errors import WrongUsage
from stores.base.passages import SHARED, own_space
from stores.claims.claims import Claims
from stores.claims.proposals import Proposals
from stores.conversation.claim_jobs import ClaimJobs
from stores.database.tables import StatedClaim, Turn
from stores.exchange.memory_lines import KINDS, read_memory

LOCKER = "My locker number is 214."
WORLD = "The gate opens at nine."


def notes(*written: dict[str, str]) -> list[str]:
    return [json.dumps(each) for each in written]


def exported_by(stores: Stores, name: str) -> list[str]:
    """What a user exports who said something, of which a fact was learned."""
    user = stores.journal.user_id(name)
    state(stores, user, WORLD, about="world")
    stores.knowledge.remember(user, "a note")
    return stores.exported(user)


# Texts alone


def test_texts_alone_are_imported_and_importing_them_again_adds_nothing(stores: Stores, ann: int) -> None:
    lines = notes(
        {"text": "cat"}, {"text": "dog", "kind": "fact"}, {"text": "cat"}, {"title": "T", "text": "cat"}
    )
    before = findable(stores.database)
    imported = stores.import_lines(ann, lines)
    assert (imported.new, imported.known) == (3, 1)
    assert [(line.kind, line.title) for line in stores.catalogue.lines(ann)] == [
        ("note", "T"),
        ("fact", ""),
        ("note", ""),
    ]
    assert stores.import_lines(ann, lines).new == 0
    assert len(stores.knowledge.receipts(ann)) == 1
    stores.knowledge.undo(ann)
    assert findable(stores.database) == before
    assert stores.import_lines(ann, lines).new == 3  # what was taken back is not known


def test_lines_of_an_earlier_release_and_of_any_kind_are_texts_alone(stores: Stores, ann: int) -> None:
    old = {
        "schema": 1,
        "id": 7,
        "kind": "diary",
        "scope": "shared",
        "title": "",
        "text": "dear",
        "source": "x",
    }
    stores.import_lines(ann, [json.dumps(old), "", "  "])
    assert [(line.kind, line.scope) for line in stores.catalogue.lines(ann)] == [("note", "yours")]


def test_half_characters_and_zeros_become_signs_that_any_database_holds(stores: Stores, ann: int) -> None:
    stores.import_lines(ann, ['{"text": "a\\ud800b\\u0000c"}'])
    assert stores.own_texts(ann) == {"a?b\ufffdc"}


# Whose it is


def test_what_another_exported_becomes_ones_own_and_is_nobodys_statement(
    stores: Stores, ann: int, bob: int
) -> None:
    exported = exported_by(stores, "ann")
    imported = stores.import_lines(bob, exported)
    assert imported.new == 3  # message, fact and note
    assert {line.scope for line in stores.catalogue.lines(bob)} == {"yours"}
    assert stores.texts(SHARED) == {}
    assert ClaimJobs(stores.database).waiting(bob) == []  # nothing of it is read or weighed
    assert Claims(stores.database).undecided(bob, 99, limit=9) == []
    again = state(stores, ann, "The gate opens at  nine.", about="world")
    assert again.proposal_id is None  # one who stated it twice is no second user
    assert Proposals(stores.database).open() == []
    cy = stores.journal.user_id("cy")
    assert state(stores, cy, WORLD, about="world").proposal_id is not None


def test_shared_passages_stay_shared_only_where_that_is_asked(stores: Stores, ann: int, bob: int) -> None:
    stores.add(ann, document("rules.txt", WORLD))
    exported = stores.exported(ann, "all")
    stores.knowledge.undo(ann, stores.knowledge.receipts(ann)[0].id)
    stores.import_lines(bob, exported)
    assert (stores.texts(SHARED), stores.own_texts(bob)) == ({}, {WORLD})
    stores.knowledge.undo(bob)
    stores.import_lines(bob, exported, shared=True)
    assert (list(stores.texts(SHARED).values()), stores.own_texts(bob)) == ([WORLD], set())
    assert_words_are_exact(stores.database)


def test_a_passage_that_is_known_stays_as_it_is_here(stores: Stores, ann: int, bob: int) -> None:
    exported = exported_by(stores, "ann")
    stores.import_lines(bob, exported)
    [note] = [line for line in stores.catalogue.lines(bob) if line.kind == "note"]
    stores.knowledge.edit(bob, note.passage_id, "another note")
    assert stores.import_lines(bob, exported).new == 0
    assert "another note" in stores.own_texts(bob)
    assert stores.import_notes(bob, "another note").new == 0  # and so does one that says the same


def test_what_was_withdrawn_here_comes_back_by_an_earlier_export_once(stores: Stores, ann: int) -> None:
    exported = exported_by(stores, "ann")
    stores.knowledge.undo(ann)  # the note
    assert stores.import_lines(ann, exported).new == 1
    assert stores.import_lines(ann, exported).new == 0
    assert stores.own_texts(ann) == {WORLD, "a note"}
    ids = [json.loads(line).get("id") for line in stores.exported(ann)]
    assert len(ids) == len(set(ids))


def test_ones_own_export_changes_nothing_where_it_came_from(stores: Stores, ann: int) -> None:
    exported = exported_by(stores, "ann")
    assert stores.import_lines(ann, exported).new == 0
    assert stores.exported(ann) == exported


def test_what_was_forgotten_here_comes_back_by_a_file_that_still_has_it(stores: Stores, ann: int) -> None:
    from stores.forgetting.forgetting import Forgetting

    exported = exported_by(stores, "ann")
    Forgetting(stores.database).forget(ann, stores.catalogue.own_passages(ann))
    assert stores.import_lines(ann, exported).new == 3
    assert stores.own_texts(ann) == {WORLD, "a note"}


def test_a_document_of_the_same_name_stays_as_it_is(stores: Stores, ann: int, bob: int) -> None:
    stores.add(ann, document("a.txt", "cat"), space=own_space(ann))
    stores.add(bob, document("a.txt", "dog"), space=own_space(bob))
    stores.import_lines(bob, stores.exported(ann))
    assert {line.text: line.source for line in stores.catalogue.lines(bob)} == {
        "dog": "a.txt",
        "cat": "a.txt (imported)",
    }


def test_documents_of_one_name_in_both_memories_stay_two(stores: Stores, ann: int, bob: int) -> None:
    stores.add(ann, document("a.txt", "cat"), space=own_space(ann))
    stores.add(ann, document("a.txt", "dog"), space=SHARED)
    stores.import_lines(bob, stores.exported(ann, scope="all"))
    own = [line for line in stores.catalogue.lines(bob) if line.scope == "yours"]
    assert {line.source for line in own} == {"a.txt", "a.txt (imported)"}


# What goes with it


def test_imported_turns_are_told_of_a_passage_and_are_no_conversation(
    stores: Stores, ann: int, bob: int
) -> None:
    stores.import_lines(bob, exported_by(stores, "ann"))
    [fact] = stores.catalogue.lines(bob, kind="fact")
    history = stores.catalogue.history(bob, fact.passage_id)
    assert history.turn is not None
    assert (history.turn.message, history.turn.state, history.session_title) == (WORLD, "imported", WORLD)
    assert history.imported_at is not None
    assert stores.journal.sessions(bob) == []
    assert stores.journal.last_session(bob) is None


def test_the_words_of_an_imported_fact_are_settled_in_its_imported_message(
    stores: Stores, ann: int, bob: int
) -> None:
    stores.import_lines(bob, exported_by(stores, "ann"))
    [message] = stores.catalogue.lines(bob, kind="message")
    [version] = [v.id for v in stores.catalogue.history(bob, message.passage_id).versions]
    assert Claims(stores.database).settled_words(bob, [version or 0]) == {version: [WORLD]}


def test_forgetting_an_imported_fact_forgets_the_message_and_the_session_title(
    stores: Stores, ann: int, bob: int
) -> None:
    from stores.forgetting.forgetting import Forgetting

    exported = exported_by(stores, "ann")
    stores.import_lines(bob, exported)
    [fact] = stores.catalogue.lines(bob, kind="fact")
    gone = Forgetting(stores.database).forget(bob, [fact.passage_id])
    assert [line.kind for line in gone.with_them] == ["message"]
    assert WORLD not in "".join(stores.exported(bob))
    with stores.database.reading() as sql:
        assert WORLD not in sql.scalars(select(Turn.message).where(Turn.user_id == bob)).all()  # type: ignore[call-overload]
    assert stores.exported(ann) == exported


def test_an_undone_import_withdraws_its_claims(stores: Stores, ann: int, bob: int) -> None:
    stores.import_lines(bob, exported_by(stores, "ann"))
    stores.knowledge.undo(bob)
    with stores.database.reading() as sql:
        states = {claim.user_id: claim.state for claim in sql.scalars(select(StatedClaim))}
    assert states == {ann: "stored", bob: "withdrawn"}


# Lines that are wrong

ID = "0" * 32
MOMENT = "2026-11-21T09:30:00+00:00"
VERSION: dict[str, Any] = {
    "number": 1,
    "title": "",
    "text": "cat",
    "author": "user",
    "created_at": MOMENT,
    "position": 0,
}
PASSAGE: dict[str, Any] = {
    "schema": 2,
    "record": "passage",
    "id": ID,
    "kind": "note",
    "scope": "yours",
    "title": "",
    "text": "cat",
    "external_id": "",
    "created_at": MOMENT,
    "versions": [VERSION],
    "claims": [],
}


def versions(*changes: dict[str, Any]) -> str:
    return json.dumps(PASSAGE | {"versions": [VERSION | change for change in changes]})


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "this is no JSON: .* at character 2"),
        ("[1]", "a line must be one JSON object"),
        ("[" * 100_000, "too deep|no JSON"),
        ('{"schema": 4, "record": "passage"}', "schema 4 is of a later release; this one reads up to 3"),
        ('{"schema": 2, "record": "diary"}', 'record is "diary", but must be one of session'),
        ('{"schema": 2, "text": "cat"}', "record is missing; it must be one of session"),
        ('{"txt": "not"}', "text is missing; it must be text that is not empty"),
        ('{"text": "  "}', 'text is "  ", but must be text that is not empty'),
        ('{"text": "cat", "title": 7}', "title is 7, but must be text"),
        ('{"text": "cat", "x": NaN}', "NaN is no number"),
        (json.dumps(PASSAGE | {"id": "7"}), 'id is "7", but must be 32 hexadecimal digits'),
        (json.dumps(PASSAGE | {"kind": "diary"}), f"kind is .* one of {', '.join(KINDS)}"),
        (json.dumps(PASSAGE | {"scope": "bob"}), "scope is .* one of shared, yours"),
        (json.dumps(PASSAGE | {"text": "dog"}), "its title and text must be those of version 1"),
        (json.dumps(PASSAGE | {"versions": {}}), "versions is {}, but must be a list of objects"),
        (json.dumps(PASSAGE | {"versions": []}), "must have a version that is not forgotten"),
        (json.dumps(PASSAGE | {"turn": ID}), f"it names turn {ID}, which is not in the file"),
        (versions({"number": True}), "versions: number is true, but must be a whole number from 1"),
        (versions({"number": 2**40}), "number is .* a whole number from 1"),
        (versions({"created_at": "yesterday"}), "versions: created_at .* a time with its zone"),
        (versions({"created_at": "2026-11-21T09:30:00"}), "a time with its zone"),
        (versions({"created_at": "0001-01-01T00:00:00+23:00"}), "a time with its zone"),
        (versions({"created_at": "0001-01-01T00:00:00+00:00"}), "a time with its zone"),
        (versions({"created_at": "9999-12-31T23:00:00+00:00"}), "a time with its zone"),
        (versions({}, {}), "in the order of their numbers"),
        (versions({}, {"number": 2}), "only one version of a passage may be without removed_at"),
        (versions({"removed_by": ID}), "version 1 has removed_by, but no removed_at"),
        (versions({"added_by": ID}), f"it names receipt {ID}, which is not in the file"),
        (versions({"document": "a.txt"}), "it names document a.txt, which is not in the file"),
        (versions({"session": ID}), f"it names session {ID}"),
        (
            versions({"removed_at": MOMENT, "forgotten_at": MOMENT}, {"number": 2}),
            "version 1 is forgotten, but has a text or is live",
        ),
    ],
)
def test_a_wrong_line_is_told_with_file_and_number(line: str, told: str) -> None:
    with pytest.raises(WrongUsage, match=rf"(?s)^mine\.jsonl line 3: .*{told}") as refused:
        read_memory(['{"text": "fine"}', "", line, '{"text": "fine"}'], "mine.jsonl")
    assert refused.value.exit_code == 2
    assert refused.value.hint == "Nothing was imported."
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_what_no_database_holds_as_a_number_is_refused(number: str) -> None:
    receipt = json.dumps(
        {
            "schema": 2,
            "record": "receipt",
            "id": ID,
            "scope": "yours",
            "action": "add",
            "summary": "",
            "grounds": {"confidence": "NUMBER"},
            "turn": None,
            "created_at": MOMENT,
            "undone_at": None,
        }
    ).replace('"NUMBER"', number)
    with pytest.raises(WrongUsage, match=r"f line 1: grounds .* finite numbers"):
        read_memory([receipt], "f")


def test_the_same_line_twice_is_one_and_two_of_the_same_id_are_refused() -> None:
    line = json.dumps(PASSAGE)
    assert len(read_memory([line, line], "f").passages) == 1
    other = json.dumps(PASSAGE | {"text": "dog", "versions": [VERSION | {"text": "dog"}]})
    with pytest.raises(WrongUsage, match="f line 2: the same id stands in the file before"):
        read_memory([line, other], "f")


def test_numbers_of_another_database_in_grounds_name_nothing_here(stores: Stores, ann: int, bob: int) -> None:
    stores.knowledge.remember(ann, "passage and version 1, of ann")
    claim = {
        "text": "cat",
        "quote": "cat",
        "kind": "fact",
        "about": "world",
        "hearsay": False,
        "origin": "taught",
        "number": 1,
        "state": "stored",
        "status": "correct",
        "confidence": 1.0,
        "scope": "yours",
        "action": "add",
        "created_at": MOMENT,
        "grounds": {"decided_by": 1, "evidence": [{"version": 1, "passage": 1}], "shared_up_to": 0},
    }
    stores.import_lines(bob, [json.dumps(PASSAGE | {"claims": [claim]})])
    with stores.database.reading() as sql:
        [kept] = sql.scalars(select(StatedClaim)).all()
    assert kept.grounds == {"decided_by": None, "evidence": [{"version": None, "passage": None}]}


def test_an_import_that_fails_half_way_leaves_nothing(
    stores: Stores, ann: int, bob: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported = exported_by(stores, "ann")
    before = findable(stores.database)
    monkeypatch.setattr("stores.exchange.memory_import.inward", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        stores.import_lines(bob, exported)
    assert findable(stores.database) == before
    assert stores.knowledge.receipts(bob) == []


def test_a_version_that_was_forgotten_stays_so(stores: Stores, ann: int, bob: int) -> None:
    forgotten = VERSION | {"text": "", "removed_at": MOMENT, "forgotten_at": MOMENT}
    line = json.dumps(PASSAGE | {"versions": [forgotten, VERSION | {"number": 2}]})
    stores.import_lines(ann, [line])
    [passage] = stores.catalogue.lines(ann)
    assert [v.erased_at is None for v in stores.catalogue.history(ann, passage.passage_id).versions] == [
        False,
        True,
    ]
    told = json.loads(stores.exported(ann)[-1])
    assert [v["number"] for v in told["versions"]] == [1, 2]
