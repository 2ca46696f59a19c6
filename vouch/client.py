"""One user's Vouch."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, overload

from stores.base.errors import NotFound, UnreadableDocument, VouchError, WrongUsage
from vouch.conversations import Conversation, Messages, exchanges, read_conversation, session_for
from vouch.results import Answer, Forgotten, Found, Ingested, Receipt, Source, Version, Why, WhyRow

if TYPE_CHECKING:
    from agents.retrieval.retriever import Retrieved
    from assistant.turns.events import Event, Finished
    from assistant.wiring.assistant import Assistant
    from stores.claims.decisions import Learned

P = ParamSpec("P")
T = TypeVar("T")
_EMBEDDED_AT_ONCE = 16
_LOOKS_UP_SECONDS = 0.1  # whether Ctrl+C was pressed meanwhile
_ALIKE = 0.2  # cosine under which a passage without a shared word is no find


class Vouch:
    """The memory of one user, who is bound here; to be closed, or used with `with`."""

    _patience: float | None
    _closes: bool

    def __init__(
        self,
        user: str | None = None,
        *,
        data: str | Path | None = None,
        settings: str | Path | None = None,
        offline: bool = False,
    ) -> None:
        """user: as --user; None takes VOUCH_USER or the login name. data, settings: as on the command line.

        offline: nothing is downloaded. Raises a `VouchError` where settings or stores cannot be used.
        """
        from assistant.settings.identity import key_for, user_name
        from assistant.settings.locations import find_locations
        from assistant.settings.settings_file import load_settings
        from assistant.wiring.assistant import Assistant

        name = user_name(user, os.environ)
        self._closes, self._patience = True, None
        places = find_locations(
            os.environ, data=str(data) if data else None, settings=str(settings) if settings else None
        )
        loaded = load_settings(places.settings, environ=os.environ, explicit=places.settings_are_named)
        key = key_for(loaded, loaded.model, os.environ)
        self._assistant = Assistant(loaded, places, api_key=key, offline=offline)
        try:
            self._user_id = self._assistant.stores.journal.user_id(name)
            self._assistant.catch_up()
        except BaseException:
            self._assistant.close()
            raise

    @classmethod
    def of(cls, assistant: Assistant, user: str, *, patience: float | None = None) -> Self:
        """One of several users of a running Vouch, as a server has them; closing it closes nothing.

        patience: seconds that an answer waits for what its question taught.
        """
        from assistant.settings.identity import user_name

        made = cls.__new__(cls)
        made._assistant, made._closes, made._patience = assistant, False, patience
        made._user_id = assistant.stores.journal.user_id(user_name(user, {}))
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of models and stores. What is not remembered yet is remembered at the next start."""
        if self._closes:
            self._assistant.close()

    def _between_turns(self, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """On the one thread on which models run and turns are answered."""
        return self._assistant.turns.pipeline.between_steps(lambda: work(*given, **named))

    @overload
    def add(self, what: str) -> Receipt: ...

    @overload
    def add(self, what: Messages) -> list[Receipt]: ...

    def add(self, what: str | Messages) -> Receipt | list[Receipt]:
        """Keeps a text as a note; or a conversation, of which what its user states is remembered.

        A conversation becomes a session. Its system messages and tool calls are passed over.
        """
        if isinstance(what, str):
            if not what.strip():
                raise WrongUsage("there is nothing to add")
            passage, receipt = self._between_turns(
                self._assistant.stores.knowledge.remember, self._user_id, what
            )
            self._between_turns(lambda: self._assistant.search.indexer.catch_up())
            return Receipt(receipt, passage, what.strip())
        said = exchanges(what)
        if not said:
            raise WrongUsage("there is nothing to add: no message of a user")
        session = self._assistant.stores.journal.open_session(self._user_id)
        for message, reply in said:
            self._between_turns(self._assistant.turns.pipeline.keep, self._user_id, session, message, reply)
        self._between_turns(lambda: self._assistant.search.indexer.catch_up())
        return self._remembered()

    def search(self, query: str, limit: int = 10) -> list[Found]:
        """Passages of the user's and of the shared memory, the best first."""
        if not query.strip():
            raise WrongUsage("there is nothing to search for")
        if limit < 1:
            raise WrongUsage("limit is to be at least 1")
        found = self._between_turns(self._retrieved, query, limit)
        return [
            Found(
                each.passage.passage_id,
                each.passage.text,
                each.passage.kind,
                each.passage.scope,
                each.passage.title,
                each.passage.source,
                each.score,
                each.passage.created_at,
            )
            for each in found.candidates[:limit]
            if each.lexical > 0 or each.dense >= _ALIKE
        ]

    def _retrieved(self, query: str, limit: int) -> Retrieved:
        searching = self._assistant.search.searching
        retriever = self._assistant.search.retriever_keeping(searching.encoder, limit)
        return retriever.retrieve(query, searching.spaces.of(self._user_id))

    def ask(self, question: str | Messages, session: int | None = None, *, material: str = "") -> Answer:
        """Answers, and remembers what the question states. material: a text to answer from.

        question: or a conversation, of which the last message is answered. It goes on in the session that
        holds the earlier ones; what no session holds is kept to be read, and not learned from.

        session: of an earlier answer; without one it begins a new one. Raises the `VouchError` for which no
        model answered; the message is kept all the same.
        """
        with self.stream(question, session, material=material) as pieces:
            for _ in pieces:
                pass
            return pieces.answer

    def stream(
        self,
        question: str | Messages,
        session: int | None = None,
        *,
        material: str = "",
        tools: Sequence[Mapping[str, Any]] = (),
        tool_choice: object = None,
        is_kept: bool = True,
    ) -> AnswerStream:
        """The same, piece by piece, within `with`; leaving it early stops the reply, and its part is kept.

        is_kept: otherwise nothing of a conversation is remembered or found again. tools: offered to the chat
        model, in OpenAI's form; its calls are raised as `ToolsAsked`, and their results go along next time.
        """
        if isinstance(question, str):
            if not question.strip():
                raise WrongUsage("there is no question")
            conversation = Conversation(question, is_kept=is_kept)
        else:
            conversation = read_conversation(question, tools=tools, tool_choice=tool_choice, is_kept=is_kept)
        if conversation.images:
            self._assistant.turns.host.check_images()
        if conversation.tools is not None:
            self._assistant.turns.pipeline.check_tools()
        behind = instead_of = None
        if session is None:
            session, behind, instead_of = session_for(self._assistant, self._user_id, conversation)
        else:
            if not is_kept:
                raise WrongUsage("what is not to be kept cannot go on in a session", hint="Name no session.")
            self._check_open(session)
            if conversation.tools is not None and conversation.tools.rounds:
                instead_of = self._unanswered(session, conversation.message)
        return AnswerStream(self, conversation, session, behind, instead_of, material)

    def _unanswered(self, session: int, message: str) -> int | None:
        """The last turn of a session, where it has this message and no answer."""
        tree = self._assistant.stores.sessions.tree(self._user_id, session)
        last = next((turn for turn in tree.turns if tree.branch and turn.id == tree.branch[-1]), None)
        return last.id if last is not None and (last.message, last.answer) == (message, "") else None

    def _check_open(self, session: int) -> None:
        """Raises `NotFound` for a session that is not the user's, and for a private one."""
        journal = self._assistant.stores.journal
        journal.check_session(self._user_id, session)
        if journal.is_private(self._user_id, session):
            raise NotFound(f"session {session} is private", hint="Go on with it in `vouch chat`.")

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors by which passages with these texts are found, each of length 1."""
        encoder, found = self._assistant.search.searching.encoder, []
        for start in range(0, len(texts), _EMBEDDED_AT_ONCE):  # answers come in between
            some = texts[start : start + _EMBEDDED_AT_ONCE]
            found += [row.tolist() for row in self._between_turns(encoder.encode_passages, some)]
        return found

    def why(self, turn: int) -> Why:
        """What an answer was made from. Raises `NotFound` where the user has no such turn."""
        from assistant.terminal.facts.why import why_facts

        self._check_open(self._assistant.stores.journal.turn(self._user_id, turn).session_id)
        facts = self._between_turns(why_facts, self._assistant, self._user_id, turn)
        rows = tuple(
            WhyRow(each.passage_id, each.name, each.used, each.scope, each.score, each.judged)
            for each in facts.rows
        )
        return Why(turn, facts.message, facts.searched, facts.model, rows, facts.milliseconds)

    def history(self, passage: int) -> list[Version]:
        """Every text that a passage has had, the oldest first. Raises `NotFound`."""
        versions = self._assistant.stores.catalogue.history(self._user_id, passage).versions
        return [Version(each.number, each.text, each.author, each.created_at) for each in versions]

    def forget(self, *passages: int) -> Forgotten:
        """Forgets passages of the user's for good, with what was learned from them."""
        from assistant.terminal.actions.forgetting import forget_for_good

        if not passages:
            raise WrongUsage("no passage is named")
        gone, told = self._between_turns(forget_for_good, self._assistant, self._user_id, passages)
        return Forgotten(
            tuple(line.passage_id for line in gone.lines),
            tuple(line.passage_id for line in gone.with_them),
            tuple(told),
        )

    def undo(self, receipt: Receipt | int | None = None) -> list[int]:
        """Takes a write back, or the latest with all that its message taught. Returns the receipts."""
        knowledge = self._assistant.stores.knowledge
        if receipt is None:
            latest = self._between_turns(knowledge.undo_latest, self._user_id)
            return [each.id or 0 for each in latest.receipts]
        number = receipt.id if isinstance(receipt, Receipt) else receipt
        undone, _ = self._between_turns(knowledge.undo, self._user_id, number)
        return [undone.id or 0]

    def ingest(self, path: str | Path, *, into: str | None = None) -> list[Ingested]:
        """Reads a file or a folder into the user's memory. into: the collection that it comes into."""
        from assistant.library import documents
        from assistant.library import ingest as library
        from assistant.library.reading import read_files
        from assistant.library.shelf import folders
        from stores.base.passages import own_space

        place = Path(path).expanduser()
        found = documents.find_documents([place])
        known = self._assistant.stores.library.all(self._user_id)
        became = [Ingested(each.source, "unread", 0, each.message) for each in found.unreadable]
        with closing(read_files(found.files, self._assistant.given.settings.scale)) as to_read:
            steps = self._assistant.turns.ingest.run(
                self._user_id,
                own_space(self._user_id),
                to_read,
                summary=f"ingested {place}",
                into=into if into is not None else folders([place], known, shared=False),
            )
            for step in steps:
                if isinstance(step, UnreadableDocument):
                    became.append(Ingested(step.source, "unread", 0, step.message))
                elif isinstance(step, library.Ingested):
                    became.append(Ingested(step.source, step.change, step.passages))
        return became

    def export(self) -> Iterator[dict[str, Any]]:
        """The user's memory as `vouch memory export` writes it, a line each."""
        for line in self._assistant.stores.memory_export.lines(self._user_id, scope="yours"):
            yield dict(line)

    def feedback(self, turn: int, *, good: bool | None = None, teach: str | None = None) -> Receipt | None:
        """Rates an answer, or teaches what it should have said; the receipt of what was taught."""
        from assistant.terminal.actions.rating import rate
        from assistant.terminal.actions.teaching import says_something
        from assistant.terminal.actions.teaching import teach as keep_correction

        if (good is None) == (teach is None):
            raise WrongUsage("say one of good and teach")
        if teach is None:
            self._between_turns(rate, self._assistant, self._user_id, turn, "good" if good else "bad")
            return None
        if not says_something(teach):
            raise WrongUsage("it says nothing by itself, and was not kept", hint="Write a sentence.")
        self._assistant.stores.journal.turn(self._user_id, turn)
        said = teach.strip()

        def taught() -> tuple[int, int | None]:
            passage = keep_correction(self._assistant, self._user_id, turn, said)
            return passage, self._assistant.stores.knowledge.receipts(self._user_id, limit=1)[0].id

        passage, receipt = self._between_turns(taught)
        return Receipt(receipt or 0, passage, said)

    def _remembered(self) -> list[Receipt]:
        """What was stated is remembered now; a model that is down has it wait."""
        learned: list[Learned] = []
        begun = self._assistant.turns.host.remembering(self._user_id, learned.append)
        with suppress(VouchError, TimeoutError):  # the model is down or busy, and it waits
            begun.result(self._patience)
        return [
            Receipt(each.receipt_id, each.passage_id, each.text, each.scope)
            for each in list(learned)
            if each.receipt_id is not None
        ]


class AnswerStream:
    """The pieces of an answer as they come; whole, it is in `answer`."""

    def __init__(
        self,
        vouch: Vouch,
        asked: Conversation,
        session: int,
        behind: int | None,
        instead_of: int | None,
        material: str,
    ) -> None:
        self._vouch, self._asked, self.session, self._material = vouch, asked, session, material
        self._behind, self._instead_of = behind, instead_of
        self._events: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._playing: Future[Finished] | None = None
        self._answer: Answer | None = None
        from assistant.turns.host import Sending

        self._sending = Sending()

    @property
    def answer(self) -> Answer:
        """The whole answer, once its pieces have come."""
        if self._answer is None:
            raise WrongUsage("the answer is not whole yet", hint="Read its pieces to their end.")
        return self._answer

    def __enter__(self) -> Self:
        """Returns once the message is durable, or could not be kept: reading its pieces raises why."""
        import asyncio
        from threading import Event as Flag

        from assistant.turns.events import Accepted, Wrote

        is_kept = Flag()
        host = self._vouch._assistant.turns.host

        def watch(event: Event) -> None:
            if isinstance(event, Accepted):
                is_kept.set()
            if isinstance(event, Wrote):
                self._events.put(event.text)

        with host.announced(self._sending):
            self._playing = asyncio.run_coroutine_threadsafe(
                host.playing(
                    self._sending,
                    self._vouch._user_id,
                    self.session,
                    self._asked.message,
                    images=self._asked.images,
                    instead_of=self._instead_of,
                    behind=self._behind,
                    tools=self._asked.tools,
                    watch=watch,
                    material=self._material,
                ),
                host.loop,
            )
        self._playing.add_done_callback(lambda _: self._events.put(None))
        self._playing.add_done_callback(lambda _: is_kept.set())
        try:
            while not is_kept.wait(_LOOKS_UP_SECONDS):
                pass
        except BaseException:  # nobody would call `__exit__`
            self.stop()
            raise
        return self

    def __iter__(self) -> Iterator[str]:
        assert self._playing is not None, "it is used with `with`"
        while (piece := self._events.get()) is not None:
            yield piece
        finished = self._playing.result()
        if finished.error is not None:
            raise finished.error
        self._answer = self._told(finished)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._playing is not None and not self._playing.done():
            self.stop()
            with suppress(BaseException):  # it stays as it ended
                self._playing.result()

    def stop(self) -> None:
        """Ends the reply, from any thread; the part that had come is kept."""
        self._sending.stop()

    def _told(self, finished: Finished) -> Answer:
        from agents.backends.extractive import is_sure, is_told

        cited = {source.number for source in finished.cited}
        sources = tuple(
            Source(
                each.number,
                each.passage.passage_id,
                each.passage.text,
                each.passage.scope,
                each.passage.title,
                each.number in cited,
            )
            for each in finished.sources
        )
        sure = is_sure(finished.answer) and is_told(finished.answer)
        receipts = tuple(self._vouch._remembered())
        turn = self._vouch._assistant.stores.journal.turn(self._vouch._user_id, finished.turn_id)
        counted = turn.details.get("tokens")
        return Answer(
            finished.turn_id,
            self.session,
            finished.answer,
            sure,
            sources,
            receipts,
            turn.model,
            (counted["sent"], counted["written"]) if counted else None,
            finished.cut is not None,
            finished.unreachable.message if finished.unreachable else "",
        )
