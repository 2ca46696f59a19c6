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
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from agents.interfaces import CutAtLimit, Source
from agents.sentences import asks_only
from assistant.turns.events import Event, Wrote
from stores.errors import VouchError

if TYPE_CHECKING:
    from assistant.wiring import Assistant
    from stores.catalogue import PassageLine
    from stores.records import Turn

SLASH_COMMANDS = {
    "/help": "what can be typed here",
    "/remember": "TEXT: keep a note in your own memory",
    "/forget": "ID: take a passage of yours out of every answer",
    "/undo": "take your latest write back: a note, a forgetting, an ingest",
    "/memory": "[WORDS]: list what is remembered of you",
    "/why": "[TURN]: what the last answer was made from",
    "/good": "[TURN]: the last answer, or that turn's, helped",
    "/bad": "[TURN or WHY]: it did not help",
    "/teach": "TEXT: what the last answer should have said",
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
        self.failure: VouchError | None = None  # the last turn's, for the exit code of a pipe

    def run(self) -> None:
        """Until the input ends or the person leaves."""
        while not self._is_over:
            line = self._ask()
            if line is None:
                return
            message = line.strip()
            if not message:
                continue
            if self._echoes:
                self._say(f"You: {_one_line(message)}\n")
            self._take(message)

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
        self._say(f"{_one_line(said)}\n" + (f"{_one_line(error.hint)}\n" if error.hint else ""))

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

    # Slash commands

    def _command(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        if name not in SLASH_COMMANDS:
            near = difflib.get_close_matches(name.lower(), SLASH_COMMANDS, n=1, cutoff=0.6)
            meant = f"Did you mean {near[0]}? " if near else ""
            self._say(f"There is no command {_one_line(name)}. {meant}")
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
        yield f"Remembered, yours, as {passage_id}: “{_short(text)}”. /undo takes it back."

    def _forget(self, text: str) -> Iterator[str]:
        passage_id = _number(text)
        if passage_id is None:
            yield "Name the passage by its number: /forget 12. /memory lists them."
            return
        forgotten = self._assistant.knowledge.forget(self._user_id, [passage_id])
        for passage in forgotten.lines:
            yield f"Forgotten: “{_short(passage.text)}” · /undo brings it back."
        for turn_id in forgotten.turns:
            yield f"The transcript of turn {turn_id} still shows the words."

    def _undo(self, _rest: str) -> Iterator[str]:
        newest = next(iter(self._assistant.knowledge.receipts(self._user_id, limit=1)), None)
        said = self._latest_statement(since=newest.created_at if newest else None)
        for passage in said:
            taken_back = f"/forget {passage.passage_id} takes it back."
            yield f"What you said stays: “{_short(passage.text)}” · {taken_back}"
        if said and newest is None:
            return
        receipt, back = self._assistant.knowledge.undo(self._user_id)
        self._assistant.indexer.catch_up()
        yield f"Undone: {receipt.action} “{_short(receipt.summary)}”."
        for passage in back:
            yield f"Back: {passage.passage_id} “{_short(passage.text)}”."

    def _latest_statement(self, *, since: datetime | None) -> list[PassageLine]:
        """The live passages of what was last told in this session, when that is newer than a moment."""
        for turn in reversed(self._assistant.journal.turns(self._user_id, self._session_id)):
            if since is not None and turn.accepted_at <= since:
                return []
            if not asks_only(turn.message):
                return self._assistant.catalogue.said_in(self._user_id, _known(turn.id))
        return []

    def _memory(self, words: str) -> Iterator[str]:
        lines = self._assistant.catalogue.lines(self._user_id, scope="yours", query=words, limit=20)
        if not lines:
            yield "Nothing is remembered of you" + (f" with {words!r}." if words else " yet.")
        for passage in lines:
            yield f"{passage.passage_id:>5}  {passage.kind:<10}  {_short(passage.text)}"

    def _why(self, text: str) -> Iterator[str]:
        turn_id = _number(text)
        if text and turn_id is None:
            yield "Name the turn by its number: /why 12. Without one it is the last."
            return
        turn = self._last_turn() if turn_id is None else self._assistant.journal.turn(self._user_id, turn_id)
        found = self._assistant.journal.found_in(self._user_id, _known(turn.id))
        passages = self._assistant.catalogue.passages_of(self._user_id, [f.version_id for f in found])
        yield f"Turn {turn.id}: {_short(turn.message)}"
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
                f"{_short(passage.title or passage.text)}{'' if is_live else ' (replaced or forgotten)'}"
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
        yield f"Kept, yours, as {passage_id}: “{_short(text)}”. /undo takes it back."

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
            yield _one_line(unreadable.message)
        counts: dict[str, Counter[str]] = {}  # by file; a collection holds many documents
        with ReadingProcess() as reading:
            to_read = (document for file in found.files for document in reading.read(file))
            for step in self._assistant.ingest.run(
                self._user_id, own_space(self._user_id), to_read, summary=f"ingested {path}"
            ):
                if isinstance(step, UnreadableDocument):
                    yield _one_line(step.message)
                elif isinstance(step, Ingested):
                    counted = counts.setdefault(step.source.partition("#")[0], Counter())
                    counted.update({step.change: 1, "passages": step.passages})
        for file, counted in counts.items():
            changes = ", ".join(f"{n} {change}" for change, n in counted.items() if change != "passages")
            yield f"{_one_line(file)}: {counted['passages']} passages, {changes}"

    def _sessions(self, _rest: str) -> Iterator[str]:
        for session in self._assistant.journal.sessions(self._user_id, limit=20):
            began = f"{session.created_at.astimezone():%Y-%m-%d %H:%M}"
            yield f"{session.session_id:>5}  {began}  {session.turns:>3} turns  {_one_line(session.title)}"
        yield "`vouch chat --session ID` goes on with one."

    def _new(self, title: str) -> Iterator[str]:
        self._session_id = self._assistant.journal.open_session(self._user_id, title=title)
        yield f"A new session{f': {_one_line(title)}' if title else ''}."

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
    assistant.indexer.catch_up()
    return passage_id


def source_line(source: Source) -> str:
    """A source as it stands below an answer."""
    passage = source.passage
    if passage.kind == "material":
        return f"Source {source.number}, handed over: {_short(passage.text)}"
    if passage.is_shared:
        return f"Source {source.number}, shared: {_one_line(passage.title or passage.source)}"
    if passage.kind == "document":
        return f"Source {source.number}, yours: {_one_line(passage.title or passage.source)}"
    return (
        f"Source {source.number}, yours: “{_short(passage.text)}” "
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


def _one_line(text: str) -> str:
    """Text from outside, without what a terminal would obey."""
    return " ".join("".join(c if c.isprintable() or c.isspace() else "" for c in text).split())


def _short(text: str, width: int = 72) -> str:
    line = _one_line(text)
    return line if len(line) <= width else line[: width - 1] + "…"


def _number(text: str) -> int | None:
    """An id as it is typed; None when it is none."""
    return int(text) if text.isdecimal() and len(text) <= 18 else None


def _known(turn_id: int | None) -> int:
    assert turn_id is not None, "a stored turn has an id"
    return turn_id
