"""What is typed with a slash in front: each command says its lines, and does what they tell."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from agents.base.sentences import asks_only
from assistant.terminal.actions.forgetting import OthersPassage, forget_when_sure
from assistant.terminal.actions.knowledge_bases import talk_over
from assistant.terminal.actions.memories import change_profile, keep_both, profile_lines, put_instead
from assistant.terminal.actions.model_choice import choose_model
from assistant.terminal.actions.rating import rate, reaches_all
from assistant.terminal.actions.removing import propose_when_sure
from assistant.terminal.actions.sessions import archive_session, rename_session
from assistant.terminal.actions.sharing import share_memory, shared_line
from assistant.terminal.actions.teaching import HOW_TO_TEACH, says_something, teach
from assistant.terminal.actions.undoing import (
    in_chat,
    told_in_chat,
    undone_lines,
    what_stays,
    what_was_said,
)
from assistant.terminal.actions.weighed_first import Wait
from assistant.terminal.actions.written_here import Written, WrittenHere, undo_latest_here, withdraw_proposal
from assistant.terminal.comparison.replaying import replay_session, session_to_replay
from assistant.terminal.comparison.training_commands import steer_training
from assistant.terminal.engine.near_commands import did_you_mean
from assistant.terminal.facts.answer_lines import why_lines
from assistant.terminal.facts.memory_history import claim_lines, deciding_versions, history_lines
from assistant.terminal.input.commands import OF_BOTH, with_words
from assistant.terminal.input.menus import asked_number
from assistant.terminal.input.typed_ids import typed_id
from stores.base.clock import local
from stores.base.errors import NotFound, VouchError, WrongUsage
from stores.base.one_line import one_line, short
from stores.base.passages import quotes_only

if TYPE_CHECKING:
    from agents.base.chat_interfaces import Image
    from assistant.wiring.assistant import Assistant
    from stores.claims.decisions import Learned
    from stores.database.tables import Turn
    from stores.versions.passage_lines import PassageLine


class SlashCommands:
    """The commands of one chat, and what they change of it: which session is on, and whether it is over."""

    commands: Mapping[str, str] = OF_BOTH

    def __init__(
        self,
        assistant: Assistant,
        user_id: int,
        session_id: int,
        *,
        ask: Callable[[], str | None],
        is_asked: bool,
        learn: Callable[[], None],
        has_screen: bool = False,
    ) -> None:
        """is_asked: somebody is there to answer what `ask` reads. learn: has what was stated remembered.

        has_screen: what there is to choose from has a screen of its own, and `ask` is for yes and no alone.
        """
        self._assistant = assistant
        self._user_id = user_id
        self.session_id = session_id
        self.is_over = False
        self._ask = ask
        self._is_asked = is_asked
        self._has_screen = has_screen
        self._menu = ask if is_asked and not has_screen else None
        self.goes_plain = False  # it is over on the screen, and is to go on in plain mode
        self._learn = learn
        self._here = WrittenHere()
        self._told_to_stay: tuple[int, ...] = ()  # passages of a message, which undo has told of
        self.wait = Wait()
        self.attached: list[Image] = []  # that go with the next message

    def run(self, line: str) -> Iterator[str]:
        """Carries out a line that opens with a slash; yields what is said of it, line by line."""
        name, _, rest = line.partition(" ")
        if name not in self.commands:
            meant = did_you_mean(name, self.commands)
            told = (
                f"There is no command {one_line(name)}.",
                meant,
                "/help lists them; // sends a line with a slash.",
            )
            yield self._refusal(" ".join(filter(None, told)))
            return
        run: Callable[[str], Iterator[str]] = getattr(self, f"_{name[1:]}")
        try:
            yield from run(rest.strip())
        except VouchError as error:
            raise in_chat(error) from None

    def _refusal(self, sentence: str) -> str:
        """What is said of a line that cannot be carried out; where it is no screen's it has an exit code."""
        if self._has_screen:
            return sentence
        raise WrongUsage(sentence)

    def _help(self, words: str) -> Iterator[str]:
        lines = with_words([f"{name:<10} {about}" for name, about in self.commands.items()], words)
        yield from lines or [f"No command tells of “{one_line(words)}”. /help lists all."]

    def _remember(self, text: str) -> Iterator[str]:
        if not text:
            yield self._refusal("Write what to remember: /remember I take my tea without milk.")
            return
        passage_id, receipt_id = self._assistant.stores.knowledge.remember(self._user_id, text)
        told = f"Remembered, yours, as {passage_id}: “{short(text)}”. /undo takes it back."
        self.note_written(Written(told, receipt_id))
        self._assistant.search.indexer.catch_up()
        yield told

    def _forget(self, text: str) -> Iterator[str]:
        ask = self._ask if self._is_asked else None
        try:
            yield from forget_when_sure(self._assistant, self._user_id, text, ask=ask, menu=self._menu)
        except OthersPassage as error:
            if ask is None:
                raise
            yield f"{one_line(error.message)}. {error.hint}"
            yield from propose_when_sure(
                self._assistant, self._user_id, error.passage_id, ask=ask, note=self.note_written
            )

    def _undo(self, text: str) -> Iterator[str]:
        number = typed_id(text.removeprefix("p"))
        if text and number is None:
            yield self._refusal(
                "Name the write by its receipt: /undo 7. Without one it is the latest of this session."
            )
        elif number is not None and text.startswith("p"):
            yield withdraw_proposal(self._assistant, self._user_id, number)
        elif number is not None:
            undone = self._assistant.stores.knowledge.undo_together(self._user_id, [number])
            self._assistant.search.indexer.catch_up()
            yield from undone_lines(undone)
            yield from what_was_said(self._assistant, self._user_id, undone.receipts)
        else:
            yield from self._undo_latest()

    def _both(self, text: str) -> Iterator[str]:
        number = typed_id(text)
        if number is None:
            yield self._refusal("Name the memory whose place-taking was wrong: /both 12.")
            return
        kept = keep_both(self._assistant, self._user_id, number)
        self.note_written(kept)
        yield kept.told

    def _instead(self, text: str) -> Iterator[str]:
        named, _, written = text.partition(" ")
        number = typed_id(named)
        if number is None or not written.strip():
            yield self._refusal("Name the memory, and what holds instead: /instead 12 I live in Porto.")
            return
        put = put_instead(self._assistant, self._user_id, number, written)
        self.note_written(put)
        yield put.told

    def _undo_latest(self) -> Iterator[str]:
        ask = self._ask if self._is_asked else None
        try:
            yield from undo_latest_here(
                self._assistant,
                self._user_id,
                self.session_id,
                self._here,
                ask=ask,
                wait=self.wait,
                learn=self._learn,
            )
        except NotFound:
            if not (said := self._latest_statement()):
                raise
            ids = tuple(passage.passage_id for passage in said)
            if ids == self._told_to_stay:
                yield "Nothing left to undo in this session."
                return
            self._told_to_stay = ids
            yield from what_stays(said)
            yield "Nothing else to undo in this session."

    def note_written(self, written: Written | Learned) -> None:
        """A write of the session that is on, which no turn names, and which undo is to find."""
        self._here.note(self.session_id, written)

    def images_sent(self, images: Collection[Image]) -> None:
        """These went with a message that is kept: they go with no other."""
        self.attached = [image for image in self.attached if image not in images]

    def begin_session(self) -> None:
        """Opens one where none is on yet; what was written before goes on in it."""
        if not self.session_id:
            self.session_id = self._assistant.stores.journal.open_session(self._user_id)
            self._here.goes_on_in(self.session_id)

    def _latest_statement(self) -> list[PassageLine]:
        """The live passages of what was last told in this session."""
        for turn in reversed(self._assistant.stores.journal.turns(self._user_id, self.session_id)):
            if not asks_only(turn.message):
                return self._assistant.stores.catalogue.said_in(self._user_id, _known(turn.id))
        return []

    def _memory(self, words: str) -> Iterator[str]:
        catalogue = self._assistant.stores.catalogue
        number = typed_id(words)
        if number is not None:
            with suppress(NotFound):  # then it is a word to look for
                yield from self._history(number)
                return
        memories = catalogue.lines(self._user_id, scope="yours", memories_only=True, query=words, limit=20)
        messages = catalogue.lines(self._user_id, scope="yours", kind="message", query=words, limit=20)
        if not memories and not messages:
            yield "Nothing is remembered about you" + (f" with {words!r}." if words else " yet.")
        for passage in [*memories, *(messages if words or not memories else ())]:
            yield f"{passage.passage_id:>5}  {passage.kind:<10}  {short(passage.text)}"
        if memories and messages and not words:
            yield "What you said is kept beside them: vouch memory list --kind message."

    def _history(self, passage_id: int) -> Iterator[str]:
        history = self._assistant.stores.catalogue.history(self._user_id, passage_id)
        claims = self._assistant.stores.claims.of_passage(self._user_id, passage_id)
        evidence = self._assistant.stores.catalogue.passages_of(self._user_id, deciding_versions(claims))
        yield from history_lines(history)
        yield from claim_lines(claims, evidence)

    def _why(self, text: str) -> Iterator[str]:
        if text and typed_id(text) is None:
            yield self._refusal("Name the turn by its number: /why 12. Without one it is the last.")
            return
        turn = self._turn_or_last(text, "/why TURN explains another one.")
        yield from why_lines(self._assistant, self._user_id, turn)

    def _learned(self, text: str) -> Iterator[str]:
        from assistant.terminal.facts.why import told_of_learning

        if text and typed_id(text) is None:
            yield self._refusal("Name the turn by its number: /learned 12. Without one it is the last.")
            return
        turn_id = _known(self._turn_or_last(text, "/learned TURN tells of another one.").id)
        yield f"Learned from turn {turn_id}:"
        yield from told_of_learning(self._assistant, self._user_id, turn_id)

    def _good(self, rest: str) -> Iterator[str]:
        yield self._rate("good", rest)

    def _bad(self, rest: str) -> Iterator[str]:
        yield self._rate("bad", rest)

    def _rate(self, rating: str, rest: str) -> str:
        """rest: the number of a turn, or why the last one is rated so."""
        number = typed_id(rest)
        if number is not None:
            turn_id, reason = _known(self._assistant.stores.journal.turn(self._user_id, number).id), ""
        else:
            turn_id, reason = _known(self._last_turn(f"/{rating} TURN rates another one.").id), rest
        unlearned = rate(self._assistant, self._user_id, turn_id, rating, reason=reason)
        more = unlearned or reaches_all(self._assistant, self._user_id, turn_id)
        told = f"Noted for turn {turn_id}: {rating}.{f' {more}' if more else ''}"
        return f"{told} /teach with what is right is kept." if unlearned and rating == "bad" else told

    def _teach(self, text: str) -> Iterator[str]:
        if not says_something(text):
            why = f"Not kept: “{short(text)}” says nothing by itself. " if text else ""
            yield self._refusal(f"{why}{HOW_TO_TEACH}")
            return
        turn = self._last_turn("`vouch feedback TURN --teach TEXT` corrects another one.")
        passage_id = teach(self._assistant, self._user_id, _known(turn.id), text)
        yield f"Kept, yours, as {passage_id}: “{short(text)}”. /undo takes it back."
        if to_all := reaches_all(self._assistant, self._user_id, _known(turn.id)):
            yield to_all
        self._learn()

    def _share(self, text: str) -> Iterator[str]:
        passage_id = typed_id(text)
        if passage_id is None:
            yield self._refusal("Name the memory by its number: /share 12. /memory lists them.")
            return
        learned = share_memory(self._assistant, self._user_id, passage_id)
        if learned is not None:
            self.note_written(learned)
        yield told_in_chat(shared_line(learned)) if learned else "It is not weighed yet: a model is missing."

    def _turn_or_last(self, typed: str, else_do: str) -> Turn:
        """The turn that is named by its number, or the last of this session. Raises `NotFound`."""
        turn_id = typed_id(typed)
        if turn_id is None:
            return self._last_turn(else_do)
        return self._assistant.stores.journal.turn(self._user_id, turn_id)

    def _last_turn(self, else_do: str) -> Turn:
        """The last of this session: a chat in another terminal does not come between.

        Raises `NotFound`, with what else can be done as its hint.
        """
        turns = self._assistant.stores.journal.turns(self._user_id, self.session_id, limit=1)
        if not turns:
            raise NotFound("this session has no answer yet", hint=else_do)
        return turns[0]

    def _ingest(self, path: str) -> Iterator[str]:
        from assistant.terminal.engine.ingesting import ingested

        if not path:
            yield self._refusal("Name a file or a folder: /ingest notes.md")
            return
        before = self._newest_receipt()
        yield from ingested(self._assistant, self._user_id, path, tells=self._menu is not None)
        newest = self._newest_receipt()
        if newest != before:
            self.note_written(Written(f"ingested {path}", newest))

    def _attach(self, path: str) -> Iterator[str]:
        from pathlib import Path

        from assistant.turns.images import read_image

        if path == "off":
            self.attached.clear()
        elif path:
            image = read_image(Path(path))
            self._assistant.turns.host.check_images()
            self.attached.append(image)
        names = ", ".join(one_line(Path(image.path).name) for image in self.attached)
        yield (
            f"With your next message goes {names}. /attach off takes it back."
            if names
            else "No image goes with your next message. /attach PATH adds one: png, jpeg, webp or gif."
        )

    def _newest_receipt(self) -> int | None:
        newest = self._assistant.stores.knowledge.receipts(self._user_id, limit=1)
        return newest[0].id if newest else None

    def _train(self, what: str) -> Iterator[str]:
        yield from steer_training(self._assistant, what, stays=self._is_asked)

    def _replay(self, text: str) -> Iterator[str]:
        session_id = session_to_replay(self._assistant, self._user_id, text, self.session_id)
        yield from replay_session(self._assistant, self._user_id, session_id)

    def _profile(self, typed: str) -> Iterator[str]:
        if not typed:
            yield from profile_lines(self._assistant, self._user_id)
            return
        told, receipt_id = change_profile(self._assistant, self._user_id, typed)
        if receipt_id is not None:
            self.note_written(Written(told, receipt_id))
        yield told

    def _docs(self, words: str) -> Iterator[str]:
        from assistant.library.shelf import cells

        wanted = words.lower().split()
        known = self._assistant.stores.library.all(self._user_id)
        found = [
            each
            for each in known
            if all(word in f"{each.source} {each.title} {each.collection}".lower() for word in wanted)
        ]
        for each in found:
            yield "  ".join(filter(None, cells(each)))
        if not found:
            none = "None of them is so called." if known else "There is none. /ingest PATH reads some."
            yield none

    def _model(self, name: str) -> Iterator[str]:
        yield from choose_model(self._assistant, name, menu=self._menu)

    def _kb(self, name: str) -> Iterator[str]:
        self.begin_session()
        yield from talk_over(self._assistant, self._user_id, self.session_id, name)

    def _system(self, text: str) -> Iterator[str]:
        stores = self._assistant.stores
        if text:
            own = self._persona(text[1:]) if text[0] == "@" else {"off": "", "back": None}.get(text, text)
            self.begin_session()
            stores.sessions.instruct(self._user_id, self.session_id, own)
        own = stores.sessions.system(self._user_id, self.session_id) if self.session_id else None
        asked = one_line(self._assistant.given.settings.answer.system if own is None else own)
        yield f"Of all answers here is asked: {asked}" if asked else "Nothing is asked of all answers."
        if not text and (personas := self._assistant.given.settings.personas):
            yield f"Personas: {one_line(', '.join(f'@{name}' for name in personas))}."
        if quotes_only(self._assistant.turns.pipeline.model_name):
            yield "The built-in model quotes: it cannot follow that."

    def _persona(self, name: str) -> str:
        """What the settings ask under this name. Raises `NotFound`."""
        personas = self._assistant.given.settings.personas
        if name in personas:
            return personas[name]
        there_are = f"There are: {one_line(', '.join(personas))}." if personas else "There is none so far."
        hint = f"{there_are} [personas] in settings.toml holds them."
        raise NotFound(f"there is no persona {one_line(name)}", hint=hint)

    def _plain(self, _rest: str) -> Iterator[str]:
        if self._has_screen:
            self.goes_plain = self.is_over = True
            yield "It goes on in plain mode."
        else:
            yield "This is plain mode."

    def _export(self, path: str) -> Iterator[str]:
        from pathlib import Path

        from assistant.terminal.facts.session_text import write_session

        file = Path(path or f"vouch-session-{self.session_id}.md").expanduser()
        turns = write_session(self._assistant, self._user_id, self.session_id, file)
        yield f"Written to {one_line(str(file))}: {turns} turn{'s' if turns != 1 else ''}."

    def _sessions(self, words: str) -> Iterator[str]:
        from assistant.terminal.facts.session_text import not_listed

        wanted = words.casefold().split()
        lines = self._assistant.stores.sessions.lines(self._user_id, limit=20 if not wanted else 10_000)
        found = [s for s in lines if all(word in s.title.casefold() for word in wanted)][:20]
        for session in found:
            began = f"{local(session.created_at):%Y-%m-%d %H:%M}"
            yield f"{session.session_id:>5}  {began}  {session.turns:>3} turns  {one_line(session.title)}"
        if asked := self._assistant.stores.sessions.count(self._user_id, "asked"):
            yield not_listed(asked, "`vouch sessions --shelf asked`")
        if self._menu is None or not found:
            yield "`vouch chat --session ID` goes on with one."
            return
        yield "Go on with which one? Its number, or Enter to stay here."
        chosen = asked_number(self._menu, [session.session_id for session in found])
        if chosen is None or chosen == self.session_id:
            yield "It goes on here."
            return
        self.session_id = chosen
        yield f"Session {chosen} goes on."

    def _rename(self, title: str) -> Iterator[str]:
        if not title:
            yield self._refusal("Write its title: /rename Holidays in May")
            return
        self.begin_session()
        yield from rename_session(self._assistant, self._user_id, self.session_id, title)

    def _archive(self, number: str) -> Iterator[str]:
        session_id = typed_id(number) if number else self.session_id
        if session_id is None:
            yield self._refusal(
                "Name the session by its number: /archive 12. Without one it is this session."
            )
        elif not number and not self._assistant.stores.journal.turns(self._user_id, session_id, limit=1):
            yield "Nothing was said in this session yet."
        else:
            typed = f"/archive {number}".strip()
            yield from archive_session(self._assistant, self._user_id, session_id, typed)

    def _privacy(self, _rest: str) -> Iterator[str]:
        from assistant.terminal.facts.privacy import privacy_told

        yield from privacy_told(self._assistant, self._user_id)
        yield ""
        yield "To forget everything of yours, in a shell: vouch memory forget --all-mine"

    def _new(self, title: str) -> Iterator[str]:
        self.session_id = self._assistant.stores.journal.open_session(self._user_id, title=title)
        yield f"A new session{f': {one_line(title)}' if title else ''}."

    def _private(self, _rest: str) -> Iterator[str]:
        self.session_id = self._assistant.stores.journal.open_session(
            self._user_id, title="(private)", is_private=True
        )
        yield "This session is private: I learn nothing from it, and no other session finds it."
        yield "Its transcript is kept, under /sessions; answers may use your memory."

    def _quit(self, _rest: str) -> Iterator[str]:
        self.is_over = True
        yield "Bye."


def _known(turn_id: int | None) -> int:
    assert turn_id is not None, "a stored turn has an id"
    return turn_id
