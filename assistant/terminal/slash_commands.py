"""What is typed with a slash in front: each command says its lines, and does what they tell."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from agents.sentences import asks_only
from assistant.one_line import one_line, short
from assistant.terminal.answer_lines import why_lines
from assistant.terminal.forgetting import forget_for_good, sure_to_forget
from assistant.terminal.memory_history import claim_lines, deciding_versions, history_lines
from assistant.terminal.sharing import share_memory, shared_line
from assistant.terminal.teaching import teach
from assistant.terminal.training import steer_training
from stores.errors import NotFound

if TYPE_CHECKING:
    from assistant.wiring import Assistant
    from stores.catalogue import PassageLine
    from stores.records import Turn

SLASH_COMMANDS = {
    "/help": "what can be typed here",
    "/remember": "TEXT: keep a note in your own memory",
    "/forget": "ID or WORDS: forget a passage for good; words find its ID",
    "/undo": "[RECEIPT]: take a write back, your latest when none is named",
    "/memory": "[WORDS or ID]: list what is remembered of you, with words also what you said; one whole",
    "/why": "[TURN]: what the last answer was made from",
    "/good": "[TURN]: the last answer, or that turn's, helped",
    "/bad": "[TURN or WHY]: it did not help",
    "/teach": "TEXT: what the last answer should have said",
    "/share": "ID: offer a memory of yours to every user, through the check",
    "/ingest": "PATH: read a document into your own memory",
    "/train": "[start, stop, pause, continue or back]: how training goes, and steering it",
    "/sessions": "list your sessions",
    "/new": "[TITLE]: begin a new session",
    "/private": "begin a session of which nothing is remembered",
    "/quit": "leave (also Ctrl+D)",
}


class SlashCommands:
    """The commands of one chat, and what they change of it: which session is on, and whether it is over."""

    def __init__(
        self,
        assistant: Assistant,
        user_id: int,
        session_id: int,
        *,
        ask: Callable[[], str | None],
        is_asked: bool,
        learn: Callable[[], None],
    ) -> None:
        """is_asked: somebody is there to answer what `ask` reads. learn: has what was stated remembered."""
        self._assistant = assistant
        self._user_id = user_id
        self.session_id = session_id
        self.is_over = False
        self._ask = ask
        self._is_asked = is_asked
        self._learn = learn

    def run(self, line: str) -> Iterator[str]:
        """Carries out a line that opens with a slash; yields what is said of it, line by line."""
        name, _, rest = line.partition(" ")
        if name not in SLASH_COMMANDS:
            near = difflib.get_close_matches(name.lower(), SLASH_COMMANDS, n=1, cutoff=0.6)
            meant = f"Did you mean {near[0]}? " if near else ""
            yield (
                f"There is no command {one_line(name)}. {meant}"
                "/help lists them; // sends a line with a slash."
            )
            return
        run: Callable[[str], Iterator[str]] = getattr(self, f"_{name[1:]}")
        yield from run(rest.strip())

    def _help(self, _rest: str) -> Iterator[str]:
        for name, about in SLASH_COMMANDS.items():
            yield f"{name:<10} {about}"

    def _remember(self, text: str) -> Iterator[str]:
        if not text:
            yield "Write what to remember: /remember I take my tea without milk."
            return
        passage_id, _ = self._assistant.knowledge.remember(self._user_id, text)
        self._assistant.indexer.catch_up()
        yield f"Remembered, yours, as {passage_id}: “{short(text)}”. /undo takes it back."

    def _forget(self, text: str) -> Iterator[str]:
        ids = [_number(word) for word in text.split()]
        if not ids or None in ids:
            yield from self._could_be_forgotten(text)
            return
        named = [number for number in ids if number is not None]
        if self._is_asked:
            for passage_id in named:
                passage = self._assistant.catalogue.history(self._user_id, passage_id).passage
                yield f"{passage_id:>5}  {passage.kind:<10}  {short(passage.text)}"
            yield sure_to_forget(len(named))
            if (self._ask() or "").strip().lower() not in ("y", "yes"):
                yield "Nothing was forgotten."
                return
        forgotten, told = forget_for_good(self._assistant, self._user_id, named)
        for passage in forgotten.lines:
            yield f"Forgotten: “{short(passage.text)}”."
        for passage in forgotten.with_them:
            yield f"Forgotten with it: “{short(passage.text)}”."
        yield from told

    def _could_be_forgotten(self, words: str) -> Iterator[str]:
        """What the words may mean: nothing is forgotten by words alone."""
        lines = self._assistant.catalogue.lines(self._user_id, scope="yours", query=words, limit=20)
        if not words or not lines:
            if words:
                yield f"Nothing of yours says {one_line(words)}."
            yield "Name the passage by its number: /forget 12. /memory lists them."
            return
        for passage in lines:
            yield f"{passage.passage_id:>5}  {passage.kind:<10}  {short(passage.text)}"
        yield f"Name the one that is meant: /forget {lines[0].passage_id}"

    def _undo(self, text: str) -> Iterator[str]:
        number = _number(text)
        if text and number is None:
            yield "Name the write by its receipt: /undo 7. Without one it is the latest."
            return
        newest = next(iter(self._assistant.knowledge.receipts(self._user_id, limit=1)), None)
        if number is None:
            said = self._latest_statement(since=newest.created_at if newest else None)
            yield from _what_stays(said)
            if said and newest is None:
                return
        receipt, back = self._assistant.knowledge.undo(self._user_id, number)
        self._assistant.indexer.catch_up()
        yield f"Undone: {receipt.action} “{short(receipt.summary)}”."
        for passage in back:
            yield f"Back: {passage.passage_id} “{short(passage.text)}”."
        if receipt.turn_id is not None and receipt.action != "delete":
            yield from _what_stays(self._assistant.catalogue.said_in(self._user_id, receipt.turn_id))

    def _latest_statement(self, *, since: datetime | None) -> list[PassageLine]:
        """The live passages of what was last told in this session, when that is newer than a moment."""
        for turn in reversed(self._assistant.journal.turns(self._user_id, self.session_id)):
            if since is not None and turn.accepted_at <= since:
                return []
            if not asks_only(turn.message):
                return self._assistant.catalogue.said_in(self._user_id, _known(turn.id))
        return []

    def _memory(self, words: str) -> Iterator[str]:
        catalogue = self._assistant.catalogue
        number = _number(words)
        if number is not None:
            with suppress(NotFound):  # then it is a word to look for
                yield from self._history(number)
                return
        memories = catalogue.lines(self._user_id, scope="yours", memories_only=True, query=words, limit=20)
        messages = catalogue.lines(self._user_id, scope="yours", kind="message", query=words, limit=20)
        if not memories and not messages:
            yield "Nothing is remembered of you" + (f" with {words!r}." if words else " yet.")
        for passage in [*memories, *(messages if words or not memories else ())]:
            yield f"{passage.passage_id:>5}  {passage.kind:<10}  {short(passage.text)}"
        if memories and messages and not words:
            yield "What you said is kept beside them: vouch memory list --kind message."

    def _history(self, passage_id: int) -> Iterator[str]:
        history = self._assistant.catalogue.history(self._user_id, passage_id)
        claims = self._assistant.claims.of_passage(self._user_id, passage_id)
        evidence = self._assistant.catalogue.passages_of(self._user_id, deciding_versions(claims))
        yield from history_lines(history)
        yield from claim_lines(claims, evidence)

    def _why(self, text: str) -> Iterator[str]:
        turn_id = _number(text)
        if text and turn_id is None:
            yield "Name the turn by its number: /why 12. Without one it is the last."
            return
        turn = self._last_turn() if turn_id is None else self._assistant.journal.turn(self._user_id, turn_id)
        yield from why_lines(self._assistant, self._user_id, turn)

    def _good(self, rest: str) -> Iterator[str]:
        yield self._rate("good", rest)

    def _bad(self, rest: str) -> Iterator[str]:
        yield self._rate("bad", rest)

    def _rate(self, rating: str, rest: str) -> str:
        """rest: the number of a turn, or why the last one is rated so."""
        number = _number(rest)
        if number is not None:
            turn_id, reason = _known(self._assistant.journal.turn(self._user_id, number).id), ""
        else:
            turn_id, reason = _known(self._last_turn().id), rest
        self._assistant.journal.rate(self._user_id, turn_id, rating, reason=reason)
        return f"Noted for turn {turn_id}: {rating}."

    def _teach(self, text: str) -> Iterator[str]:
        if not text:
            yield "Write what the answer should have been: /teach The room closes at four."
            return
        turn = self._last_turn()
        passage_id = teach(self._assistant, self._user_id, _known(turn.id), text)
        yield f"Kept, yours, as {passage_id}: “{short(text)}”. /undo takes it back."
        self._learn()

    def _share(self, text: str) -> Iterator[str]:
        passage_id = _number(text)
        if passage_id is None:
            yield "Name the memory by its number: /share 12. /memory lists them."
            return
        learned = share_memory(self._assistant, self._user_id, passage_id)
        yield shared_line(learned) if learned else "It is not weighed yet: a model is missing."

    def _last_turn(self) -> Turn:
        """The last of this session: a chat in another terminal does not come between."""
        turns = self._assistant.journal.turns(self._user_id, self.session_id, limit=1)
        return turns[0] if turns else self._assistant.journal.last_turn(self._user_id)

    def _ingest(self, path: str) -> Iterator[str]:
        from pathlib import Path

        from assistant.library import documents
        from assistant.library.ingest import Ingested
        from assistant.library.reading_process import ReadingProcess
        from stores.errors import UnreadableDocument
        from stores.records import own_space

        if not path:
            yield "Name a file or a folder: /ingest notes.md"
            return
        found = documents.find_documents([Path(path).expanduser()])
        for unreadable in found.unreadable:
            yield one_line(unreadable.message)
        counts: dict[str, Counter[str]] = {}  # by file; a collection holds many documents
        with ReadingProcess() as reading:
            to_read = (document for file in found.files for document in reading.read(file))
            for step in self._assistant.ingest.run(
                self._user_id, own_space(self._user_id), to_read, summary=f"ingested {path}"
            ):
                if isinstance(step, UnreadableDocument):
                    yield one_line(step.message)
                elif isinstance(step, Ingested):
                    counted = counts.setdefault(step.source.partition("#")[0], Counter())
                    counted.update({step.change: 1, "passages": step.passages})
        for file, counted in counts.items():
            changes = ", ".join(f"{n} {change}" for change, n in counted.items() if change != "passages")
            yield f"{one_line(file)}: {counted['passages']} passages, {changes}"

    def _train(self, what: str) -> Iterator[str]:
        yield from steer_training(self._assistant, what)

    def _sessions(self, _rest: str) -> Iterator[str]:
        for session in self._assistant.journal.sessions(self._user_id, limit=20):
            began = f"{session.created_at.astimezone():%Y-%m-%d %H:%M}"
            yield f"{session.session_id:>5}  {began}  {session.turns:>3} turns  {one_line(session.title)}"
        yield "`vouch chat --session ID` goes on with one."

    def _new(self, title: str) -> Iterator[str]:
        self.session_id = self._assistant.journal.open_session(self._user_id, title=title)
        yield f"A new session{f': {one_line(title)}' if title else ''}."

    def _private(self, _rest: str) -> Iterator[str]:
        self.session_id = self._assistant.journal.open_session(
            self._user_id, title="(private)", is_private=True
        )
        yield "A private session: nothing of it goes into memory; only its own transcript is kept."

    def _quit(self, _rest: str) -> Iterator[str]:
        self.is_over = True
        yield "Bye."


def _what_stays(said: Sequence[PassageLine]) -> Iterator[str]:
    for passage in said:
        yield f"What you said stays: “{short(passage.text)}” · /forget {passage.passage_id} takes it back."


def _number(text: str) -> int | None:
    """An id as it is typed; None when it is none."""
    return int(text) if text.isdecimal() and len(text) <= 18 else None


def _known(turn_id: int | None) -> int:
    assert turn_id is not None, "a stored turn has an id"
    return turn_id
