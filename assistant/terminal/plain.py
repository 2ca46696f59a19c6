"""The chat as lines: what scrolls by is the transcript, and it is the form for pipes.

No boxes, spinners, redrawing or colour. A message opens with `You:` or `Assistant:`, sources follow.
Ctrl+C stops the reply, Ctrl+D leaves.
"""

from __future__ import annotations

import difflib
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from agents.interfaces import CutAtLimit, Source
from agents.sentences import asks_only
from assistant.one_line import one_line, short
from assistant.terminal.notices import Notices
from assistant.terminal.sharing import share_memory, shared_line
from assistant.turns.events import Event, Wrote
from stores.claims import NewClaim
from stores.errors import StoreUnavailable, VouchError

if TYPE_CHECKING:
    from assistant.wiring import Assistant
    from stores.catalogue import PassageLine
    from stores.forgetting import Forgotten
    from stores.records import Turn

_TYPING_SECONDS = 0.5  # what is learned within them is told at once, else before the next prompt
_LAST_SECONDS = 5.0  # what is not remembered by then waits for the next time

SLASH_COMMANDS = {
    "/help": "what can be typed here",
    "/remember": "TEXT: keep a note in your own memory",
    "/forget": "ID or WORDS: forget a passage for good; words find its ID",
    "/undo": "[RECEIPT]: take a write back, your latest when none is named",
    "/memory": "[WORDS]: list what is remembered of you, and with words what you said",
    "/why": "[TURN]: what the last answer was made from",
    "/good": "[TURN]: the last answer, or that turn's, helped",
    "/bad": "[TURN or WHY]: it did not help",
    "/teach": "TEXT: what the last answer should have said",
    "/share": "ID: offer a memory of yours to every user, through the check",
    "/ingest": "PATH: read a document into your own memory",
    "/sessions": "list your sessions",
    "/new": "[TITLE]: begin a new session",
    "/private": "begin a session of which nothing is remembered",
    "/quit": "leave (also Ctrl+D)",
}


