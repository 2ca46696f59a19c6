"""Wherever a user's words lie, and whatever stands around them: forgotten, no byte of them is left."""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from store_fixtures import Stores, document, findable, fresh_database
from test_change_proposals import contradict, share
from test_claims import state
from test_forgetting import answered, files_holding, tables_holding
from test_undo_properties import World, kind, world

from stores.base.passages import own_space
from stores.claims.decisions import Decision
from stores.forgetting.forgetting import Forgetting

__all__ = ["kind"]  # the fixture

Way: TypeAlias = Callable[[Stores, int, str], None]
SHARED_FACT = Decision(status="correct", confidence=0.9, scope="shared", action="add")


def by_message(stores: Stores, user: int, words: str) -> None:
    stores.say(user, words, "and so on")


def by_claim(stores: Stores, user: int, words: str) -> None:
    state(stores, user, f"My locker is {words}", about="user")


def by_shared_claim(stores: Stores, user: int, words: str) -> None:
    state(stores, user, f"The room is {words}", SHARED_FACT, about="world")


def by_refuted_claim(stores: Stores, user: int, words: str) -> None:
    wrong = Decision(status="incorrect", confidence=0.9, scope="yours", action="nothing", reason=words)
    state(stores, user, f"The door is {words}", wrong, about="world")


def by_proposal(stores: Stores, user: int, words: str) -> None:
    """Its own words proposed, and those of the passage that they would change."""
    passage = share(stores, user, f"The lift is {words}")
    contradict(stores, user, "modify", passage, words="The lift is gone", to=f"No lift. Not {words}")


def by_edit(stores: Stores, user: int, words: str) -> None:
    passage, _ = stores.knowledge.remember(user, f"before: {words}")
    stores.knowledge.edit(user, passage, f"now: {words}")
    stores.knowledge.edit(user, passage, "neither")


def by_undone_note(stores: Stores, user: int, words: str) -> None:
    _, receipt = stores.knowledge.remember(user, f"undone: {words}")
    stores.knowledge.undo(user, receipt)


def by_own_document(stores: Stores, user: int, words: str) -> None:
    whole = f"page {words}"  # its name stays unless the words of a passage stand in it
    stores.add(user, document(whole, whole, "the next page", title=words), space=own_space(user))


def by_shared_document(stores: Stores, user: int, words: str) -> None:
    stores.add(user, document("handbook", f"open page {words}"))
    stores.add(user, document("handbook", "another page"))  # its page is a tombstone


def by_lesson(stores: Stores, user: int, words: str) -> None:
    turn = answered(stores, user, "Which?", answer="None.")
    stores.knowledge.remember(user, f"taught: {words}", kind="correction", turn_id=turn)
    stores.journal.rate(user, turn, "taught", correction=f"taught: {words}")


def by_feedback(stores: Stores, user: int, words: str) -> None:
    """An answer made with a note, and what was said of it."""
    passage, _ = stores.knowledge.remember(user, f"a note: {words}")
    [version] = [row["version"] for row in findable(stores.database)["texts"] if row["passage"] == passage]
    details = {"left_out": [{"title": words}]}
    turn = answered(stores, user, "And?", used=version, answer=f"It is {words}.", details=details)
    stores.journal.rate(user, turn, "bad", reason=f"Not “a note: {words}”.")


def by_import(stores: Stores, user: int, words: str) -> None:
    stores.import_lines(user, [json.dumps({"title": words, "text": f"imported: {words}"})])


WAYS: tuple[Way, ...] = (
    by_message,
    by_claim,
    by_shared_claim,
    by_refuted_claim,
    by_proposal,
    by_edit,
    by_undone_note,
    by_own_document,
    by_shared_document,
    by_lesson,
    by_feedback,
    by_import,
)
AROUND = st.text(max_size=12)
FEW = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))


def passages_with(stores: Stores, canary: str) -> list[int]:
    """Every passage of which a version holds it, live or not."""
    with stores.database.reading() as sql:
        rows = sql.execute(
            text("SELECT DISTINCT passage_id FROM passage_versions WHERE title LIKE :it OR text LIKE :it"),
            {"it": f"%{canary}%"},
        )
        return sorted(row[0] for row in rows)


def test_no_byte_is_left_wherever_it_lay(request: pytest.FixtureRequest, kind: str) -> None:
    @given(ways=st.lists(st.sampled_from(WAYS), min_size=1, max_size=4), before=AROUND, behind=AROUND)
    @example(ways=list(WAYS), before="", behind="")
    @example(ways=[by_own_document], before="", behind="")  # in whose title nothing else would find it
    @example(ways=[by_own_document], before="", behind="\x000")  # which no text keeps as it is
    @FEW
    def holds(ways: list[Way], before: str, behind: str) -> None:
        canary = f"Zq{secrets.token_hex(12)}"
        with tempfile.TemporaryDirectory() as name, world(request, kind, Path(name)) as the:
            stores, (ann, bob) = the.stores, the.users
            stores.knowledge.remember(bob, "bob's own")
            stores.add(bob, document("rules", "A page of bob's."))
            for way in ways:
                way(stores, ann, f"{before}{canary}{behind}")
                the.settle()
            assert tables_holding(stores.database, canary)
            named, forgetting = passages_with(stores, canary), Forgetting(stores.database)
            kept = the_others(the, named)
            forgetting.forget(ann, named)
            the.settle()
            forgetting.compact()
            assert tables_holding(stores.database, canary) == []
            assert files_holding(Path(name), canary) == []
            assert the_others(the, named) == kept

    holds()


def the_others(the: World, named: list[int]) -> dict[int, str]:
    """The live texts of all other passages, by version."""
    rows = findable(the.stores.database)["texts"]
    return {row["version"]: row["text"] for row in rows if row["passage"] not in named}


@given(before=st.text(max_size=30), behind=st.text(max_size=30), parts=st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_whatever_stands_around_a_canary_no_byte_of_it_is_left(before: str, behind: str, parts: int) -> None:
    canary = f"Zq{secrets.token_hex(12)}"
    with tempfile.TemporaryDirectory() as name:
        stores = Stores.over(fresh_database(Path(name)))
        ann = stores.journal.user_id("ann")
        stores.say(ann, *[f"{before}{canary}{behind}"] * parts)
        stores.knowledge.remember(ann, "another")
        named = [line.passage_id for line in stores.catalogue.lines(ann, kind="message")]
        forgetting = Forgetting(stores.database)
        forgetting.forget(ann, named)
        forgetting.compact()
        assert tables_holding(stores.database, canary) == []
        assert files_holding(Path(name), canary) == []
        assert stores.own_texts(ann) == {"another"}
        stores.database.close()
