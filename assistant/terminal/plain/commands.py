"""The commands of plain mode: all that the screen has, but for those that only a screen can have.

What the screen does by keys stands here: find, answer again, change, branches, before and after.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.terminal.engine.slash_commands import SlashCommands
from assistant.terminal.input.commands import IN_PLAIN, NAMED
from assistant.terminal.input.menus import asked_number
from assistant.terminal.input.typed_ids import turn_and_text, typed_id
from assistant.terminal.plain.takeover import standing_there, transcript_lines
from stores.base.clock import local
from stores.base.errors import NotFound, WrongUsage
from stores.base.one_line import one_line, short

if TYPE_CHECKING:
    from stores.conversation.turn_search import FoundTurn
    from stores.database.tables import Turn

_SHOWN = 20  # turns that are found, and lines of the log
_LOG_WIDTH = 150  # characters of a line of the log; the file has all of them
_LAST = 3  # turns of a branch that is gone to


@dataclass(frozen=True)
class Message:
    """What a command has sent."""

    text: str
    instead_of: int | None = None  # the turn in whose place it comes, which is kept
    is_typed: bool = False  # it stands behind the prompt already


class PlainCommands(SlashCommands):
    """Those of the screen and of plain mode, as lines of text."""

    commands = IN_PLAIN
    told: Sequence[str] = ()  # the notices of this chat
    _message: Message | None = None

    def run(self, line: str) -> Iterator[str]:
        """See `SlashCommands.run`; behind it, `take_message` has what is to be sent."""
        known = NAMED.get(line.partition(" ")[0])
        if known is not None and known.instead:
            yield known.instead
        else:
            yield from super().run(line)

    def take_message(self) -> Message | None:
        """The message that the command before has sent, once."""
        message, self._message = self._message, None
        return message

    # Finding

    def _find(self, words: str) -> Iterator[str]:
        if not words:
            raise WrongUsage("Write what to find: /find opening hours")
        if self.session_id and self._assistant.stores.journal.is_private(self._user_id, self.session_id):
            yield "What is said in a private session is not searched; all other sessions are."
        found = self._assistant.stores.turn_search.find(
            self._user_id, words, session_id=self.session_id or None
        )
        shown = found[:_SHOWN]
        yield from self._found_lines(shown)
        if len(found) > _SHOWN:
            yield f"The first {_SHOWN} of {len(found)}; a further word leaves fewer."
        if not found:
            yield f"Nothing is found with {one_line(words)!r}."
        elif self._menu is None:
            yield "`vouch chat --session ID` goes on with the session of one; /why TURN explains it."
        else:
            yield "Go on from which turn's session? Its number, or Enter to stay here."
            chosen = asked_number(self._menu, [each.turn_id for each in shown])
            yield from self._gone_to(chosen)

    def _found_lines(self, found: list[FoundTurn]) -> Iterator[str]:
        here = [each for each in found if each.session_id == self.session_id]
        elsewhere = [each for each in found if each.session_id != self.session_id]
        for heading, turns in (("In this session", here), ("In other sessions", elsewhere)):
            if turns:
                yield f"{heading}: {len(turns)}"
            for each in turns:
                title = "" if each in here else f"session {each.session_id}, {short(each.title, 24)}  "
                speaker = "Assistant" if each.is_answer else "You"
                yield f"{each.turn_id:>5}  {local(each.at):%Y-%m-%d}  {title}{speaker}: {short(each.excerpt)}"

    def _gone_to(self, turn_id: int | None) -> Iterator[str]:
        if turn_id is None:
            yield "It goes on here."
            return
        self.session_id = self._assistant.stores.sessions.show_turn(self._user_id, turn_id)
        title = self._assistant.stores.sessions.title(self._user_id, self.session_id)
        yield f"Session {self.session_id} goes on: {one_line(title)}"
        yield from transcript_lines([self._assistant.stores.journal.turn(self._user_id, turn_id)])

    # Branches

    def _retry(self, number: str) -> Iterator[str]:
        turn = self._turn_here(number)
        yield f"Turn {turn.id} is answered again. The earlier answer is kept: /branch goes there."
        self._message = Message(turn.message, turn.id)

    def _change(self, typed: str) -> Iterator[str]:
        number, text = turn_and_text(typed)
        turn = self._turn_to_change(number, typed if text else "")
        if text:
            yield f"Turn {turn.id} is kept as it was: /branch goes there."
            self._message = Message(_without_its_slash(text), turn.id)
        elif self._menu is None:
            raise WrongUsage("Write what your last message is to be: /change When does it open?")
        else:
            yield "Change it and press Enter; an empty line leaves it as it was."
            changed = self._typed_from(turn.message)
            if changed:
                self._message = Message(_without_its_slash(changed), turn.id, is_typed=True)
            else:
                yield "It stays as it was."

    def _turn_to_change(self, number: int | None, typed: str) -> Turn:
        """That turn, or the last one. typed: with a text, which may have begun with a number of its own."""
        try:
            return self._turn_here("" if number is None else str(number))
        except NotFound as error:
            last = self._assistant.stores.journal.turns(self._user_id, self.session_id, limit=1)
            if number is not None and typed and last:
                error.hint = f"As the text of your last message: /change {last[0].id} {short(typed)}"
            raise

    def _turn_here(self, number: str) -> Turn:
        """The turn of this session that is meant, or the last one. Raises `NotFound`."""
        wanted = typed_id(number)
        if number and wanted is None:
            raise NotFound(
                f"you have no turn {one_line(number)}", hint="Name it by its number, as /why does."
            )
        if wanted is None:
            last = self._assistant.stores.journal.turns(self._user_id, self.session_id, limit=1)
            if not last:
                raise NotFound("nothing was said in this session yet")
            turn = last[0]
        else:
            turn = self._assistant.stores.journal.turn(self._user_id, wanted)
        if turn.session_id != self.session_id:
            raise NotFound(
                f"turn {turn.id} is of session {turn.session_id}",
                hint="/sessions goes on with another session.",
            )
        if not turn.message:
            raise NotFound(f"the words of turn {turn.id} were forgotten")
        return turn

    def _typed_from(self, text: str) -> str:
        """What somebody at the terminal makes of a text; empty where they leave it."""
        with standing_there(text):
            return (self._ask() or "").strip()

    def _branch(self, number: str) -> Iterator[str]:
        wanted = typed_id(number)
        if number and not wanted:
            raise WrongUsage(f"{one_line(number)} is no number of a branch")
        sessions = self._assistant.stores.sessions
        place = sessions.branch(self._user_id, self.session_id)
        if place.count == 1:
            yield "One branch so far: /change changes a message, /retry has it answered again."
            return
        if wanted is not None and wanted > place.count:
            raise NotFound(f"there are {place.count} branches")
        steps = 1 if wanted is None else wanted - place.number
        place = sessions.switch_branch(self._user_id, self.session_id, steps)
        yield f"Branch {place.number} of {place.count} goes on. It ends so:"
        yield ""
        yield from transcript_lines(
            self._assistant.stores.journal.turns(self._user_id, self.session_id, limit=_LAST)
        )

    # Training, and before and after

    def _compare(self, number: str) -> Iterator[str]:
        from assistant.terminal.comparison.comparing import compare_answers

        turn_id = typed_id(number)
        if number and turn_id is None:
            raise WrongUsage("Name the turn by its number: /compare 12. Without one it is this session.")
        yield from compare_answers(self._assistant, self._user_id, self.session_id, turn_id, menu=self._menu)

    def _training(self, what: str) -> Iterator[str]:
        yield from self._train(what)

    # The editor, notices and the log

    def _edit(self, text: str) -> Iterator[str]:
        from assistant.terminal.input.editor import edit

        if self._menu is None:
            raise WrongUsage("An editor needs a terminal: in a pipe, each line is a message.")
        written = edit(text, os.environ).strip()
        if not written:
            yield "Nothing was written."
            return
        yield "Enter sends it; an empty line leaves it."
        typed = self._typed_from(written)
        if typed:
            self._message = Message(_without_its_slash(typed), is_typed=True)

    def _notices(self, _rest: str) -> Iterator[str]:
        yield from self.told or ("Nothing was told yet.",)

    def _log(self, words: str) -> Iterator[str]:
        from assistant.terminal.facts.log_lines import last_lines, log_file

        file = log_file(self._assistant.given.locations.state)
        lines = last_lines(file, with_text=self._assistant.given.settings.log.log_text)
        wanted = words.casefold().split()
        fitting = [line for line in lines if line.fits(wanted, "all")][-_SHOWN:]
        for line in fitting:
            yield short(line.row, _LOG_WIDTH)
        with_words = f" with {one_line(words)!r}" if words else ""
        yield (
            f"{one_line(str(file))}: the last {len(fitting)}{with_words}."
            if fitting
            else (f"{one_line(str(file))}: nothing{with_words} is written there today.")
        )


def _without_its_slash(text: str) -> str:
    """A message as it is sent: of two slashes in front, one is meant."""
    return text[1:] if text.startswith("//") else text
