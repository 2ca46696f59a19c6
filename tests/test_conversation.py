"""A session is sent as it was sent before, and nothing of it that may not be seen any more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from test_pipeline import House

from agents.base.chat_interfaces import ChatMessage, ReplyRequest
from agents.languages.standing import WITHHELD, Secrets
from agents.prompts.answer import RULES
from assistant.turns.events import Finished
from stores.base.passages import SHARED
from stores.forgetting.forgetting import Forgetting

OPENS = "The room opens at ten."
ASKED = "When does the room open?"
SECRET = "Hello. My password is kestrel. It rains."


async def cites_all(request: ReplyRequest) -> AsyncIterator[str]:
    numbers = [source.number for source in (*request.earlier, *request.sources)]
    yield "At ten " + "".join(f"[{number}]" for number in numbers)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, cites_all, context_tokens=4_000)


def sent(house: House) -> tuple[ChatMessage, ...]:
    return house.chat.requests[-1].messages


async def said(house: House, message: str, **more: str) -> Finished:
    finished = (await house.say(message, **more))[-1]
    assert isinstance(finished, Finished)
    return finished


async def test_each_request_begins_as_the_one_before_it_and_sources_keep_their_numbers(house: House) -> None:
    house.share(OPENS)
    await said(house, ASKED)
    first = sent(house)
    finished = await said(house, "Really?")
    second = sent(house)
    assert second[: len(first)] == first
    assert second[len(first)] == ChatMessage("assistant", "At ten [1]")
    assert "[1] (shared)" in first[-1].content
    assert "[1] (shared)" not in second[-1].content
    assert [source.passage.text for source in finished.cited] == [OPENS]
    (found,) = [f for f in house.journal.found_in(house.ann, finished.turn_id) if f.citation == 1]
    assert found.version_id == finished.cited[0].passage.version_id
    await said(house, "And then?")
    assert sent(house)[: len(second)] == second


async def test_what_was_taken_away_is_not_sent_again(house: House) -> None:
    house.share(OPENS)
    await said(house, ASKED)
    house.stored_documents.remove(house.ann, SHARED, ["rules"], of_space=SHARED, summary="rules")
    await said(house, "Really?")
    assert OPENS not in "".join(message.content for message in sent(house))
    assert RULES not in "".join(message.content for message in sent(house))


async def test_what_was_forgotten_is_not_sent_again(house: House) -> None:
    house.share(OPENS)
    turn = (await said(house, "My locker is number 214.")).turn_id
    await said(house, ASKED)
    assert "214" in "".join(message.content for message in sent(house))
    (locker,) = house.catalogue.said_in(house.ann, turn)
    Forgetting(house.database).forget(house.ann, [locker.passage_id])
    await said(house, ASKED)
    assert "214" not in "".join(message.content for message in sent(house))


async def test_what_is_handed_over_goes_whole_and_stays_in_the_conversation(house: House) -> None:
    material = "\n\n".join(f"Line {n}." for n in range(20))
    await said(house, "What is this?", material=material)
    first = sent(house)
    assert all(f"> Line {n}." in first[-1].content for n in range(20))
    await said(house, "And more?")
    assert sent(house)[: len(first)] == first


async def test_what_is_handed_over_next_goes_along_too(house: House) -> None:
    await said(house, "What is this?", material="First text.")
    await said(house, "And this?", material="Second text.")
    assert "> Second text." in sent(house)[-1].content


async def test_of_what_is_too_long_the_nearest_parts_go_and_how_many_is_kept(house: House) -> None:
    material = "\n\n".join([OPENS, *(f"Line {n}. " + "and so on " * 200 for n in range(20))])
    finished = await said(house, ASKED, material=material)
    request = house.chat.requests[-1]
    assert request.sent_of is not None
    sent_parts, of = request.sent_of
    assert (of, sent_parts < of) == (21, True)
    assert f"> {OPENS}" in sent(house)[-1].content
    assert house.journal.turn(house.ann, finished.turn_id).details["sent_of"] == [sent_parts, of]


async def test_an_earlier_answer_comes_along_with_its_message_in_another_session(house: House) -> None:
    await said(house, ASKED)
    house.session = house.journal.open_session(house.ann)
    finished = await said(house, ASKED)
    (source,) = house.chat.requests[-1].sources
    assert (source.passage.kind, source.passage.title) == ("reply", ASKED)
    assert finished.cited == (source,)
    await said(house, "Really?")
    assert "[1] (answered by you to the message in the title" in sent(house)[1].content
    house.session = house.journal.open_session(house.journal.user_id("ben"))
    house.ann = house.journal.user_id("ben")
    await said(house, ASKED)
    assert house.chat.requests[-1].sources == ()


async def test_who_reads_an_earlier_answer_reads_of_what_it_was_made_from(house: House) -> None:
    turn = (await said(house, OPENS)).turn_id
    (opens,) = house.catalogue.said_in(house.ann, turn)
    house.session = house.journal.open_session(house.ann)
    await said(house, ASKED)
    (source,) = house.chat.requests[-1].sources
    assert source.passage.text == OPENS
    house.session = house.journal.open_session(house.ann)
    last = (await said(house, ASKED)).turn_id
    request = house.chat.requests[-1]
    assert "reply" in [source.passage.kind for source in request.sources]
    assert source.passage.version_id in request.seen
    Forgetting(house.database).forget(house.ann, [opens.passage_id])
    assert house.journal.turn(house.ann, last).answer == ""


async def test_an_answer_that_was_spoken_against_does_not_come_along(house: House) -> None:
    turn = (await said(house, ASKED)).turn_id
    house.journal.rate(house.ann, turn, "bad")
    house.session = house.journal.open_session(house.ann)
    await said(house, ASKED)
    assert house.chat.requests[-1].sources == ()


async def test_what_was_answered_in_a_deleted_session_does_not_come_along(house: House) -> None:
    await said(house, ASKED)
    house.sessions.delete(house.ann, house.session)
    house.session = house.journal.open_session(house.ann)
    await said(house, ASKED)
    assert house.chat.requests[-1].sources == ()


async def test_a_secret_of_an_earlier_message_is_withheld(house: House) -> None:
    class Heads:
        """Takes for a secret what holds a password."""

        def is_english(self, text: str) -> bool:
            return True

        def signs(self, texts: list[str]) -> list[object]:
            return [type("Signs", (), {"secret": float("password" in text)})() for text in texts]

    house.encoder._known = {**house.encoder._known, SECRET: (0, 1, 0, 0)}
    secrets = Secrets(Heads())  # type: ignore[arg-type]
    house.memory.secrets = secrets
    await said(house, SECRET)
    assert "kestrel" in sent(house)[-1].content
    await said(house, "What is the capital of Peru?")
    assert "kestrel" not in "".join(message.content for message in sent(house))
    assert f"Hello. {WITHHELD} It rains." in sent(house)[1].content
