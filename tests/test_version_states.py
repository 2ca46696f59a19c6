"""Answers as of a past turn: which versions they used, and what became of these since."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from store_fixtures import Stores, document, passages_by_text
from test_claims import state

from assistant.terminal.facts.answer_lines import version_line, why_lines
from assistant.terminal.facts.memory_history import claim_lines, history_as_json, history_lines, when
from stores.claims.claims import Claims
from stores.conversation.journal import FoundPassage, Outcome
from stores.forgetting.forgetting import Forgetting

LOCKER = "My locker number is 214."


def version_of(stores: Stores, user: int, passage: int) -> int:
    """Its newest version."""
    return stores.catalogue.history(user, passage).versions[-1].id or 0


def answered(stores: Stores, user: int, *versions: int) -> int:
    """A turn whose answer cites these versions, in order; it is private, so that its words are no passage."""
    session = stores.journal.open_session(user, is_private=True)
    turn = stores.journal.accept(user, session, "Where?", parts=[]).turn_id
    found = [
        FoundPassage(
            version_id=version,
            found_rank=number,
            dense=0.5,
            lexical=1.0,
            lift=0,
            score=0.7,
            final_rank=number,
            citation=number,
        )
        for number, version in enumerate(versions, start=1)
    ]
    cited = list(range(1, len(versions) + 1))
    outcome = Outcome(state="done", answer="There.", query="Where?", found=found, details={"cited": cited})
    stores.journal.finish(turn, outcome)
    return turn


def assistant_of(stores: Stores) -> Any:
    """What /why asks of one."""
    turns = SimpleNamespace(trained_behind=lambda *_: {})
    return SimpleNamespace(stores=stores, turns=turns)


def why(stores: Stores, user: int, turn: int) -> list[str]:
    """What /why tells of the citations, without where they were found."""
    assistant = assistant_of(stores)
    lines = list(why_lines(assistant, user, stores.journal.turn(user, turn)))
    return [line.strip() for line in lines if line.startswith("         passage")]


def told(stores: Stores, user: int, version: int) -> tuple[int, int, str]:
    state_ = stores.catalogue.version_states(user, [version])[version]
    assert (state_.since is None) == (state_.state == "live")
    return state_.number, state_.newest, state_.state


def test_a_turn_names_the_version_it_used_and_what_became_of_it(stores: Stores, ann: int) -> None:
    note, _ = stores.knowledge.remember(ann, "The key is in the hall.")
    first = version_of(stores, ann, note)
    turn = answered(stores, ann, first)
    written = stores.catalogue.version_states(ann, [first])[first].created_at
    assert why(stores, ann, turn) == [f"passage {note}, version 1, {when(written)}"]
    receipt = stores.knowledge.edit(ann, note, "The key is in the shed.")
    changed = stores.catalogue.version_states(ann, [first])[first].since
    assert changed is not None
    assert why(stores, ann, turn) == [
        f"passage {note}, version 1 of 2, {when(written)}; changed since, on {when(changed)}"
    ]
    later = answered(stores, ann, version_of(stores, ann, note))
    stores.knowledge.undo(ann, receipt)
    assert why(stores, ann, turn) == [f"passage {note}, version 1 of 2, {when(written)}"]  # it is back
    assert "version 2 of 2" in why(stores, ann, later)[0]
    assert "; undone since, on " in why(stores, ann, later)[0]


def test_every_way_in_which_a_version_ends_has_its_word(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat", "dog", "owl"))
    first = {text: version_of(stores, ann, passage) for text, passage in passages_by_text(stores).items()}
    stores.add(ann, document("a.txt", "cat", "elk"))
    assert told(stores, ann, first["cat"]) == (1, 2, "live")  # the same words, in the document of now
    assert told(stores, ann, first["dog"]) == (1, 2, "changed")
    assert told(stores, ann, first["owl"]) == (1, 1, "withdrawn")
    note, _ = stores.knowledge.remember(ann, "note")
    version = version_of(stores, ann, note)
    aside = stores.knowledge.set_aside(ann, [note]).receipt_id
    assert told(stores, ann, version) == (1, 1, "withdrawn")
    stores.knowledge.undo(ann, aside)
    assert told(stores, ann, version) == (1, 1, "live")
    stores.knowledge.undo(ann)
    assert told(stores, ann, version) == (1, 1, "undone")


def test_what_was_forgotten_is_told_without_its_text(stores: Stores, ann: int) -> None:
    note, _ = stores.knowledge.remember(ann, "xylophone")
    version = version_of(stores, ann, note)
    turn = answered(stores, ann, version)
    Forgetting(stores.database).forget(ann, [note])
    assert told(stores, ann, version) == (1, 1, "forgotten")
    assistant = assistant_of(stores)
    lines = "\n".join(why_lines(assistant, ann, stores.journal.turn(ann, turn)))
    assert "forgotten since, on " in lines
    assert "xylophone" not in lines


def test_another_users_versions_have_no_state(stores: Stores, ann: int, bob: int) -> None:
    note, _ = stores.knowledge.remember(ann, "note")
    assert stores.catalogue.version_states(bob, [version_of(stores, ann, note)]) == {}


def test_a_history_lists_every_version_with_its_words_its_writer_and_its_receipt(
    stores: Stores, ann: int
) -> None:
    note, added = stores.knowledge.remember(ann, "The key is in the hall.")
    edited = stores.knowledge.edit(ann, note, "The key is in the shed.")
    history = stores.catalogue.history(ann, note)
    first, second = history.versions
    changed = when(first.removed_at or first.created_at)
    assert list(history_lines(history)) == [
        f"{note}  note · yours",
        "The key is in the shed.",
        "Used      in 0 of your answers; judged helpful 0×, useless 0×",
        f"Version 2 by user, {when(second.created_at)}, receipt {edited}; live",
        f"Version 1 by user, {when(first.created_at)}, receipt {added}; changed {changed}, receipt {edited}",
        "          “The key is in the hall.”",
        f"Receipt {added}: add, {when(history.receipts[0].created_at)}",
        f"Receipt {edited}: modify, {when(history.receipts[1].created_at)}",
    ]
    as_json = history_as_json(history)
    assert [(v["text"], v["state"], v["added_by"], v["removed_by"]) for v in as_json["versions"]] == [
        ("The key is in the hall.", "changed", added, edited),
        ("The key is in the shed.", "live", edited, None),
    ]
    stores.knowledge.set_aside(ann, [note])
    withdrawn = stores.catalogue.history(ann, note)
    assert next(history_lines(withdrawn)) == f"{note}  note · yours · withdrawn"
    assert history_as_json(withdrawn)["state"] == "withdrawn"


def test_what_a_memory_was_used_in_is_counted(stores: Stores, ann: int) -> None:
    note, _ = stores.knowledge.remember(ann, "The key is in the hall.")
    answered(stores, ann, version_of(stores, ann, note))
    told = "\n".join(history_lines(stores.catalogue.history(ann, note)))
    assert "in 1 of your answers" in told


def test_a_learned_fact_tells_where_it_was_said_and_an_imported_one_that_a_file_tells_it(
    stores: Stores, ann: int, bob: int
) -> None:
    learned = state(stores, ann, LOCKER, about="world")
    stores.import_lines(bob, stores.exported(ann))
    for user in (ann, bob):
        [fact] = stores.catalogue.lines(user, kind="fact")
        history = stores.catalogue.history(user, fact.passage_id)
        lines = list(history_lines(history))
        assert history.turn is not None
        assert f"From      turn {history.turn.id} of “{LOCKER}”, {when(history.turn.accepted_at)}" in lines
        assert any(line.startswith("Imported  ") for line in lines) == (user == bob)
        told = claim_lines(Claims(stores.database).of_passage(user, fact.passage_id), {})
        checked = next(line for line in told if line.startswith("Checked"))
        assert checked.endswith("stored, yours" + (", as the file tells" if user == bob else ""))
    assert learned.status == "unknown"


@pytest.mark.parametrize(("newest", "of"), [(1, ""), (3, " of 3")])
def test_a_passage_that_never_changed_has_just_one_version(newest: int, of: str) -> None:
    from stores.base.clock import now
    from stores.versions.states import VersionState

    moment = now()
    line = version_line(VersionState(12, 1, newest, moment, "live", None))
    assert line == f"passage 12, version 1{of}, {when(moment)}"
