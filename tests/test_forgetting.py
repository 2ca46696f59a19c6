"""Forgetting for good: the words stand in no row and no file any more, and everything else stays."""

from __future__ import annotations

import json
import secrets
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text, update
from sqlmodel import SQLModel, col
from store_fixtures import (
    DIMENSION,
    ENCODER,
    Stores,
    assert_words_are_exact,
    document,
    fake_encode,
    findable,
    passages_by_text,
    state_hash,
)
from test_claims import UNKNOWN, new, state, taken, tell

from stores.base.clock import now
from stores.base.errors import CannotUndo, NotFound, StoreUnavailable
from stores.base.statement_links import NewLink
from stores.checks.texts import changed_texts
from stores.claims.claims import Claims, NewClaim
from stores.claims.decisions import Decision, Learned
from stores.claims.proposals import Proposals
from stores.conversation.claim_jobs import TAKEN_BY, ClaimJobs
from stores.conversation.erased_turns import blank_if_forgotten
from stores.conversation.journal import FoundPassage, Outcome
from stores.database.database import Database
from stores.database.tables import (
    Document,
    Feedback,
    Job,
    Receipt,
    Retrieval,
    Round,
    Session,
    StatedClaim,
    StatementLink,
    Turn,
)
from stores.forgetting.forgetting import Forgetting, Forgotten
from stores.search.shared_index import shared_vectors
from stores.vectors.chroma_index import ChromaVectors
from stores.vectors.faiss_index import FaissVectors
from stores.words.word_overlap import FORGOTTEN

ROOT = Path(__file__).parent.parent
SHARE = Decision(status="correct", confidence=0.9, scope="shared", action="add")


def forget(stores: Stores, user: int, *passages: int) -> Forgotten:
    """Forgets and leaves no byte."""
    forgetting = Forgetting(stores.database)
    forgotten = forgetting.forget(user, passages)
    forgetting.compact()
    return forgotten


def answered(
    stores: Stores, user: int, message: str, *, session: int | None = None, used: int = 0, **outcome: Any
) -> int:
    """A turn that has ended. used: a version that its model saw."""
    session = session or stores.journal.open_session(user, is_private=True)
    turn = stores.journal.accept(user, session, message, parts=[message]).turn_id
    found = FoundPassage(
        version_id=used, found_rank=1, dense=0, lexical=0, lift=0, score=0, final_rank=1, citation=1
    )
    given = {"answer": "Yes.", "query": message, "standalone": message} | outcome
    stores.journal.finish(turn, Outcome(state="done", found=[found] if used else [], **given))
    return turn


def rows(stores: Stores, table: type[SQLModel]) -> list[Any]:
    from sqlalchemy import select

    with stores.database.reading() as sql:
        return list(sql.scalars(select(table).order_by(table.__table__.c.id)))  # type: ignore[attr-defined]


def turn_of(stores: Stores, turn: int) -> Turn:
    return next(row for row in rows(stores, Turn) if row.id == turn)


def fact_of(stores: Stores, learned: Learned) -> int:
    assert learned.passage_id is not None
    return learned.passage_id


def version_of(stores: Stores, passage: int) -> int:
    return next(r["version"] for r in findable(stores.database)["texts"] if r["passage"] == passage)


# Bytes


def forms(canary: str) -> set[bytes]:
    """How a text may lie in a file, in lower case; its beginning, since words lose their endings."""
    begins = canary.lower()[:12]
    return {begins.encode(), begins.encode("utf-16-le"), begins.encode("utf-16-be")}


def files_holding(folder: Path, canary: str) -> list[str]:
    found = []
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            content = file.read_bytes().lower()
            found += [str(file.relative_to(folder)) for form in forms(canary) if form in content]
    return found


def tables_holding(database: Database, canary: str) -> list[str]:
    """Every table of the database, row by row, as text; on a server the statistics made of them, too."""
    from sqlalchemy import inspect

    found = []
    with database.reading() as sql:
        names = inspect(sql.connection()).get_table_names()
        if database.is_postgresql:
            names = [*names, "pg_stats"]
        for name in names:
            for row in sql.execute(text(f"SELECT * FROM {name}")):
                if any(form in repr(tuple(row)).lower().encode() for form in forms(canary)):
                    found.append(name)
    return found


