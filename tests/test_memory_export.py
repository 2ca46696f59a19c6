"""An exported memory taken in elsewhere and exported again is the same, byte for byte."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from store_fixtures import Stores, assert_words_are_exact, document, fake_encode, fresh_database, state_hash
from test_claims import state

import stores.database.database as stores_database
from stores.base.errors import VouchError
from stores.base.passages import SHARED, own_space
from stores.base.statement_links import NewLink
from stores.claims.decisions import Decision
from stores.database.database import Database
from stores.database.tables import Receipt, StatedClaim
from stores.forgetting.forgetting import Forgetting
from stores.memory.statement_links import StatementLinks

LOCKER = "My locker number is 214."
GROUNDS: dict[str, Any] = {
    "evidence": [{"version": 1, "passage": 1, "similarity": 0.6123, "supports": 0.0312, "refutes": 0.11}],
    "decided_by": 1,
    "prior": "",
    "mode": "knowledge",
    "shared_up_to": 1,
    "discriminator": "reader 1a2b",
    "nearest": [{"version": 2, "similarity": 0.5}],
}


@contextmanager
def another(request: pytest.FixtureRequest, kind: str) -> Iterator[Stores]:
    """The stores over an empty database of a kind."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            stores = Stores.over(fresh_database(Path(folder)))
            yield stores
            stores.database.close()
        return
    server = request.getfixturevalue("postgres")
    url = server.new_database(template="vouch_empty")
    database = Database(url)
    yield Stores.over(database)
    database.close()
    server.drop(url)


@pytest.fixture
def elsewhere(request: pytest.FixtureRequest, database: Database) -> Iterator[Stores]:
    """Another database, of the other kind."""
    with another(request, "sqlite" if database.is_postgresql else "postgresql") as stores:
        yield stores


def of(lines: list[str], record: str) -> list[dict[str, Any]]:
    return [told for told in map(json.loads, lines) if told["record"] == record]


def a_whole_memory(stores: Stores, user: int) -> None:
    """Shared and own documents that changed, a note that was edited and undone, a fact that was corrected."""
    stores.add(user, document("rules.txt", "The gate opens at nine.", "No dogs.", title="Rules"))
    stores.add(user, document("rules.txt", "The gate opens at ten.", "No dogs.", title="Rules"))
    note, _ = stores.knowledge.remember(user, "ünï 東京 “quoted”\\n\n\u2028 line")
    stores.knowledge.edit(user, note, "edited")
    stores.knowledge.undo(user)
    stores.add(user, document("own.md", "mine", "mine too"), space=own_space(user))
    first = state(
        stores,
        user,
        LOCKER,
        Decision(status="unknown", confidence=0.1 + 0.2, scope="yours", action="add", grounds=GROUNDS),
    )
    assert first.passage_id is not None
    changed = Decision(
        status="unknown",
        confidence=1 / 3,
        scope="yours",
        action="add",
        text="My locker number is 310.",
        links=[NewLink(first.passage_id, False, "replaces", 0.9, "test")],
    )
    newer = state(stores, user, "It is 310 now.", changed)
    StatementLinks(stores.database).keep_both(user, newer.passage_id or 0)
    known = Decision(
        status="unknown", confidence=0.9, scope="yours", action="nothing", passage_id=first.passage_id
    )
    state(stores, user, "My locker is still 310.", known)
    aside, _ = stores.knowledge.remember(user, "set aside")
    stores.knowledge.set_aside(user, [aside])


@pytest.mark.parametrize("scope", ["yours", "shared", "all"])
def test_a_memory_goes_from_one_database_to_the_other_kind_and_back_bit_for_bit(
    stores: Stores, elsewhere: Stores, ann: int, scope: Any
) -> None:
    a_whole_memory(stores, ann)
    exported = stores.exported(ann, scope)
    bob = elsewhere.journal.user_id("bob")
    passages = len(of(exported, "passage"))
    imported = elsewhere.import_lines(bob, exported, shared=True)
    assert (imported.new, imported.known) == (passages, 0)
    assert elsewhere.exported(bob, scope) == exported
    assert_words_are_exact(elsewhere.database)
    again = elsewhere.import_lines(bob, exported, shared=True)
    assert (again.new, again.known, again.receipt_id) == (0, passages, None)
    assert elsewhere.exported(bob, scope) == exported


