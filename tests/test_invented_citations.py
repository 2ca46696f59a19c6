"""A citation that names no passage is counted as an error, wherever an answer or why it was given is told."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from agent_fakes import FakeChat
from plain_fixtures import talk
from round_rows import promoted
from screen_fixtures import ANSWER, QUESTION, ScriptedReplies, made_assistant, place_in
from sqlalchemy import update
from store_fixtures import document

from assistant.learning.recipes.query.recipe import QUERY
from assistant.terminal.facts.answer_lines import invented_line
from assistant.terminal.facts.session_text import session_object
from assistant.terminal.facts.why import why_facts
from assistant.wiring.recipes import RECIPES
from stores.base.clock import now
from stores.base.passages import SHARED
from stores.conversation.turn_models import REWRITTEN, TurnModels, models_of
from stores.database.tables import ModelVersion, Retrieval, Turn


def test_the_line_counts_citations_and_names_their_numbers_once() -> None:
    assert invented_line([]) == ""
    assert invented_line([9]) == "1 citation names no passage: [9]"
    assert invented_line([9, 7, 9]) == "3 citations name no passage: [9], [7]"


def test_plain_mode_tells_below_the_answer_and_in_why(tmp_path: Path) -> None:
    replies = ScriptedReplies([["At ten [1], or nine [7]."], [ANSWER]])
    with closing(made_assistant(place_in(tmp_path), FakeChat(replies.reply))) as assistant:
        told, _ = talk(assistant, QUESTION, "/why", QUESTION, "/why")
    answered, why, again, why_again = told.split("You: ")[1:]
    assert "At ten [1], or nine [7]." in answered
    assert answered.rstrip().endswith("(1 citation names no passage: [7])")
    assert "1 citation names no passage: [7]\n" in why
    assert "no passage" not in again + why_again


def test_a_reference_number_of_a_source_is_told_nowhere_as_a_citation(tmp_path: Path) -> None:
    text = "The uptake of iron is inhibited by tea [31] and by coffee, though only at breakfast [1]."
    replies = ScriptedReplies([[f"It says: “{text}”"], [f"{text} [2]"]])
    with closing(made_assistant(place_in(tmp_path), FakeChat(replies.reply))) as assistant:
        ann = assistant.stores.journal.user_id("ann")
        documents = assistant.stores.stored_documents
        plan = documents.plan(SHARED, [document("tea.md", text, title="Tea")])
        documents.store(
            plan,
            assistant.search.wanted_encoder.encode_passages(plan.texts_to_encode()),
            encoder_version="fixed-1",
            receipt_id=documents.open_receipt(ann, SHARED, "ingested tea.md"),
        )
        assistant.catch_up()
        question = "What inhibits the uptake of iron, and when is the reading room open?"
        told, session = talk(assistant, question, question, "/why")
        exported = session_object(assistant, ann, assistant.stores.sessions.tree(ann, session))
        first, second = (turn.details for turn in assistant.stores.journal.turns(ann, session))
    assert "no passage: [" not in told
    assert "[31?]" not in told
    assert (first["cited"], first["invented_citations"]) == ([], [])
    assert (second["cited"], second["invented_citations"]) == ([2], [])
    assert [[source["number"] for source in turn["sources"]] for turn in exported["turns"]] == [[], [2]]


def test_the_models_of_a_turn_are_those_of_its_user_alone(tmp_path: Path) -> None:
    replies = ScriptedReplies([[ANSWER]])
    with closing(made_assistant(place_in(tmp_path), FakeChat(replies.reply))) as assistant:
        talk(assistant, QUESTION)
        ann, ben = assistant.stores.journal.user_id("ann"), assistant.stores.journal.user_id("ben")
        found = models_of(assistant.stores.database, ann, 1)
        assert (found.encoder_version, found.round_id, found.judges) == ("fixed-1", None, ("scores-1",))
        assert models_of(assistant.stores.database, ben, 1) == TurnModels("", None, "", (), {})


def test_an_encoder_that_a_round_trained_is_named_with_its_round(tmp_path: Path) -> None:
    replies = ScriptedReplies([[ANSWER]])
    with closing(made_assistant(place_in(tmp_path), FakeChat(replies.reply))) as assistant:
        talk(assistant, QUESTION)
        ann = assistant.stores.journal.user_id("ann")
        with assistant.stores.database.writing() as sql:
            model = ModelVersion(role="encoder", version="fixed-1", created_at=now())
            sql.add(model)
            sql.flush()
            trained = promoted(12)
            trained.model_version_id = model.id
            sql.add(trained)
        assert models_of(assistant.stores.database, ann, 1).round_id == 12
        assert why_facts(assistant, ann, 1).searched_by == "fixed-1, of round 12 · judged by scores-1"


def test_of_what_rounds_trained_only_what_an_answer_hangs_on_is_told(tmp_path: Path) -> None:
    roles = [each.role for each in RECIPES.values()]
    replies = ScriptedReplies([[ANSWER]])
    with closing(made_assistant(place_in(tmp_path), FakeChat(replies.reply))) as assistant:
        with assistant.stores.database.writing() as sql:
            for number, role in enumerate(roles, start=1):
                model = ModelVersion(role=role, version="of-use", created_at=now())
                sql.add(model)
                sql.flush()
                trained = promoted(number)
                trained.model_version_id = model.id
                sql.add(trained)
        assistant.stores.live_models.make_live(QUERY.role, "of-use")
        talk(assistant, QUESTION)
        ann = assistant.stores.journal.user_id("ann")
        turn = assistant.stores.journal.turn(ann, 1)
        assert turn.details["trained"] == {QUERY.role: "of-use"}
        models = models_of(assistant.stores.database, ann, 1)
        assert models.trained == {QUERY.role: 1 + roles.index(QUERY.role)}
        assert why_facts(assistant, ann, 1).trained == ""  # it rewrote nothing

        def behind(strategy: str, **details: Any) -> list[str]:
            with assistant.stores.database.writing() as sql:
                stored = sql.get_one(Turn, 1)
                stored.details = {"trained": dict.fromkeys(roles, "of-use"), **details}
                sql.execute(update(Retrieval).values(strategy=strategy))
            return sorted(assistant.turns.trained_behind(ann, assistant.stores.journal.turn(ann, 1)))

        found = ["collection adapters", "judge", "query encoder"]
        assert behind("original") == [*found, "relevance"]
        assert behind(REWRITTEN) == [*found, "query model", "relevance"]
        quoted, generated = ({"is_generated": each} for each in (False, True))
        assert behind("original", knowledge_base=quoted) == ["entity retriever", "query encoder"]
        assert behind(REWRITTEN, knowledge_base=generated) == sorted(
            {*roles} - {"collection adapters", "judge", "relevance"}
        )