def places_holding(stores: Stores, canary: str) -> list[str]:
    """The tables; the files of the data directory, or of the server but for its log of changes (pg_wal)."""
    database = stores.database
    found = tables_holding(database, canary)
    if not database.is_postgresql:
        assert database.file is not None
        return found + files_holding(database.file.parent, canary)
    with database.reading() as sql:
        folder = Path(sql.execute(text("SHOW data_directory")).scalar_one())
    with database.writing() as sql:
        sql.execute(text("CHECKPOINT"))
    return found + [name for name in files_holding(folder, canary) if not name.startswith("pg_wal")]


def live_with(stores: Stores, user: int, canary: str) -> list[int]:
    """Has a canary put wherever a user's words come to lie; returns the passages to be named."""
    learned = state(stores, user, f"My locker is {canary}.")
    fact = fact_of(stores, learned)
    session = turn_of(stores, learned.turn_id or 0).session_id
    answered(
        stores,
        user,
        "And where is it?",
        session=session,
        used=version_of(stores, fact),
        answer=f"{canary} is in the hall.",
        standalone=f"Where is {canary}?",
        query=f"Where is {canary}?",
        details={"left_out": [{"title": canary, "tokens": 3}], "milliseconds": {"respond": 1.5}},
    )
    later = answered(stores, user, f"You know:  my locker\nis {canary.upper()}, or not?", failure="too long")
    stores.journal.rate(user, later, "bad", reason=f"it said My locker is {canary}")
    note = {"title": f"Title {canary}", "text": f"a note of {canary}"}
    stores.import_lines(user, [json.dumps(note)])
    note = passages_by_text(stores)[f"a note of {canary}"]
    taught, _ = stores.knowledge.remember(user, f"{canary} it was", kind="correction", turn_id=later)
    stores.journal.rate(user, later, "taught", correction=f"{canary} it was")
    aside, _ = stores.knowledge.remember(user, f"long ago {canary} " + "and on " * 40)
    stores.knowledge.set_aside(user, [aside])
    stores.add(user, document(f"{canary} on one page", f"{canary} on one page", "another page"))
    page = passages_by_text(stores)[f"{canary} on one page"]
    stores.say(user, "nothing", "of it")
    with stores.database.writing() as sql:
        sql.execute(update(Session).values(draft=f"do you know that my locker is {canary}"))
    stores.indexer().catch_up()
    return [fact, note, taught, aside, page]


def test_forgetting_leaves_no_byte_of_a_canary(stores: Stores, ann: int) -> None:
    canary = f"Zq{secrets.token_hex(12)}"
    named = live_with(stores, ann, canary)
    if stores.database.is_postgresql:
        with stores.database.writing() as sql:
            sql.execute(text("ANALYZE"))  # as the server does by itself: values go into its statistics
        assert "pg_stats" in tables_holding(stores.database, canary)
    assert len(set(places_holding(stores, canary))) > 5
    forgotten = forget(stores, ann, *named)
    assert places_holding(stores, canary) == []
    assert len(forgotten.lines) == 5
    assert forgotten.still_in == ()
    assert_words_are_exact(stores.database)
    assert changed_texts(stores.database) == []  # `vouch doctor` finds nothing wrong with what is blank
    assert stores.database.rows_without_parents() == {}
    left = {line.text for line in stores.catalogue.lines(ann)}
    assert left == {"And where is it?", "another page", "nothing", "of it"}


def test_forgetting_everything_of_a_user_leaves_no_byte_of_it(stores: Stores, ann: int, bob: int) -> None:
    canary, his = f"Zq{secrets.token_hex(12)}", f"Zq{secrets.token_hex(12)}"
    *_, page = live_with(stores, ann, canary)
    live_with(stores, bob, his)
    stores.add(ann, document(f"/home/{canary}.txt", f"{canary}", title=canary), space=f"user:{ann}")
    answered(stores, ann, f"In no passage: {canary}")
    before = state_hash(stores.database, bob)
    with stores.database.reading() as sql:
        bobs = sql.execute(text(f"SELECT message, answer FROM turns WHERE user_id = {bob}")).all()
    forgetting = Forgetting(stores.database)
    forgetting.forget_everything(ann)
    assert stores.catalogue.lines(ann, scope="yours") == []
    assert state_hash(stores.database, bob) == before  # what ann shared stays, and is named when it is meant
    forgetting.forget(ann, [page])
    forgetting.compact()
    assert places_holding(stores, canary) == []
    with stores.database.reading() as sql:
        assert sql.execute(text(f"SELECT message, answer FROM turns WHERE user_id = {bob}")).all() == bobs
    assert tables_holding(stores.database, his)
    assert_words_are_exact(stores.database)