def test_what_is_imported_is_searched_and_what_was_withdrawn_is_not(
    stores: Stores, elsewhere: Stores, ann: int
) -> None:
    a_whole_memory(stores, ann)
    bob = elsewhere.journal.user_id("bob")
    elsewhere.import_lines(bob, stores.exported(ann, "all"), shared=True)
    elsewhere.indexer().catch_up()
    space = elsewhere.spaces().of(bob)

    def found(query: str) -> set[str]:
        return {p.text for p in space.found(query, fake_encode([query])[0], 50).passages.values()}

    assert {"My locker number is 310.", "The gate opens at ten.", "No dogs."} <= found("locker gate dogs")
    assert not {"set aside", "edited", "The gate opens at nine."} & found("set aside edited gate nine")


def test_imported_writes_can_be_undone_one_by_one_and_the_import_as_a_whole(
    stores: Stores, elsewhere: Stores, ann: int
) -> None:
    a_whole_memory(stores, ann)
    bob = elsewhere.journal.user_id("bob")
    empty = state_hash(elsewhere.database)
    exported = stores.exported(ann)
    receipt_id = elsewhere.import_lines(bob, exported).receipt_id
    [kept] = [r for r in elsewhere.knowledge.receipts(bob) if "both hold" in r.summary]
    elsewhere.knowledge.undo(bob, kept.id)
    lines = {line.text: line.passage_id for line in elsewhere.catalogue.lines(bob, memories_only=True)}
    [link] = [one for one in StatementLinks(elsewhere.database).of(bob, lines[LOCKER]) if one.counts]
    assert (link.passage.text, link.is_newer) == ("My locker number is 310.", True)
    elsewhere.knowledge.undo(bob, receipt_id)
    assert state_hash(elsewhere.database) == empty
    assert elsewhere.knowledge.receipts(bob) == []
    assert elsewhere.exported(bob) == []
    assert elsewhere.import_lines(bob, exported).known == 0  # what was undone is not known
    assert elsewhere.exported(bob) == exported
    assert_words_are_exact(elsewhere.database)


def test_an_import_that_was_changed_since_is_undone_after_the_change(stores: Stores, ann: int) -> None:
    stores.knowledge.remember(ann, "a note")
    bob = stores.journal.user_id("bob")
    receipt_id = stores.import_lines(bob, stores.exported(ann)).receipt_id
    [line] = stores.catalogue.lines(bob)
    edited = stores.knowledge.edit(bob, line.passage_id, "another")
    with pytest.raises(VouchError, match=f"changed since by receipt {edited}"):
        stores.knowledge.undo(bob, receipt_id)
    stores.knowledge.undo(bob, edited)
    stores.knowledge.undo(bob, receipt_id)
    assert stores.own_texts(bob) == set()
    assert stores.own_texts(ann) == {"a note"}


def test_a_document_that_was_imported_is_known_to_the_next_ingest(
    stores: Stores, elsewhere: Stores, ann: int
) -> None:
    page = document("own.md", "mine", "mine too")
    stores.add(ann, page, space=own_space(ann))
    bob = elsewhere.journal.user_id("bob")
    elsewhere.import_lines(bob, stores.exported(ann))
    assert list(elsewhere.stored_documents.plan(own_space(bob), [page]).same) == ["own.md"]
    elsewhere.add(bob, document("own.md", "mine", "changed"), space=own_space(bob))
    assert elsewhere.own_texts(bob) == {"mine", "changed"}


