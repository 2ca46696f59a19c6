"""The command palette: what can be done on the screen that is open, then every action and command.

A row has the words of the table of keys, and its key and slash command as they are in force. It is found
by its words and by the name of that command. Words also find sessions and documents, below the commands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from textual.app import SystemCommand
from textual.binding import Binding
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.system_commands import SystemCommandsProvider

from assistant.terminal.app.everywhere import Everywhere
from assistant.terminal.input.commands import NAMED, OF_SCREEN
from assistant.terminal.input.keys import APP, CHAT, PLACES, PROMPT, READING, Key, shown
from assistant.terminal.widgets.work import GivesWay, Host
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant

_PLACEHOLDER = "Actions, commands, sessions, documents"
_SESSIONS = 500  # those spoken in last
_BELOW_COMMANDS = 0.1  # of the score by which an action would be found
_LEFT_OUT = ("palette", "interrupt", "end_input", "complete", "send", "new_line", "stop")
_MOVES = frozenset(  # from row to row, to another list, back: what only a key is for
    "mark next previous first last find_again list words scope shelf write back leave help".split()
)
_ALSO_OF_THE_CHAT = frozenset(key.action for key in CHAT)


class InOrder(SystemCommandsProvider):
    """Shows them in the order in which the app tells them; what is typed finds equals in that order, too."""

    async def discover(self) -> Hits:
        for name, about, run, is_shown in self.app.get_system_commands(self.screen):
            if is_shown:
                yield DiscoveryHit(name, run, help=about)

    async def search(self, query: str) -> Hits:
        """Those that have what is typed in their words or in the name of their slash command."""
        matcher = self.matcher(query)
        for name, about, run, _ in self.app.get_system_commands(self.screen):
            by_name = matcher.match(name)
            if score := max(by_name, *map(matcher.match, _command_of(name, about))):
                shown_name = matcher.highlight(name) if by_name == score else name
                yield Hit(score, shown_name, run, text=name, help=about)


@dataclass(frozen=True)
class _Kept:
    """A session or a document."""

    name: str
    told: str
    take: Callable[[], None]  # in the chat


class Kept(Provider):
    """Sessions, which are opened, and documents, whose names go into the prompt: only they are asked then."""

    _kept: Sequence[_Kept] = ()

    @property
    def _palette(self) -> Palette:
        return cast("Palette", self.app)

    async def startup(self) -> None:
        if self._palette.chat.is_ready:
            self._kept = await self._palette.chat.desk.look(self._look)

    def _look(self, assistant: Assistant, user_id: int) -> list[_Kept]:
        chat, stores = self._palette.chat, assistant.stores
        documents = stores.library.all(user_id)
        return [
            *(
                _Kept(line.title, f"session {line.session_id}", partial(chat.switch_session, line.session_id))
                for line in stores.sessions.lines(user_id, limit=_SESSIONS)
                if not line.is_private
            ),
            *(
                _Kept(
                    each.name,
                    f"document · {each.source}",
                    partial(chat.ask_only, each.called_among(documents)),
                )
                for each in documents
            ),
        ]

    async def search(self, query: str) -> Hits:
        """Those with all words in their names. Their names are no markup, whoever wrote them."""
        matcher, words = self.matcher(query), query.casefold().split()
        for kept in self._kept:
            if all(word in kept.name.casefold() for word in words):
                name, told = one_line(kept.name), _escaped(one_line(kept.told))
                score = matcher.match(name) * _BELOW_COMMANDS
                yield Hit(score, Content(name), partial(self._take, kept), text=name, help=told)

    def _take(self, kept: _Kept) -> None:
        self._palette.call_later(self._palette.does_with_chat, kept.take)


class Palette(Everywhere):
    """The program, each of whose actions is found by its name."""

    COMMANDS = {InOrder, Kept}  # noqa: RUF012
    changed_keys: dict[str, str]

    def action_command_palette(self) -> None:
        """Opens it, and says what it finds."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder=_PLACEHOLDER, id="--command-palette"))

    def get_system_commands(self, screen: Screen[Any]) -> Iterator[SystemCommand]:
        """Every action and command, with its key; those of the screen that is open first."""
        here = list(self._actions_here(screen))
        yield from here
        named = {command.title for command in here}
        everything = [*self._actions_of_the_chat(screen), *self._commands()]
        yield from (c for c in sorted(everything, key=attrgetter("title")) if c.title not in named)

    def _actions_here(self, screen: Screen[Any]) -> Iterator[SystemCommand]:
        """What the keys do that act where the focus is, on what is marked or read there."""
        chain = (screen.focused or screen).ancestors_with_self
        whose = {name: node for node in reversed(chain) for name in _ids_of(node)}
        for place, keys in PLACES.items():
            for key in keys:
                is_everywhere = key in PROMPT or key in CHAT or key in APP
                if not is_everywhere and key.id in whose and _is_listed(key):
                    yield self._row(place, key, screen, whose[key.id])

    def _actions_of_the_chat(self, screen: Screen[Any]) -> Iterator[SystemCommand]:
        for key in (*CHAT, *PROMPT, *APP):
            if key.id not in _LEFT_OUT:
                run = self.run_action if key in APP else self._run_in_chat
                action = key.action.removeprefix("screen.")
                yield SystemCommand(
                    key.words.capitalize(), self._about(key), lambda r=run, a=action: self.call_later(r, a)
                )
        if screen is self.chat:  # of the last answer, where none is read
            for key in READING:
                if key.action.startswith("screen.") and _is_listed(key):
                    yield self._row("Reading", key, screen, screen)

    def _commands(self) -> Iterator[SystemCommand]:
        for name, about in (self.chat.desk.slash_commands | OF_SCREEN).items():
            yield SystemCommand(
                name, _escaped(about), lambda name=name: self.call_later(self._begin_command, name)
            )

    def _row(self, place: str, key: Key, screen: Screen[Any], node: DOMNode) -> SystemCommand:
        return SystemCommand(
            f"{place} · {key.words}",
            self._about(key),
            lambda: self.call_later(self._run_here, key.action, screen, node),
        )

    def _about(self, key: Key) -> str:
        pressed = shown(self.changed_keys.get(key.id, key.keys))
        return _escaped(f"{pressed} · {key.slash}" if key.slash else pressed)

    async def _run_here(self, action: str, screen: Screen[Any], node: DOMNode) -> None:
        if self.screen is screen:  # else another one came meanwhile
            if isinstance(screen, GivesWay) and screen.comes_first:
                cast("Host", self).tell(screen.comes_first)
            else:
                await self.run_action(action, node)

    async def _run_in_chat(self, action: str) -> None:
        if self.screen is self.chat:
            await self.run_action(action, self.chat)
        elif action == "help":
            self.open_help()
        elif await self.goes_back_to(self.chat):
            await self.does_in_chat(action)

    async def does_with_chat(self, take: Callable[[], None]) -> None:
        """Goes back to the chat, and does it there; not where something comes first."""
        if await self.goes_back_to(self.chat):
            take()

    async def _begin_command(self, name: str) -> None:
        """A command that takes something is put into the prompt, the others are run."""
        if not await self.goes_back_to(self.chat):
            return
        if NAMED[name].needs_words:
            self.chat.prompt.put(f"{name} ")
            self.chat.prompt.focus()
        elif not self.chat.runs_here(name):
            self.chat.talk.send(name)


def _ids_of(node: DOMNode) -> Iterator[str]:
    """Of the keys of the table that a screen or a part of it has, whatever takes them before it."""
    for kind in type(node).__mro__:
        for held in vars(kind).get("BINDINGS", ()):
            if isinstance(held, Binding) and held.id is not None:
                yield held.id


def _command_of(name: str, about: str) -> tuple[str, str]:
    """The slash command that a row is, or names behind its key; and its first word without the slash."""
    slash = name if name.startswith("/") else about.partition(" · ")[2]
    return slash, slash.partition(" ")[0].removeprefix("/")


def _is_listed(key: Key) -> bool:
    action = key.action.removeprefix("screen.").partition("(")[0]
    return action not in _MOVES and not (key in READING and action in _ALSO_OF_THE_CHAT)


def _escaped(about: str) -> str:
    """Without what the palette would take for markup."""
    return about.replace("[", r"\[")