class PlainChat:
    """A conversation over standard input and output."""

    def __init__(
        self,
        assistant: Assistant,
        user_id: int,
        session_id: int,
        *,
        ask: Callable[[], str | None],
        say: Callable[[str], None],
        echoes: bool,
        timeout_seconds: float | None = None,
    ) -> None:
        """ask: the next line typed, None at the end. echoes: what is typed is not on the screen yet."""
        self._assistant = assistant
        self._user_id = user_id
        self._session_id = session_id
        self._ask = ask
        self._say = say
        self._echoes = echoes
        self._timeout_seconds = timeout_seconds
        self._is_over = False
        self._notices = Notices("/undo")
        self.failure: VouchError | None = None  # the last turn's, for the exit code of a pipe

    def run(self) -> None:
        """Until the input ends or the person leaves."""
        self._learn()
        while not self._is_over:
            self._tell_notices()
            line = self._ask()
            if line is None:
                break
            message = line.strip()
            if not message:
                continue
            if self._echoes:
                self._say(f"You: {one_line(message)}\n")
            self._take(message)
        self._assistant.player.settle(_LAST_SECONDS)
        self._tell_notices()

    def _learn(self) -> None:
        """Has what was stated remembered. Who types is not kept waiting; a pipe gets all in its order."""
        self._assistant.player.remember(self._user_id, self._notices.put)
        self._assistant.player.settle(_TYPING_SECONDS if not self._echoes else None)

    def _tell_notices(self) -> None:
        if lines := self._notices.take():
            self._say("".join(f"{line}\n" for line in lines) + "\n")

    def _take(self, message: str) -> None:
        try:
            if message.startswith("//"):
                self._turn(message[1:])
            elif message.startswith("/"):
                self._command(message)
            else:
                self._turn(message)
        except VouchError as error:
            self._fail(error, error.message)
            self._say("\n")
        except KeyboardInterrupt:
            self._say("\n(stopped; what was done until then is kept)\n\n")

    def _fail(self, error: VouchError, said: str) -> None:
        self.failure = error
        self._say(f"{one_line(said)}\n" + (f"{one_line(error.hint)}\n" if error.hint else ""))

    def _turn(self, message: str) -> None:
        self.failure = None
        self._say("Assistant: ")
        watcher = _Watcher(self._say)
        try:
            finished = self._assistant.player.play(
                self._user_id,
                self._session_id,
                message,
                watch=watcher.watch,
                timeout_seconds=self._timeout_seconds,
            )
        except KeyboardInterrupt:
            self._say("\n(stopped)\n\n")
            return
        except VouchError as error:
            self._say("\n")
            self._fail(error, f"(failed: {error.message})")
            self._say("\n")
            return
        self._say("\n")
        if finished.error is not None:
            self._fail(finished.error, f"(failed: {finished.error.message})")
        if finished.cut is not None:
            self._say(f"{cut_line(finished.cut)}\n")
        for source in finished.cited:
            self._say(f"{source_line(source)}\n")
        self._say("\n")
        self._learn()

    # Slash commands

    def _command(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        if name not in SLASH_COMMANDS:
            near = difflib.get_close_matches(name.lower(), SLASH_COMMANDS, n=1, cutoff=0.6)
            meant = f"Did you mean {near[0]}? " if near else ""
            self._say(f"There is no command {one_line(name)}. {meant}")
            self._say("/help lists them; // sends a line with a slash.\n\n")
            return
        run: Callable[[str], Iterator[str]] = getattr(self, f"_{name[1:]}")
        for said in run(rest.strip()):
            self._say(f"{said}\n")
        self._say("\n")

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
        if not self._echoes:  # somebody is there to be asked
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
        for turn in reversed(self._assistant.journal.turns(self._user_id, self._session_id)):
            if since is not None and turn.accepted_at <= since:
                return []
            if not asks_only(turn.message):
                return self._assistant.catalogue.said_in(self._user_id, _known(turn.id))
        return []

    def _memory(self, words: str) -> Iterator[str]:
        catalogue = self._assistant.catalogue
        memories = catalogue.lines(self._user_id, scope="yours", memories_only=True, query=words, limit=20)
        messages = catalogue.lines(self._user_id, scope="yours", kind="message", query=words, limit=20)
        if not memories and not messages:
            yield "Nothing is remembered of you" + (f" with {words!r}." if words else " yet.")
        for passage in [*memories, *(messages if words or not memories else ())]:
            yield f"{passage.passage_id:>5}  {passage.kind:<10}  {short(passage.text)}"
        if memories and messages and not words:
            yield "What you said is kept beside them: vouch memory list --kind message."

    def _why(self, text: str) -> Iterator[str]:
        turn_id = _number(text)
        if text and turn_id is None:
            yield "Name the turn by its number: /why 12. Without one it is the last."
            return
        turn = self._last_turn() if turn_id is None else self._assistant.journal.turn(self._user_id, turn_id)
        found = self._assistant.journal.found_in(self._user_id, _known(turn.id))
        passages = self._assistant.catalogue.passages_of(self._user_id, [f.version_id for f in found])
        yield f"Turn {turn.id}: {short(turn.message)}"
        if turn.standalone not in ("", turn.message):
            yield f"Searched as: {turn.standalone}"
        yield f"Answered by {turn.model or 'nobody'}: {turn.state}"
        cited = turn.details.get("cited", [])
        for entry in found[:10]:  # [1]: cited under that number; seen: put before the model, not cited
            if entry.version_id not in passages:
                continue
            passage, is_live = passages[entry.version_id]
            moved = entry.found_rank - entry.final_rank
            used = (
                ("seen" if entry.citation else "-") if entry.citation not in cited else f"[{entry.citation}]"
            )
            yield (
                f"{entry.found_rank:>3} {used:<4} {passage.scope:<6} {entry.score:.2f} "
                f"(meaning {entry.dense:.2f}, words {entry.lexical:.2f}) {moved:+d}  "
                f"{short(passage.title or passage.text)}{'' if is_live else ' (replaced or forgotten)'}"
            )

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
        turns = self._assistant.journal.turns(self._user_id, self._session_id, limit=1)
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

    def _sessions(self, _rest: str) -> Iterator[str]:
        for session in self._assistant.journal.sessions(self._user_id, limit=20):
            began = f"{session.created_at.astimezone():%Y-%m-%d %H:%M}"
            yield f"{session.session_id:>5}  {began}  {session.turns:>3} turns  {one_line(session.title)}"
        yield "`vouch chat --session ID` goes on with one."

    def _new(self, title: str) -> Iterator[str]:
        self._session_id = self._assistant.journal.open_session(self._user_id, title=title)
        yield f"A new session{f': {one_line(title)}' if title else ''}."

    def _private(self, _rest: str) -> Iterator[str]:
        self._session_id = self._assistant.journal.open_session(
            self._user_id, title="(private)", is_private=True
        )
        yield "A private session: nothing of it goes into memory; only its own transcript is kept."

    def _quit(self, _rest: str) -> Iterator[str]:
        self._is_over = True
        yield "Bye."


class _Watcher:
    """Prints a reply as it comes."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def watch(self, event: Event) -> None:
        if isinstance(event, Wrote):
            self._say(event.text)


def teach(assistant: Assistant, user_id: int, turn_id: int, text: str) -> int:
    """Keeps what an answer should have been: as feedback, and as a correction in the user's own memory."""
    assistant.journal.rate(user_id, turn_id, "taught", correction=text)
    passage_id, _ = assistant.knowledge.remember(user_id, text, kind="correction", turn_id=turn_id)
    claim = NewClaim(text=text, quote=text, kind="fact", about="world")
    assistant.claims.put_one(user_id, claim, origin="taught", turn_id=turn_id, passage_id=passage_id)
    assistant.indexer.catch_up()
    return passage_id


def sure_to_forget(count: int) -> str:
    """What is asked before passages are forgotten."""
    what = "this passage" if count == 1 else f"these {count} passages"
    return f"Forget {what} for good? This cannot be undone. [y/N]"


def forget_for_good(
    assistant: Assistant, user_id: int, passage_ids: Sequence[int] | None
) -> tuple[Forgotten, list[str]]:
    """Forgets and says what went and what still holds it. passage_ids: None for everything of the user's."""
    from stores.forgetting import Forgetting

    forgetting = Forgetting(assistant.database)
    forgotten = (
        forgetting.forget_everything(user_id)
        if passage_ids is None
        else forgetting.forget(user_id, passage_ids)
    )
    try:
        forgetting.compact()
        bytes_told = ["Its bytes are gone from the files of the database."]
    except StoreUnavailable as error:  # a job waits
        bytes_told = [f"{error.message[0].upper()}{error.message[1:]}. {error.hint}"]
    if forgotten.indexes:
        with suppress(VouchError):  # the job waits for the next occasion
            assistant.indexer.catch_up()
    return forgotten, [*_went(forgotten), *bytes_told, *_still_holds(forgotten, assistant)]


def _went(forgotten: Forgotten) -> Iterator[str]:
    if forgotten.turns:
        yield f"Blank now: the transcript of {_turns(forgotten.turns)}."
    if forgotten.answers:
        yield f"Blank now, since it was made with it: the answer of {_turns(forgotten.answers)}."
    if forgotten.answers_of_others:
        yield f"Blank now, for the same reason: {forgotten.answers_of_others} answers of other users."
    if forgotten.marked:
        yield f"Taken out word for word: {_turns(forgotten.marked)}."


def _still_holds(forgotten: Forgotten, assistant: Assistant) -> Iterator[str]:
    if forgotten.still_in:
        ids = " ".join(str(passage_id) for passage_id in forgotten.still_in)
        yield f"It is still said in other passages: {ids}. `vouch memory show ID` shows one."
    if forgotten.rounds:
        yield f"Rounds of training that saw it: {', '.join(map(str, forgotten.rounds))}."
    if forgotten.indexes:
        yield "Files of the shared index keep numbers made from it, no text, until the index is built again."
    file = assistant.database.file
    for kept in sorted(file.parent.glob(f"{file.stem}-before-restore-*")) if file is not None else ():
        yield f"A database from before a restore may hold it: {kept}"
    if file is None:
        yield "The database server's own log of changes (pg_wal) and its backups may hold it."
    if assistant.settings.log.log_text:
        yield f"The log may hold it, as log.log_text has it keep texts: {assistant.locations.state}"
    yield (
        "Out of reach: backups and exports made before, what was sent to a model server, what other "
        "processes show on their screens, and the same told in other words."
    )


def _turns(ids: Sequence[int]) -> str:
    return f"turn{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"


def _what_stays(said: Sequence[PassageLine]) -> Iterator[str]:
    for passage in said:
        yield f"What you said stays: “{short(passage.text)}” · /forget {passage.passage_id} takes it back."


def source_line(source: Source) -> str:
    """A source as it stands below an answer."""
    passage = source.passage
    if passage.kind == "material":
        return f"Source {source.number}, handed over: {short(passage.text)}"
    if passage.is_shared:
        return f"Source {source.number}, shared: {one_line(passage.title or passage.source)}"
    if passage.kind == "document":
        return f"Source {source.number}, yours: {one_line(passage.title or passage.source)}"
    return (
        f"Source {source.number}, yours: “{short(passage.text)}” "
        f"(your {passage.kind} of {passage.created_at.astimezone():%d %B})"
    )


def cut_line(cut: CutAtLimit) -> str:
    """What is said below an answer that reached its longest length."""
    where = f" at {cut.tokens} tokens" if cut.tokens else " at the model's longest length"
    return f"(The reply was cut{where}; model.max_tokens in settings.toml sets how long one may be.)"


def write_out(text: str) -> None:
    """Prints at once, so that a reply is seen while it is written."""
    sys.stdout.write(text)
    sys.stdout.flush()


class WordWrap:
    """Prints at once and breaks lines between words, at the width the terminal has then."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._column = 0

    def say(self, text: str) -> None:
        """Prints a piece; a word that comes in two pieces may still be broken between them."""
        width = shutil.get_terminal_size().columns
        shown: list[str] = []
        for part in re.findall(r"\n|[^\S\n]+|\S+", text):
            if part == "\n":
                self._column = 0
            elif part.isspace() and self._column + len(part) >= width:
                part = "\n"  # a space in the last column would leave an empty line behind it
                self._column = 0
            elif not part.isspace() and self._column > 0 and self._column + len(part) > width:
                shown.append("\n")
                self._column = 0
            shown.append(part)
            if part != "\n":
                self._column += len(part)
        self._write("".join(shown))


def _number(text: str) -> int | None:
    """An id as it is typed; None when it is none."""
    return int(text) if text.isdecimal() and len(text) <= 18 else None


def _known(turn_id: int | None) -> int:
    assert turn_id is not None, "a stored turn has an id"
    return turn_id
