"""What is typed and not sent is kept beside everything else: what was typed last wins, whoever is late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from screen_fixtures import HOLD, ChatOnScreen, on_screen

from assistant.terminal.actions.drafts import NEW, Drafts
from assistant.terminal.chat.draft_keeping import DraftKeeping
from assistant.terminal.conversation.conversation import Conversation
from assistant.terminal.engine.engine import Desk
from stores.base.errors import TryAgain


def test_a_draft_that_is_kept_late_replaces_none_that_was_kept_meanwhile(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path, tmp_path, "ann")
    late, of_another_session = drafts.keeping(1, "half"), drafts.keeping(2, "another")
    assert drafts.write(1, "half a thought")
    assert late()
    assert of_another_session()
    assert (drafts.read(1), drafts.read(2)) == ("half a thought", "another")


def test_a_draft_that_was_sent_meanwhile_does_not_come_back(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path, tmp_path, "ann")
    late = drafts.keeping(1, "half")
    drafts.write(1, "")
    late()
    assert drafts.read(1) == ""


async def test_leaving_while_a_draft_is_kept_keeps_what_was_typed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, begun, ended = asyncio.Event(), list[object](), list[object]()

    async def slow(work: Callable[..., object], *given: object) -> object:
        begun.append(work)
        await goes_on.wait()
        ended.append(work)
        return work(*given)

    async with on_screen(tmp_path) as chat:
        main = chat.app.chat
        with monkeypatch.context() as patched:
            patched.setattr(asyncio, "to_thread", slow)
            main.prompt.put("half")
            await chat.until(lambda: bool(begun))
            main.prompt.put("half a thought")
            main.save_draft()
            goes_on.set()
            await chat.until(lambda: len(ended) == len(begun))
        assert main.drafts.read(NEW) == "half a thought"


async def two_sessions(chat: ChatOnScreen) -> tuple[int, int]:
    """The first has a draft, the second is on the screen."""
    main = chat.app.chat
    await chat.asks("one")
    first = main.talk.session_id
    main.prompt.put("half a thought")
    main.switch_session(None)
    await chat.until(lambda: main.talk.session_id != first)
    await chat.asks("two")
    return first, main.talk.session_id


def slow_before(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, holds: Callable[[], bool]) -> None:
    """Has a call wait for this."""
    call = getattr(owner, name)

    async def slow(self: object, *given: object, **named: object) -> object:
        while not holds():  # noqa: ASYNC110 - looked at by a timer
            await asyncio.sleep(0.01)
        return await call(self, *given, **named)

    monkeypatch.setattr(owner, name, slow)


async def test_a_draft_stays_with_its_session_however_long_the_next_takes_to_open_and_to_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuses(_desk: Desk, _session_id: int | None) -> None:
        raise TryAgain("another program writes")

    async with on_screen(tmp_path, replies=[["First."], ["Second."]]) as chat:
        first, second = await two_sessions(chat)
        main = chat.app.chat
        main.prompt.put("another thought")
        with monkeypatch.context() as changed:
            changed.setattr(Desk, "open_session", refuses)
            main.switch_session(first)
            await chat.shows("another program writes")
            assert chat.prompt == "another thought"
        with monkeypatch.context() as changed:
            opening = Looks(changed)
            slow_before(changed, Desk, "open_session", lambda: opening.were(3))
            main.switch_session(first)
            await chat.until(lambda: main.talk.session_id == first)
            assert (main.prompt.text, main.drafts.read(second)) == ("half a thought", "another thought")
        with monkeypatch.context() as changed:
            shown = Looks(changed)
            slow_before(changed, Conversation, "show", lambda: shown.were(3))
            main.switch_session(second)
            await chat.until(lambda: shown.were(3))
            await chat.until(lambda: main.prompt.text == "another thought")
            assert main.drafts.read(second) == "another thought"


async def test_what_is_typed_during_the_first_answer_is_kept_under_its_session(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["First", HOLD, "."]]) as chat:
        main = chat.app.chat
        await chat.sends("one")
        await chat.shows("First")
        main.prompt.put("half a thought")
        await chat.until(lambda: main.drafts.read(NEW) == "half a thought" and not main.draft_is_due)
        chat.go_on()
        await chat.until(lambda: main.talk.is_idle and not main.drafts.read(NEW))
        assert main.drafts.read(main.talk.session_id) == "half a thought"


class Looks:
    """How often the chat has looked at what there is to keep."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._count, look = 0, DraftKeeping.look_at_what_was_sent

        def counts(chat: DraftKeeping) -> None:
            self._count += 1
            look(chat)

        monkeypatch.setattr(DraftKeeping, "look_at_what_was_sent", counts)

    def were(self, count: int) -> bool:
        """So many since this was made."""
        return self._count >= count


# What is sent before its session is there

HELD = [["First."], ["Second", HOLD, "."]]


@pytest.mark.parametrize("command", ["/private", "/new", "/new Garden"])
async def test_what_is_sent_behind_the_command_that_begins_a_session_goes_there(
    tmp_path: Path, command: str
) -> None:
    async with on_screen(tmp_path, replies=HELD) as chat:
        main = chat.app.chat
        await chat.asks("one")
        first = main.talk.session_id
        for line in ("two", command, "My secret is a blue folder.", "Where is it?"):
            await chat.sends(line)
        await chat.until(lambda: len(main.talk.waiting) == 3)
        chat.go_on()
        await chat.until(lambda: main.talk.is_idle and main.talk.session_id != first)
        journal, second = main.desk._known_assistant.stores.journal, main.talk.session_id
        said = {number: [turn.message for turn in journal.turns(1, number)] for number in (first, second)}
        assert said == {first: ["one", "two"], second: ["My secret is a blue folder.", "Where is it?"]}
        assert main.is_private is journal.is_private(1, second) is (command == "/private")
        await chat.shows("My secret is a blue folder.")
        assert "waits for its turn" not in chat.text


async def test_what_is_to_be_private_is_no_draft_of_the_session_before(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=HELD) as chat:
        main = chat.app.chat
        await chat.asks("one")
        first = main.talk.session_id
        for line in ("two", "three", "/private", "My secret is blue."):
            await chat.sends(line)
        main.prompt.put("and my pin is")
        await chat.until(lambda: len(main.talk.waiting) == 3)
        main.save_draft()
        assert main.drafts.read(first) == "three"
        chat.go_on()
        await chat.until(lambda: main.talk.is_idle and main.is_private)
        main.save_draft()
        assert main.drafts.read(main.talk.session_id) == "and my pin is"
        assert (main.drafts.read(first), main.drafts.read(NEW)) == ("", "")


async def test_where_a_private_session_cannot_be_shown_nothing_goes_into_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuses(_desk: Desk, _session_id: int | None) -> None:
        raise TryAgain("another program writes")

    async with on_screen(tmp_path, replies=HELD) as chat:
        main = chat.app.chat
        await chat.asks("one")
        first = main.talk.session_id
        monkeypatch.setattr(Desk, "open_session", refuses)
        for line in ("two", "/private", "My secret is blue."):
            await chat.sends(line)
        await chat.until(lambda: len(main.talk.waiting) == 2)
        chat.go_on()
        await chat.until(lambda: main.talk.is_idle)
        journal, second = main.desk._known_assistant.stores.journal, main.talk.session_id
        assert [turn.message for turn in journal.turns(1, first)] == ["one", "two"]
        assert [turn.message for turn in journal.turns(1, second)] == ["My secret is blue."]
        assert main.is_private is journal.is_private(1, second) is True
