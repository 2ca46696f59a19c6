"""A rating from which nothing is learned says so, and why; a statement that nothing answered is no lesson."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from agent_fakes import FakeChat
from plain_fixtures import talk
from screen_fixtures import ANSWER, HANDBOOK, QUESTION, ScriptedReplies, made_assistant, place_in

from assistant.terminal.actions.rating import (
    ASKS_NOTHING,
    CITES_ECHOES,
    CITES_NOTHING,
    IS_PRIVATE,
    NOT_JUDGED,
    rate,
)
from assistant.wiring.assistant import Assistant
from stores.database.tables import Judgement
from stores.learning.lessons import Lessons

NOTHING = "I found nothing about that."


def assistant_saying(folder: Path, *replies: str) -> Assistant:
    script = ScriptedReplies([[reply] for reply in replies])
    return made_assistant(place_in(folder), FakeChat(script.reply))


def test_rating_an_answer_that_cites_nothing_says_that_nothing_is_learned(tmp_path: Path) -> None:
    with closing(assistant_saying(tmp_path, NOTHING, ANSWER)) as assistant:
        told, _ = talk(assistant, QUESTION, "/good", "/bad", QUESTION, "/good", "/bad")
    assert f"Noted for turn 1: good. {CITES_NOTHING}\n" in told
    assert f"Noted for turn 1: bad. {CITES_NOTHING} /teach with what is right is kept.\n" in told
    assert "Noted for turn 2: good.\n" in told
    assert "Noted for turn 2: bad.\n" in told


@pytest.mark.parametrize("answer", [NOTHING, "Good to know."])
def test_a_statement_that_nothing_answered_is_no_lesson(tmp_path: Path, answer: str) -> None:
    with closing(assistant_saying(tmp_path, answer, answer, ANSWER)) as assistant:
        stated = f"I told my sister this: {HANDBOOK}"
        told, _ = talk(assistant, QUESTION, stated, "/good", f"Write to my sister. {stated}")
        lessons = Lessons(assistant.stores.database)
        assert [lesson.turn_id for lesson in lessons.all()] == [
            1,
            3,
        ]  # what cites a source was answered from it
        assert lessons.count() == 2
    assert f"Noted for turn 2: good. {ASKS_NOTHING}\n" in told


def test_what_is_private_not_judged_or_only_an_echo_is_not_learned_from(tmp_path: Path) -> None:
    with closing(assistant_saying(tmp_path, *[ANSWER] * 3)) as assistant:
        ann = assistant.stores.journal.user_id("ann")
        talk(assistant, QUESTION, session=assistant.stores.journal.open_session(ann, is_private=True))
        assert rate(assistant, ann, 1, "good") == IS_PRIVATE
        talk(assistant, QUESTION)
        [shared] = [found.version_id for found in assistant.stores.journal.found_in(ann, 2)]
        assert rate(assistant, ann, 2, "good") == rate(assistant, ann, 2, "bad", version_id=shared) == ""
        talk(assistant, QUESTION)
        found = {each.version_id for each in assistant.stores.journal.found_in(ann, 3)}
        [echo] = found - {shared}
        assert rate(assistant, ann, 3, "good", version_id=echo) == CITES_ECHOES
        with assistant.stores.database.writing() as sql:
            for judgement in sql.query(Judgement).all():
                sql.delete(judgement)
        assert rate(assistant, ann, 2, "good") == NOT_JUDGED