def test_grounds_name_a_passage_here_where_it_is_and_elsewhere_as_it_was_named(
    stores: Stores, elsewhere: Stores, ann: int
) -> None:
    stores.add(ann, document("rules.txt", "The gate opens at nine."))
    decision = Decision(status="unknown", confidence=1, scope="yours", action="add", grounds=GROUNDS)
    state(stores, ann, LOCKER, decision)
    [gate] = of(stores.exported(ann, "shared"), "passage")
    [told] = [p["claims"][0]["grounds"] for p in of(stores.exported(ann), "passage") if p["claims"]]
    assert told["decided_by"] == told["evidence"][0]["version"] == f"{gate['id']}/1"
    assert told["evidence"][0]["passage"] == gate["id"]
    assert told["evidence"][0]["similarity"] == 0.6123
    assert "shared_up_to" not in told

    bob = elsewhere.journal.user_id("bob")
    elsewhere.knowledge.remember(bob, "this is passage and version 1 there")
    elsewhere.import_lines(bob, stores.exported(ann, "all"), shared=True)
    with elsewhere.database.reading() as sql:
        [claim] = sql.query(StatedClaim).all()
    [here] = elsewhere.texts(SHARED)
    assert claim.grounds["decided_by"] == here != 1


def test_grounds_name_a_passage_that_is_not_here_as_the_file_did(
    stores: Stores, elsewhere: Stores, ann: int
) -> None:
    stores.add(ann, document("rules.txt", "The gate opens at nine."))
    decision = Decision(status="unknown", confidence=1, scope="yours", action="add", grounds=GROUNDS)
    state(stores, ann, LOCKER, decision)
    [gate] = of(stores.exported(ann, "shared"), "passage")
    bob = elsewhere.journal.user_id("bob")
    elsewhere.import_lines(bob, stores.exported(ann))  # without the shared passage
    with elsewhere.database.reading() as sql:
        [claim] = sql.query(StatedClaim).all()
    assert claim.grounds["decided_by"] == f"{gate['id']}/1"


def test_nothing_of_what_another_said_is_in_an_export_of_the_shared_memory(
    stores: Stores, ann: int, bob: int
) -> None:
    decision = Decision(status="correct", confidence=1, scope="shared", action="add", grounds=GROUNDS)
    state(stores, ann, "The gate opens at nine.", decision, quote="xylophone, the gate opens at nine")
    told = stores.exported(bob, "all")
    assert [p["text"] for p in of(told, "passage")] == ["The gate opens at nine."]
    assert of(told, "turn") == of(told, "session") == []
    assert [(r["summary"], r["grounds"], r["turn"]) for r in of(told, "receipt")] == [("", {}, None)]
    assert "xylophone" not in "".join(told)
    assert "xylophone" in "".join(stores.exported(ann, "all"))


def test_words_of_a_private_session_are_in_no_export(stores: Stores, ann: int) -> None:
    session = stores.journal.open_session(ann, title="", is_private=True)
    turn = stores.journal.accept(ann, session, "xylophone", parts=["xylophone"]).turn_id
    stores.knowledge.remember(ann, "taught", kind="correction", turn_id=turn)
    told = stores.exported(ann)
    assert [p["text"] for p in of(told, "passage")] == ["taught"]
    assert "xylophone" not in "".join(told)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_an_earlier_release_kept_gets_ids_of_its_own(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("postgres").new_database()
    engine = stores_database._engine(url)
    stores_database._migrate(engine, "0004")
    with engine.execution_options(vouch_writes=True, vouch_migrates=True).begin() as sql:
        sql.execute(text("INSERT INTO users VALUES (1, 'ann', CURRENT_TIMESTAMP)"))
        for number in (1, 2):
            sql.execute(
                text(
                    "INSERT INTO passages(id, space, kind, external_id, created_at) "
                    "VALUES (:id, 'user:1', 'note', '', CURRENT_TIMESTAMP)"
                ),
                {"id": number},
            )
            sql.execute(
                text(
                    "INSERT INTO passage_versions(passage_id, position, space, number, title, text, "
                    "text_hash, author, created_at) VALUES (:id, 0, 'user:1', 1, '', :text, '', 'user', "
                    "CURRENT_TIMESTAMP)"
                ),
                {"id": number, "text": f"note {number}"},
            )
    engine.dispose()
    stores = Stores.over(Database(url, migrates=True))
    told = of(stores.exported(1), "passage")
    assert [passage["text"] for passage in told] == ["note 1", "note 2"]
    assert len({passage["id"] for passage in told}) == 2
    assert all(re.fullmatch("[0-9a-f]{32}", passage["id"]) for passage in told)
    stores.database.close()


# Any memory

TEXTS = st.text(st.characters(), min_size=1, max_size=12)
WHICH = st.integers(0, 20)
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("remember"), TEXTS),
        st.tuples(st.just("edit"), WHICH, TEXTS),
        st.tuples(st.just("undo"), WHICH),
        st.tuples(st.just("set aside"), WHICH),
        st.tuples(st.just("forget"), WHICH),
        st.tuples(st.just("say"), st.lists(TEXTS, min_size=1, max_size=2)),
        st.tuples(st.just("learn"), TEXTS, st.sampled_from(["yours", "shared"])),
        st.tuples(
            st.just("read"), st.sampled_from("ab"), st.lists(TEXTS, min_size=1, max_size=2), st.booleans()
        ),
    ),
    min_size=1,
    max_size=9,
)