def test_bytes_that_earlier_changes_left_behind_go_too(tmp_path: Path) -> None:
    stores, canary = Stores.fresh(tmp_path), f"Zq{secrets.token_hex(12)}"
    ann = stores.journal.user_id("ann")
    note, _ = stores.knowledge.remember(ann, f"My locker is {canary}.")
    stores.journal.open_session(ann)
    with closing(sqlite3.connect(tmp_path / "vouch.db")) as connection:
        connection.execute("PRAGMA secure_delete=OFF")
        for draft in (f"{canary} " * 2_000, ""):  # a draft that was typed and sent
            connection.execute("UPDATE sessions SET draft = ?", [draft])
            connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    forget(stores, ann, note)
    assert places_holding(stores, canary) == []
    stores.database.close()


@pytest.mark.parametrize("kind", ["chroma", "flat", "inverted"])
def test_index_files_hold_no_text_and_lose_what_is_forgotten(tmp_path: Path, kind: str) -> None:
    stores, canary = Stores.fresh(tmp_path), f"Zq{secrets.token_hex(12)}"
    ann = stores.journal.user_id("ann")
    index: ChromaVectors | FaissVectors
    if kind == "chroma":
        index = ChromaVectors(tmp_path / "chroma", ENCODER, writes=True)
    else:
        index = FaissVectors(
            tmp_path / "faiss",
            ENCODER,
            DIMENSION,
            writes=True,
            all_vectors=lambda: shared_vectors(stores.database, ENCODER, DIMENSION),
            exact_up_to=0 if kind == "inverted" else 1_000,
        )
    stores.add(ann, document("a.txt", f"page of {canary}", *(f"page {n}" for n in range(50))))
    stores.indexer(index).catch_up()
    version = next(i for i, written in stores.texts().items() if canary in written)
    assert version in index.version_ids()
    assert not files_holding(tmp_path / index.folder.relative_to(tmp_path).parts[0], canary)
    forgotten = forget(stores, ann, passages_by_text(stores)[f"page of {canary}"])
    stores.indexer(index).catch_up()
    stores.indexer(index).catch_up()
    assert version not in index.version_ids()
    assert len(index.version_ids()) == 50
    assert forgotten.indexes == ("tests",)
    assert files_holding(tmp_path, canary) == []
    index.close()
    stores.database.close()


def test_a_rebuilt_faiss_index_holds_no_byte_of_a_forgotten_vector(tmp_path: Path) -> None:
    stores = Stores.fresh(tmp_path)
    ann = stores.journal.user_id("ann")
    index = FaissVectors(
        tmp_path / "faiss",
        ENCODER,
        DIMENSION,
        writes=True,
        all_vectors=lambda: shared_vectors(stores.database, ENCODER, DIMENSION),
    )
    stores.add(ann, document("a.txt", "cat", "dog"))
    stores.indexer(index).catch_up()
    vector = fake_encode(["cat"])[0].tobytes()

    def holding() -> list[str]:
        return [f.name for f in (tmp_path / "faiss").rglob("*") if f.is_file() and vector in f.read_bytes()]

    forget(stores, ann, passages_by_text(stores)["cat"])
    stores.indexer(index).catch_up()
    assert holding() == ["changes.log"]  # of the change that added it: told as `Forgotten.indexes`
    index.rebuild()
    assert holding() == []
    index.close()
    stores.database.close()


# Compacting


def test_compacting_waits_for_who_still_reads_what_was_before(stores: Stores, ann: int) -> None:
    canary = f"Zq{secrets.token_hex(12)}"
    note, _ = stores.knowledge.remember(ann, f"note {canary}")
    forgetting = Forgetting(stores.database)
    with stores.database.reading() as sql:
        assert tables_read(sql) == 1
        forgetting.forget(ann, [note])
        with pytest.raises(StoreUnavailable, match="still in its files"):
            forgetting.compact(patience_seconds=0.5)
        assert forgetting.is_waiting()
        [job] = [job for job in rows(stores, Job) if job.kind == "compact"]
        assert (job.attempts, job.done_at) == (1, None)
        assert "still in its files" in job.error
    forgetting.compact()
    assert not forgetting.is_waiting()
    assert places_holding(stores, canary) == []


def tables_read(sql: Any) -> int:
    return int(sql.execute(text("SELECT count(*) FROM passages")).scalar_one())


