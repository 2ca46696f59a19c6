"""One turn from the message to the stored answer, over real stores and fakes of models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from agent_fakes import FakeChat, FixedEncoder

from agents.answering.responder import Responder
from agents.base.chat_interfaces import CutAtLimit, LeftOut, Piece, ReplyRequest
from agents.base.quoting_only import NOTHING_FOUND
from agents.retrieval.own_statements import GIVEN, OwnStatements
from agents.retrieval.query_augmenter import QueryAugmenter
from agents.retrieval.reranker import Reranker
from agents.retrieval.retriever import Fusion, Retriever
from agents.retrieval.score_judge import ScoreJudge
from assistant.search.searching import Searching
from assistant.turns.events import Accepted, Chosen, Event, Finished, Searched, Wrote
from assistant.turns.memory_talk import MemoryTalk
from assistant.turns.pipeline import TurnPipeline
from stores.base.errors import ContextTooLong, ModelUnreachable, WrongUsage
from stores.base.passages import SHARED
from stores.conversation.journal import Journal
from stores.conversation.sessions import Sessions
from stores.database.database import Database
from stores.memory.catalogue import Catalogue
from stores.memory.documents import NewDocument, NewPassage, StoredDocuments
from stores.memory.edits import Knowledge
from stores.search.indexer import Indexer
from stores.search.shared_index import SharedIndex
from stores.search.spaces import Spaces

Reply = Callable[[ReplyRequest], AsyncIterator[Piece]]


class House:
    """Real stores and a pipeline over them."""

    def __init__(
        self,
        folder: Path,
        reply: Reply,
        *,
        context_tokens: int | None = None,
        augmenter: QueryAugmenter | None = None,
        versions_called: Callable[[str], list[int]] = lambda name: [],
    ) -> None:
        encoder = FixedEncoder(
            {"The room opens at ten.": (1, 0, 0, 0), "When does the room open?": (1, 0, 0, 0)}
        )
        self.database = Database.at(folder)
        self.journal, self.sessions = Journal(self.database), Sessions(self.database)
        self.stored_documents = StoredDocuments(self.database)
        self.catalogue = Catalogue(self.database)
        shared_index = SharedIndex(
            self.database,
            name="none",
            encoder_version=encoder.version,
            dimension=4,
            exact_up_to=100,
            open_index=lambda _writes: None,
        )
        self.spaces = Spaces(
            self.database, encoder_version=encoder.version, dimension=4, shared_index=shared_index
        )
        self.indexer = Indexer(
            self.database,
            encoder_version=encoder.version,
            encode=encoder.encode_passages,
            shared_index=shared_index,
        )
        retriever = Retriever(encoder, keep=10, pool=10, fusion=Fusion(0.5, 0.0, 0.4))
        searching = Searching(encoder, self.spaces, retriever, self.indexer, shared_index)
        self.chat = FakeChat(reply, name="scripted", context_tokens=context_tokens)
        self.memory = MemoryTalk(
            self.journal,
            augmenter=augmenter or QueryAugmenter(),
            reranker=Reranker(ScoreJudge(), schedule="multi", budget=10, min_judged=1),
            cut=lambda text: text.split("\n\n"),
            history_turns=3,
            own_statements=OwnStatements(),
            asks_for_outline=lambda question: question == "summarise it",
        )
        self.pipeline = TurnPipeline(
            journal=self.journal,
            searching=lambda: searching,
            memory=self.memory,
            responder=Responder(self.chat, keep=3, reply_tokens=16),
            cut=lambda text: text.split("\n\n"),
            documents_called=lambda user_id, name: versions_called(name),
        )
        self.encoder = encoder
        self.ann = self.journal.user_id("ann")
        self.session = self.journal.open_session(self.ann)

    def share(self, *texts: str) -> None:
        passages = tuple(NewPassage("", text) for text in texts)
        plan = self.stored_documents.plan(SHARED, [NewDocument("rules", "Rules", "hash", passages)])
        receipt = self.stored_documents.open_receipt(self.ann, SHARED, "rules")
        vectors = self.encoder.encode_passages(plan.texts_to_encode())
        self.stored_documents.store(plan, vectors, encoder_version=self.encoder.version, receipt_id=receipt)

    async def say(self, message: str, **more: str) -> list[Event]:
        events = self.pipeline.take(self.ann, self.session, message, **more)
        return [event async for event in events]


async def ten(_request: ReplyRequest) -> AsyncIterator[str]:
    yield "At ten "
    yield "[1]."


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, ten)


async def test_a_turn_tells_its_steps_in_order(house: House) -> None:
    house.share("The room opens at ten.")
    events = await house.say("When does the room open?")
    assert [type(event) for event in events] == [Accepted, Searched, Chosen, Wrote, Wrote, Finished]


async def test_who_asks_what_stands_in_a_document_is_given_its_parts_in_order(tmp_path: Path) -> None:
    house = House(tmp_path, ten, versions_called=lambda name: [1, 2, 3, 99] if name == "rules" else [])
    house.share("The room opens at ten.", "The lamps are old.", "The stairs creak.")
    events = await house.say("@rules summarise it")
    chosen = next(event for event in events if isinstance(event, Chosen))
    texts = ["The room opens at ten.", "The lamps are old.", "The stairs creak."]
    assert [each.passage.text for each in chosen.sources] == texts
    assert house.chat.requests[-1].outlines
    await house.say("@rules when does it open?")
    assert not house.chat.requests[-1].outlines


class AsksAboutTheRoom:
    def __init__(self) -> None:
        self.read: list[object] = []
        self.earlier: list[object] = []

    def read_ahead(self, earlier: object) -> None:
        self.read.append(earlier)

    def begin(self, _question: str, earlier: object) -> Future[str]:
        self.earlier.append(earlier)
        written: Future[str] = Future()
        written.set_result("When does the room open?")
        return written


async def test_a_follow_up_is_searched_as_it_stands_alone_too(tmp_path: Path) -> None:
    asks = AsksAboutTheRoom()
    house = House(tmp_path, ten, augmenter=QueryAugmenter(lambda: asks, seconds=1))
    house.share("The room opens at ten.")
    await house.say("hello")
    events = await house.say("and when?")
    searched = next(event for event in events if isinstance(event, Searched))
    dense = {candidate.passage.text: candidate.dense for candidate in searched.candidates}
    assert dense["The room opens at ten."] == pytest.approx(1)
    turn = house.journal.turn(house.ann, events[0].turn_id)  # type: ignore[union-attr]
    assert turn.standalone == "When does the room open?"
    await house.say("and today?")
    assert asks.read[:-1] == asks.earlier
    assert len(asks.earlier) == 2


async def test_the_answer_and_what_explains_it_are_kept(house: House) -> None:
    house.share("The room opens at ten.")
    finished = (await house.say("When does the room open?"))[-1]
    assert isinstance(finished, Finished)
    turn = house.journal.turn(house.ann, finished.turn_id)
    assert (turn.state, turn.answer, turn.model) == ("done", "At ten [1].", "scripted")
    (found,) = house.journal.found_in(house.ann, finished.turn_id)
    assert (found.found_rank, found.final_rank, found.citation) == (1, 1, 1)
    assert turn.details["cited"] == [1]
    assert {"augment", "retrieve", "rerank", "respond", "first word"} <= turn.details["milliseconds"].keys()


async def test_what_the_user_said_of_it_comes_first_and_is_kept_as_given(house: House) -> None:
    house.share("The room opens at ten.")
    Knowledge(house.database).remember(house.ann, "I moved to Brussels.", kind="fact")
    finished = (await house.say("Where do I live?"))[-1]
    assert isinstance(finished, Finished)
    (request,) = house.chat.requests
    assert [source.passage.text for source in request.sources] == [
        "I moved to Brussels.",
        "The room opens at ten.",
    ]
    first, second = house.journal.found_in(house.ann, finished.turn_id)
    assert (first.citation, first.found_rank, second.found_rank) == (1, 1, 2)
    given = house.journal.turn(house.ann, finished.turn_id).details["given"]
    assert given == {str(first.version_id): GIVEN}


async def test_the_message_is_durable_before_the_model_is_asked(tmp_path: Path) -> None:
    seen: list[str] = []

    async def look(_request: ReplyRequest) -> AsyncIterator[str]:
        seen.extend(turn.message for turn in house.journal.turns(house.ann, house.session))
        yield "x"

    house = House(tmp_path, look)
    await house.say("Is it kept?")
    assert seen == ["Is it kept?"]


async def test_stopped_is_stopped_also_where_the_model_calls_that_a_failure(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def hangs(_request: ReplyRequest) -> AsyncIterator[str]:
        yield "It opens"
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise ModelUnreachable("the connection was closed") from None

    house = House(tmp_path, hangs)
    saying = asyncio.create_task(house.say("When does the room open?"))
    await begun.wait()
    saying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await saying
    turn = house.journal.last_turn(house.ann)
    assert (turn.state, turn.answer, turn.failure) == ("stopped", "It opens", "")


async def test_a_message_does_not_find_itself(house: House) -> None:
    searched = (await house.say("The reading room is warm."))[1]
    assert isinstance(searched, Searched)
    assert searched.candidates == ()


async def test_what_was_said_is_found_in_the_next_turn_and_by_nobody_else(house: House) -> None:
    await house.say("My cat is called Ada.")
    searched = (await house.say("What is my cat called?"))[1]
    assert isinstance(searched, Searched)
    assert [c.passage.text for c in searched.candidates] == ["My cat is called Ada."]

    bob = house.journal.user_id("bob")
    theirs = house.journal.open_session(bob)
    events = [event async for event in house.pipeline.take(bob, theirs, "What is my cat called?")]
    searched = events[1]
    assert isinstance(searched, Searched)
    assert searched.candidates == ()


async def test_the_assistants_words_are_not_searched(house: House) -> None:
    await house.say("Say something.")
    searched = (await house.say("ten"))[1]
    assert isinstance(searched, Searched)
    assert all("At ten" not in c.passage.text for c in searched.candidates)


async def test_a_follow_up_is_searched_with_what_was_asked_before_and_answered_as_written(
    house: House,
) -> None:
    await house.say("When does the room open on Mondays?")
    searched = (await house.say("and on Sundays?"))[1]
    assert isinstance(searched, Searched)
    assert searched.query.text == "and on Sundays? (after: When does the room open on Mondays? At ten .)"
    assert house.chat.requests[-1].message == "and on Sundays?"


async def test_what_no_database_can_hold_costs_itself_and_not_the_turn(house: House) -> None:
    house.share("The room opens at ten.")
    events = await house.say("When does the\0 room open, caf\udce9?", material="nul\0 caf\udce9")
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert finished.state == "done"
    request = house.chat.requests[-1]
    for told in (request.message, request.question, *(message.content for message in request.messages)):
        assert "\0" not in told
        assert "\udce9" not in told
    turn = house.journal.turn(house.ann, finished.turn_id)
    assert (turn.message, turn.state) == ("When does the\ufffd room open, caf??", "done")
    assert turn.standalone == turn.message


async def test_nothing_found_is_no_answer_of_a_model_that_is_gone(tmp_path: Path) -> None:
    async def is_gone(_request: ReplyRequest) -> AsyncIterator[str]:
        raise ModelUnreachable("the server went away")
        yield ""

    async def finds_nothing(_request: ReplyRequest) -> AsyncIterator[str]:
        yield NOTHING_FOUND

    house = House(tmp_path, is_gone)
    house.pipeline._quoting = lambda: Responder(FakeChat(finds_nothing, name="quotes"), keep=3)
    finished = (await house.say("When?"))[-1]
    assert isinstance(finished, Finished)
    assert isinstance(finished.error, ModelUnreachable)
    turn = house.journal.turn(house.ann, finished.turn_id)
    assert (turn.state, turn.answer, turn.model) == ("failed", "", "scripted")
    assert "in_place_of" not in turn.details


async def test_a_failed_reply_keeps_its_part(tmp_path: Path) -> None:
    async def breaks(_request: ReplyRequest) -> AsyncIterator[str]:
        yield "At "
        raise ModelUnreachable("the server went away")

    house = House(tmp_path, breaks)
    finished = (await house.say("When?"))[-1]
    assert isinstance(finished, Finished)
    assert isinstance(finished.error, ModelUnreachable)
    turn = house.journal.turn(house.ann, finished.turn_id)
    assert (turn.state, turn.answer, turn.failure) == ("failed", "At ", "the server went away")


async def test_a_stopped_reply_keeps_its_part(tmp_path: Path) -> None:
    has_begun = asyncio.Event()

    async def never_ends(_request: ReplyRequest) -> AsyncIterator[str]:
        yield "At "
        has_begun.set()
        await asyncio.Event().wait()

    house = House(tmp_path, never_ends)
    task = asyncio.create_task(house.say("When?"))
    await has_begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (turn,) = house.journal.turns(house.ann, house.session)
    assert (turn.state, turn.answer) == ("stopped", "At ")


async def test_a_defect_is_kept_as_a_failure_and_raised(tmp_path: Path) -> None:
    async def is_broken(_request: ReplyRequest) -> AsyncIterator[str]:
        yield "At "
        raise ZeroDivisionError

    house = House(tmp_path, is_broken)
    with pytest.raises(ZeroDivisionError):
        await house.say("When?")
    (turn,) = house.journal.turns(house.ann, house.session)
    assert (turn.state, turn.failure) == ("failed", "ZeroDivisionError")


async def test_an_empty_message_is_refused_and_not_kept(house: House) -> None:
    with pytest.raises(WrongUsage):
        await house.say("  \n ")
    assert house.journal.turns(house.ann, house.session) == []


async def test_material_is_put_before_the_model_and_not_remembered(house: House) -> None:
    chosen = (await house.say("When does the room open?", material="The room opens at ten."))[2]
    assert isinstance(chosen, Chosen)
    assert [(s.passage.kind, s.passage.text) for s in chosen.sources] == [
        ("material", "The room opens at ten.")
    ]
    assert [line.text for line in house.catalogue.lines(house.ann)] == ["When does the room open?"]


async def test_nothing_is_encoded_before_the_first_word_but_the_query(house: House) -> None:
    encoded: list[str] = []
    original = house.encoder.encode_queries

    def counting(texts: list[str]):  # type: ignore[no-untyped-def]
        encoded.extend(texts)
        return original(texts)

    house.encoder.encode_queries = counting  # type: ignore[method-assign,assignment]
    async for event in house.pipeline.take(house.ann, house.session, "When does the room open?"):
        if isinstance(event, Wrote):
            break
    assert encoded == ["When does the room open?"]


async def test_what_a_server_takes_for_too_long_is_asked_once_more_in_short(tmp_path: Path) -> None:
    requests: list[ReplyRequest] = []

    async def too_long(request: ReplyRequest) -> AsyncIterator[Piece]:
        requests.append(request)
        if len(requests) in (2, 3):
            raise ContextTooLong("maximum context length")
        yield "At ten."

    house = House(tmp_path, too_long)
    await house.say("When does the room open?")
    finished = (await house.say("When does the room open?"))[-1]
    assert isinstance(finished, Finished)
    assert finished.state == "failed"  # it was asked once more, and not a third time
    finished = (await house.say("When does the room open?"))[-1]
    assert isinstance(finished, Finished)
    assert (finished.state, finished.answer) == ("done", "At ten.")
    _, first, second, _ = requests
    assert len(second.sources) == len(first.sources) // 2
    assert len(second.history) == len(first.history) // 2 == 0
    left_out = house.journal.turn(house.ann, finished.turn_id - 1).details["left_out"]
    assert {entry["kind"] for entry in left_out} == {"passage", "turn"}


async def test_a_cut_reply_is_told_and_kept_as_cut(tmp_path: Path) -> None:
    async def too_long(_request: ReplyRequest) -> AsyncIterator[Piece]:
        yield "At ten and"
        yield CutAtLimit(16)

    house = House(tmp_path, too_long)
    finished = (await house.say("When?"))[-1]
    assert isinstance(finished, Finished)
    assert (finished.state, finished.answer, finished.cut) == ("done", "At ten and", CutAtLimit(16))
    assert house.journal.turn(house.ann, finished.turn_id).details["is_cut"] is True


async def test_a_whole_reply_is_not_kept_as_cut(house: House) -> None:
    finished = (await house.say("When?"))[-1]
    assert isinstance(finished, Finished)
    assert finished.cut is None
    assert house.journal.turn(house.ann, finished.turn_id).details["is_cut"] is False


async def test_where_the_model_runs_is_kept_with_the_turn(house: House) -> None:
    for server in ("", "api.example.com"):
        house.pipeline._server = server
        finished = (await house.say("When?"))[-1]
        assert isinstance(finished, Finished)
        assert house.journal.turn(house.ann, finished.turn_id).details["sent_to"] == server


async def test_what_did_not_fit_is_told_and_kept_with_the_turn(tmp_path: Path) -> None:
    house = House(tmp_path, ten, context_tokens=256)
    long = "The room opens at ten. " + "And so on. " * 100
    house.encoder._known = {**house.encoder._known, long: (1, 0, 0, 0)}
    house.share(long)
    events = await house.say("When does the room open?")
    chosen, finished = events[2], events[-1]
    assert isinstance(chosen, Chosen)
    assert isinstance(finished, Finished)
    assert chosen.sources == ()
    (left_out,) = chosen.left_out
    (found,) = house.journal.found_in(house.ann, finished.turn_id)
    assert (left_out.kind, left_out.id) == ("passage", found.version_id)
    assert found.citation is None
    kept = house.journal.turn(house.ann, finished.turn_id).details["left_out"]
    assert [LeftOut(**entry) for entry in kept] == [left_out]


async def test_an_earlier_turn_that_did_not_fit_is_named_by_its_id(tmp_path: Path) -> None:
    async def at_length(_request: ReplyRequest) -> AsyncIterator[str]:
        yield "word " * 300

    house = House(tmp_path, at_length, context_tokens=256)
    first = (await house.say("When?"))[0]
    chosen = (await house.say("Where is the door?"))[2]
    assert isinstance(first, Accepted)
    assert isinstance(chosen, Chosen)
    assert ("turn", first.turn_id) in [(entry.kind, entry.id) for entry in chosen.left_out]


async def test_a_message_that_cannot_fit_fails_before_the_model_is_asked(tmp_path: Path) -> None:
    house = House(tmp_path, ten, context_tokens=256)
    finished = (await house.say("why " * 300))[-1]
    assert isinstance(finished, Finished)
    assert isinstance(finished.error, ContextTooLong)
    assert house.chat.requests == []