def do(stores: Stores, user: int, action: tuple[Any, ...]) -> None:
    """One thing that changes a memory; some cannot be done as things stand."""
    kind, first, *rest = action
    knowledge = stores.knowledge
    mine = stores.catalogue.own_passages(user)
    if kind == "remember":
        knowledge.remember(user, first)
    elif kind == "say":
        stores.say(user, *first)
    elif kind == "read":
        space = SHARED if rest[1] else own_space(user)
        texts = [text.encode("utf-8", "replace").decode() for text in rest[0]]
        stores.add(user, document(first, *texts, title="T"), space=space)
    elif kind == "learn":
        decision = Decision(
            status="unknown", confidence=0.3, scope=rest[0], action="add", grounds={**GROUNDS, "prior": first}
        )
        state(stores, user, first, decision, about="world")
    elif kind == "undo":
        receipts = knowledge.receipts(user)
        if receipts:
            knowledge.undo(user, receipts[first % len(receipts)].id)
    elif mine and kind == "edit":
        knowledge.edit(user, mine[first % len(mine)], rest[0])
    elif mine and kind == "set aside":
        knowledge.set_aside(user, [mine[first % len(mine)]])
    elif mine and kind == "forget":
        Forgetting(stores.database).forget(user, [mine[first % len(mine)]])


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_any_memory_comes_back_bit_for_bit(request: pytest.FixtureRequest, kind: str) -> None:
    @given(actions=ACTIONS, scope=st.sampled_from(["yours", "shared", "all"]))
    @example(actions=[("learn", "a\0b", "yours")], scope="yours")  # a model's words hold anything
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def holds(actions: list[tuple[Any, ...]], scope: Any) -> None:
        with another(request, kind) as here, another(request, kind) as there:
            ann, bob = here.journal.user_id("ann"), there.journal.user_id("bob")
            for action in actions:
                with suppress(VouchError):
                    do(here, ann, action)
            exported = here.exported(ann, scope)
            there.import_lines(bob, exported, shared=True)
            assert there.exported(bob, scope) == exported
            assert_words_are_exact(there.database)
            with there.database.reading() as sql:
                undone = [r for r in sql.query(Receipt) if r.undone_at is not None]
            assert not {r.id for r in undone} & {r.id for r in there.knowledge.receipts(bob, limit=99)}

    holds()


@given(words=st.text(st.characters(codec="utf-8"), max_size=20))
@settings(max_examples=25, deadline=None)
def test_forgotten_text_is_in_no_export(words: str) -> None:
    canary = f"Zq7canary {words}"
    with tempfile.TemporaryDirectory() as folder:
        stores = Stores.over(fresh_database(Path(folder)))
        ann = stores.journal.user_id("ann")
        note, _ = stores.knowledge.remember(ann, canary)
        stores.knowledge.edit(ann, note, f"{canary} and more")
        state(stores, ann, f"I said {canary}")
        kept, _ = stores.knowledge.remember(ann, "another")
        named = [passage for passage in stores.catalogue.own_passages(ann) if passage != kept]
        Forgetting(stores.database).forget(ann, named)
        exported = stores.exported(ann, "all")
        assert "Zq7canary" not in "".join(exported)
        assert [p["text"] for p in of(exported, "passage")] == ["another"]
        stores.database.close()