def test_compacting_waits_for_who_writes(tmp_path: Path) -> None:
    stores = Stores.fresh(tmp_path)
    ann = stores.journal.user_id("ann")
    note, _ = stores.knowledge.remember(ann, "cat")
    forgetting = Forgetting(stores.database)
    forgetting.forget(ann, [note])
    other = Database.at(tmp_path)
    with other.writing() as sql:
        tables_read(sql)
        with pytest.raises(StoreUnavailable, match="another process is writing"):
            _compact_at_once(forgetting)
    assert forgetting.is_waiting()
    forgetting.compact()
    assert not forgetting.is_waiting()
    other.close()
    stores.database.close()


def _compact_at_once(forgetting: Forgetting) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forgetting, "_note", lambda *_, **__: None)  # which would wait for the writer, too
        forgetting.compact(patience_seconds=0.2)


def test_compacting_without_anything_forgotten_touches_nothing(stores: Stores, ann: int) -> None:
    stores.knowledge.remember(ann, "cat")
    with stores.database.reading() as sql:
        tables_read(sql)
        Forgetting(stores.database).compact(patience_seconds=0)


KILLED = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    import stores.forgetting.forgetting as forgetting
    import stores.forgetting.forgetting as forgotten_bytes
    from stores.database.database import Database
    folder, passage, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    def end():
        os.kill(os.getpid(), signal.SIGKILL)
    database = Database.at(Path(folder))
    forgetting.Forgetting(database).forget(1, [passage])
    if steps < 0:
        end()
    done, until = [], forgotten_bytes._until
    def step(ends, work):
        if len(done) == steps:
            end()
        until(ends, work)
        done.append(work)
    forgotten_bytes._until = step
    forgetting.Forgetting(database)._note = lambda *_, **__: end()
    forgetting.Forgetting._note = lambda *_, **__: end()
    forgetting.Forgetting(database).compact()
""")


@pytest.mark.parametrize("steps", [-1, 0, 1, 2, 3])
def test_killed_before_the_bytes_are_gone_the_next_start_finishes(tmp_path: Path, steps: int) -> None:
    stores, canary = Stores.fresh(tmp_path), f"Zq{secrets.token_hex(12)}"
    ann = stores.journal.user_id("ann")
    assert ann == 1
    note, _ = stores.knowledge.remember(ann, f"note {canary}")
    stores.knowledge.remember(ann, "another")
    stores.database.close()
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(note), str(steps)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    database = Database.at(tmp_path)
    forgetting = Forgetting(database)
    assert forgetting.is_waiting()
    assert set(tables_holding(database, canary)) <= {
        "own_words_data",
        "turn_words_data",
    }  # the indexes' segments
    forgetting.compact()
    assert not forgetting.is_waiting()
    assert files_holding(tmp_path, canary) == []
    assert database.integrity_problems() == []
    assert Stores.over(database).own_texts(ann) == {"another"}
    database.close()


# What may be forgotten


def test_all_are_forgotten_or_none(stores: Stores, ann: int, bob: int) -> None:
    note, _ = stores.knowledge.remember(ann, "mine")
    foreign, _ = stores.knowledge.remember(bob, "his")
    before = findable(stores.database), state_hash(stores.database)
    for wrong in (foreign, 999):
        with pytest.raises(NotFound) as refused:
            Forgetting(stores.database).forget(ann, [note, wrong])
        assert "his" not in str(refused.value)
    assert (findable(stores.database), state_hash(stores.database)) == before
    assert not Forgetting(stores.database).is_waiting()


def test_a_shared_passage_is_forgotten_only_by_who_added_it(stores: Stores, ann: int, bob: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    shared = passages_by_text(stores)["cat"]
    with pytest.raises(NotFound, match="was added by ann"):
        forget(stores, bob, shared)
    assert [line.text for line in forget(stores, ann, shared).lines] == ["cat"]
    assert stores.texts() == {}


def test_nothing_is_forgotten_twice(stores: Stores, ann: int) -> None:
    note, _ = stores.knowledge.remember(ann, "cat")
    forget(stores, ann, note, note)
    with pytest.raises(NotFound, match="forgotten before"):
        forget(stores, ann, note)


def test_every_version_goes_live_or_not(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    stores.add(ann, document("a.txt", "dog"))
    aside, _ = stores.knowledge.remember(ann, "set aside")
    stores.knowledge.set_aside(ann, [aside])
    forget(stores, ann, passages_by_text(stores)["dog"], aside)
    with stores.database.reading() as sql:
        left = sql.execute(text("SELECT title, text, erased_at IS NULL FROM passage_versions")).all()
        vectors = sql.execute(text("SELECT count(*) FROM passage_vectors")).scalar_one()
        counts = sql.execute(text("SELECT count(*) FROM word_counts")).scalar_one()
    assert {tuple(row) for row in left} == {("", "", False)}
    assert len(left) == 3
    assert (vectors, counts) == (0, 0)


def test_what_was_forgotten_is_brought_back_by_no_undo(stores: Stores, ann: int) -> None:
    first, _ = stores.add(ann, document("a.txt", "cat", "dog"))
    second, _ = stores.add(ann, document("a.txt", "owl", "dog", "elk"))
    note, receipt = stores.knowledge.remember(ann, "a note")
    forget(stores, ann, passages_by_text(stores)["owl"], note)
    with pytest.raises(CannotUndo, match="already"):
        stores.knowledge.undo(ann, receipt)
    assert [r.id for r in stores.knowledge.receipts(ann)] == [second, first]
    _, back = stores.knowledge.undo(ann, second)
    assert [line.text for line in back] == ["dog"]  # no cat: that was an earlier version of what went
    assert list(stores.texts().values()) == ["dog"]
    assert_words_are_exact(stores.database)


def test_a_forgotten_document_can_be_added_again(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    forget(stores, ann, *passages_by_text(stores).values())
    _, outcome = stores.add(ann, document("a.txt", "cat", "dog"))
    assert outcome["a.txt"].passages == 2
    assert set(stores.texts().values()) == {"cat", "dog"}
    [row] = rows(stores, Document)
    assert row.source == "a.txt"  # it names a file


def test_what_is_left_of_an_ingest_keeps_its_receipt(stores: Stores, ann: int) -> None:
    receipt, _ = stores.add(ann, document("a.txt", "cat", "dog"))
    forget(stores, ann, passages_by_text(stores)["cat"])
    [kept] = stores.knowledge.receipts(ann)
    assert (kept.id, kept.summary) == (receipt, "added")
    stores.knowledge.undo(ann, receipt)
    assert stores.texts() == {}


# The conversation


def test_the_turn_in_which_it_was_said_is_blank_and_others_lose_the_words(stores: Stores, ann: int) -> None:
    session = stores.journal.open_session(ann)
    said = answered(stores, ann, "My cat is Tom", session=session, answer="Nice.", failure="late")
    again = answered(stores, ann, "I said: MY CAT  is tom! Or not?", query="my cat is Tom")
    other = answered(stores, ann, "My category is Tombola")
    [passage] = [line.passage_id for line in stores.catalogue.lines(ann, kind="message")]
    forgotten = forget(stores, ann, passage)
    assert (forgotten.turns, forgotten.marked, forgotten.answers) == ((said,), (again,), ())
    blank = turn_of(stores, said)
    assert (blank.message, blank.standalone, blank.answer, blank.failure) == ("", "", "", "")
    assert turn_of(stores, again).message == f"I said: {FORGOTTEN}! Or not?"
    assert turn_of(stores, other).message == "My category is Tombola"
    assert {r.turn_id: r.query for r in rows(stores, Retrieval)} == {
        said: "",
        again: FORGOTTEN,
        other: "My category is Tombola",
    }
    assert rows(stores, Session)[0].title == FORGOTTEN


def test_words_that_say_nothing_alone_are_not_looked_for(stores: Stores, ann: int) -> None:
    stores.say(ann, "it is")
    other = answered(stores, ann, "where it is")
    [passage] = stores.catalogue.own_passages(ann)
    assert forget(stores, ann, passage).marked == ()
    assert turn_of(stores, other).message == "where it is"


def test_a_follow_up_is_no_longer_completed_from_a_blank_turn(stores: Stores, ann: int) -> None:
    session = stores.journal.open_session(ann)
    answered(stores, ann, "Who is Zorro Vega?", session=session)
    [passage] = stores.catalogue.own_passages(ann)
    private = "And where does he live?"
    follow = answered(
        stores,
        ann,
        private,
        session=session,
        standalone="Where does Vega live?",
        query="Where does Vega live?",
    )
    forget(stores, ann, passage)
    assert turn_of(stores, follow).standalone == private
    assert [r.query for r in rows(stores, Retrieval)] == ["", private]


def test_answers_made_with_it_are_blank_for_every_user(stores: Stores, ann: int, bob: int) -> None:
    stores.add(ann, document("a.txt", "the cat is Tom", "the dog is Rex"))
    cat, dog = (passages_by_text(stores)[t] for t in ("the cat is Tom", "the dog is Rex"))
    with_cat, with_dog = (version_of(stores, passage) for passage in (cat, dog))
    mine = answered(stores, ann, "cat?", used=with_cat, answer="Tom [1]", details={"a": ["Tom", 1, None]})
    his = answered(stores, bob, "the cat is Tom?", used=with_cat, answer="Tom [1]")
    else_ = answered(stores, bob, "dog?", used=with_dog, answer="Rex [1]")
    forgotten = forget(stores, ann, cat)
    assert (forgotten.answers, forgotten.answers_of_others) == ((mine,), 1)
    assert turn_of(stores, mine).details == {"a": ["", 1, None]}
    assert [turn_of(stores, t).answer for t in (mine, his, else_)] == ["", "", "Rex [1]"]
    assert turn_of(stores, his).message == "the cat is Tom?"  # another user's own words


def test_what_quotes_was_made_with_what_it_cites_alone(stores: Stores, ann: int) -> None:
    note, _ = stores.knowledge.remember(ann, "My cat is Tom")
    version = version_of(stores, note)
    cases = [
        ("extractive (quotes only)", {"cited": [1]}, ""),
        ("extractive (quotes only)", {"cited": []}, "At four."),
        ("extractive (quotes only)", {"cited": [], "knowledge_base": {}}, ""),  # written from all rows
        ("smollm2", {"cited": []}, ""),
        ("extractive-7b", {"cited": []}, ""),
        ("extractive (quotes only)", {"cited": [], "sent_to": "example.org"}, ""),
    ]
    turns = []
    for model, details, _ in cases:
        turn = answered(stores, ann, "When?", used=version, answer="At four.", details=details)
        with stores.database.writing() as sql:
            sql.get_one(Turn, turn).model = model
        turns.append(turn)
    gone = [turn for turn, (*_, left) in zip(turns, cases, strict=True) if not left]
    assert Forgetting(stores.database).answers(ann, [note]) == 5
    assert forget(stores, ann, note).answers == tuple(gone)
    assert [turn_of(stores, turn).answer for turn in turns] == [left for *_, left in cases]


def test_another_users_words_are_never_touched(stores: Stores, ann: int, bob: int) -> None:
    for user in (ann, bob):
        state(stores, user, "My cat is Tom")
    before = [vars(row) for row in rows(stores, Turn) + rows(stores, StatedClaim) if row.user_id == bob]
    mine = stores.catalogue.own_passages(ann)
    forget(stores, ann, mine[0])
    after = [vars(row) for row in rows(stores, Turn) + rows(stores, StatedClaim) if row.user_id == bob]
    strip = [{k: v for k, v in row.items() if k != "_sa_instance_state"} for row in before]
    assert [{k: v for k, v in row.items() if k != "_sa_instance_state"} for row in after] == strip
    assert len(stores.own_texts(bob)) == 1


def test_what_was_taught_is_a_lesson_no_more(stores: Stores, ann: int) -> None:
    turn = answered(stores, ann, "When does it close?")
    stores.journal.rate(ann, turn, "taught", correction="At four.")
    stores.journal.rate(ann, turn, "bad", reason="too slow")
    note, _ = stores.knowledge.remember(ann, "At four.", kind="correction", turn_id=turn)
    forget(stores, ann, note)
    taught, bad = rows(stores, Feedback)
    assert (taught.correction, taught.withdrawn_at is None) == (f"{FORGOTTEN}.", False)
    assert (bad.reason, bad.withdrawn_at) == ("too slow", None)
    assert turn_of(stores, turn).message == "When does it close?"


def test_a_turn_that_ends_after_the_forgetting_keeps_nothing_of_it(stores: Stores, ann: int) -> None:
    note, _ = stores.knowledge.remember(ann, "My cat is Tom")
    version = version_of(stores, note)
    said = stores.journal.accept(
        ann, stores.journal.open_session(ann), "My dog is Rex", parts=["My dog is Rex"]
    ).turn_id
    [message] = [line.passage_id for line in stores.catalogue.lines(ann, kind="message")]
    forget(stores, ann, note, message)
    used = answered(stores, ann, "Which cat?", used=version, answer="Tom [1]")
    stores.journal.finish(said, Outcome(state="done", answer="Rex!", standalone="Rex", query="Rex"))
    with stores.database.writing() as sql:
        blank_if_forgotten(sql, used)
        blank_if_forgotten(sql, said)
    assert (turn_of(stores, used).message, turn_of(stores, used).answer) == ("Which cat?", "")
    assert (turn_of(stores, said).standalone, turn_of(stores, said).answer) == ("", "")
    assert {r.turn_id: r.query for r in rows(stores, Retrieval)} == {used: "Which cat?", said: ""}


# Claims


def test_with_a_fact_goes_the_message_it_was_learned_from(stores: Stores, ann: int) -> None:
    learned = state(stores, ann, "My cat is Tom", quote="cat is Tom")
    stores.say(ann, "My dog is Rex")
    forgotten = forget(stores, ann, fact_of(stores, learned))
    assert [line.kind for line in forgotten.with_them] == ["message"]
    assert forgotten.turns == (learned.turn_id,)
    assert stores.own_texts(ann) == {"My dog is Rex"}
    [claim] = rows(stores, StatedClaim)
    assert (claim.state, claim.text, claim.text_key, claim.quote, claim.grounds) == (
        ("forgotten", "", "", "", {})
    )
    receipt = next(r for r in rows(stores, Receipt) if r.id == learned.receipt_id)
    assert (receipt.summary, receipt.grounds, receipt.undone_at is None) == (FORGOTTEN, {}, False)


def test_with_a_message_go_the_facts_learned_from_it(stores: Stores, ann: int) -> None:
    learned = state(stores, ann, "My cat is Tom", quote="My cat")
    message = next(line.passage_id for line in stores.catalogue.lines(ann, kind="message"))
    forgotten = forget(stores, ann, message)
    assert [line.passage_id for line in forgotten.with_them] == [learned.passage_id]
    assert stores.own_texts(ann) == set()


def two_facts(stores: Stores, user: int) -> tuple[int, list[Learned]]:
    """A message of two parts and what each states."""
    session = stores.journal.open_session(user)
    parts = ["My cat is Tom.", "My dog is Rex."]
    turn = stores.journal.accept(user, session, " ".join(parts), parts=parts, learns=True).turn_id
    stores.journal.finish(turn, Outcome(state="done", answer="Noted."))
    claims = Claims(stores.database)
    claims.put(user, taken(stores, user).id, turn, [new("Tom is a cat", quote=parts[0])], by="t")
    with stores.database.writing() as sql:
        sql.add(Job(kind="summarize", space=f"user:{user}", subject_id=turn, created_at=now()))
    job = taken(stores, user)
    assert job.kind == "weigh"
    first = claims.decide(user, job.id, job.subject_id, UNKNOWN)
    claim = NewClaim(text="Rex is a dog", quote=parts[1], kind="fact", about="user")
    claims.put_one(user, claim, origin="taught", turn_id=turn)
    with stores.database.writing() as sql:
        sql.execute(
            update(StatedClaim).where(col(StatedClaim.origin) == "taught").values(origin="turn", number=2)
        )
    taken(stores, user)
    job = taken(stores, user)
    second = claims.decide(user, job.id, job.subject_id, UNKNOWN)
    assert first is not None
    assert second is not None
    return turn, [first, second]


def test_what_else_was_learned_from_the_same_message_stays(stores: Stores, ann: int) -> None:
    _, (cat, _) = two_facts(stores, ann)
    forgotten = forget(stores, ann, fact_of(stores, cat))
    assert [line.text for line in forgotten.with_them] == ["My cat is Tom."]
    assert stores.own_texts(ann) == {"My dog is Rex.", "Rex is a dog"}
    assert [claim.state for claim in rows(stores, StatedClaim)] == ["forgotten", "stored"]


def test_what_was_known_before_it_was_said_again_stays_and_is_named(stores: Stores, ann: int) -> None:
    note, _ = stores.knowledge.remember(ann, "My cat is Tom", kind="note")
    learned = state(stores, ann, "My cat is Tom")
    assert learned.passage_id != note
    message = next(line.passage_id for line in stores.catalogue.lines(ann, kind="message"))
    forgotten = forget(stores, ann, message)
    assert [line.passage_id for line in forgotten.with_them] == [learned.passage_id]
    assert forgotten.still_in == (note,)
    assert stores.own_texts(ann) == {"My cat is Tom"}
    forget(stores, ann, note)
    assert stores.own_texts(ann) == set()


def test_a_passage_that_refuted_a_claim_takes_no_message_along(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "The sky is blue"))
    shared = passages_by_text(stores)["The sky is blue"]
    wrong = Decision(status="incorrect", confidence=1, scope="yours", action="nothing", passage_id=shared)
    state(stores, ann, "The sky is green and my cat is Tom", wrong, quote="The sky is green")
    assert forget(stores, ann, shared).with_them == ()
    assert stores.own_texts(ann) == {"and my cat is Tom"}


def test_a_fact_that_became_shared_goes_with_its_message_and_by_its_own_user(
    stores: Stores, ann: int, bob: int
) -> None:
    learned = state(stores, ann, "The room closes at four", SHARE, about="world")
    with pytest.raises(NotFound, match="was added by ann"):
        forget(stores, bob, fact_of(stores, learned))
    message = next(line.passage_id for line in stores.catalogue.lines(ann, kind="message"))
    assert [line.scope for line in forget(stores, ann, message).with_them] == ["shared"]
    assert stores.texts() == {}


def test_forgetting_a_statement_leaves_nothing_of_it_in_links_and_the_others_as_they_were(
    stores: Stores, ann: int
) -> None:
    first = state(stores, ann, "My locker is 214 in the cellar")
    link = NewLink(fact_of(stores, first), False, "replaces", 0.9, "test")
    newer = state(stores, ann, "It is 310 now", replace(UNKNOWN, links=[link]))
    forget(stores, ann, fact_of(stores, first))
    assert rows(stores, StatementLink) == []
    assert tables_holding(stores.database, "cellar") == []
    assert stores.catalogue.line(ann, fact_of(stores, newer)).text == "It is 310 now"


def test_a_claim_that_waits_to_be_weighed_is_not_weighed_any_more(stores: Stores, ann: int) -> None:
    claims, turn = Claims(stores.database), tell(stores, ann, "My cat is Tom")
    found = taken(stores, ann)
    claims.put(ann, found.id, turn, [new("Tom is a cat", quote="My cat is Tom")], by="test")
    at_work = taken(stores, ann)
    later = tell(stores, ann, "My dog is Rex")
    summarizing = taken(stores, ann)
    forget(stores, ann, *[line.passage_id for line in stores.catalogue.lines(ann, kind="message")])
    assert ClaimJobs(stores.database).waiting(ann) == []
    assert claims.decide(ann, at_work.id, at_work.subject_id, UNKNOWN) is None
    assert claims.put(ann, summarizing.id, later, [new("Rex is a dog")], by="test") == []
    assert [claim.state for claim in rows(stores, StatedClaim)] == ["forgotten"]
    assert stores.own_texts(ann) == set()


def test_a_proposal_loses_its_text_and_what_another_took_in_is_named(
    stores: Stores, ann: int, bob: int
) -> None:
    carl = stores.journal.user_id("carl")
    open_, accepted = "The roof is red", "The door is green"
    for words in (open_, accepted):
        for user in (bob, ann):
            learned = state(stores, user, words, about="world")
        assert learned.proposal_id is not None
    passage, _ = Proposals(stores.database).accept(carl, learned.proposal_id)
    facts = [line for line in stores.catalogue.lines(ann, scope="yours") if line.kind == "fact"]
    forgotten = forget(stores, ann, *[line.passage_id for line in facts])
    assert forgotten.still_in == (passage,)
    assert Proposals(stores.database).open() == []
    assert list(stores.texts().values()) == [accepted]  # carl's to forget


# What still holds it


def test_other_passages_and_rounds_of_training_that_hold_it_are_named(stores: Stores, ann: int) -> None:
    stores.say(ann, "My cat is Tom")
    first = stores.catalogue.own_passages(ann)[0]
    stores.say(ann, "Well, my cat is Tom.")
    second = stores.catalogue.own_passages(ann)[0]
    turn = turn_of(stores, 1)
    with stores.database.writing() as sql:
        for given in (
            {"passages": [first]},
            {"turns": [turn.id]},
            {"passages": [second]},
            {},
            {"earlier_turns": [turn.id]},
        ):
            sql.add(Round(recipe="encoder", state="promoted", settings=given, created_at=now()))
    forgotten = forget(stores, ann, first)
    assert forgotten.still_in == (second,)
    assert forgotten.rounds == (1, 2, 5)
    assert stores.own_texts(ann) == {"Well, my cat is Tom."}


def test_jobs_hold_no_text(stores: Stores, ann: int) -> None:
    """What a payload may hold: the ids of versions, and the name of the process that took the job."""
    live_with(stores, ann, canary := "Zq0123456789abcdef")
    for job in rows(stores, Job):
        assert set(job.payload) <= {"version_ids", TAKEN_BY}
        assert canary not in str(job.payload)
        assert all(isinstance(i, int) for i in job.payload.get("version_ids", ()))


@pytest.fixture(autouse=True)
def _no_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing that is logged here tells a text."""
    yield
    assert "Zq" not in caplog.text
