"""What is being typed can be completed to: commands, what stands behind them, documents behind @."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from textual.widgets import OptionList, TextArea

from assistant.terminal.actions.model_choice import told_models
from assistant.terminal.chat.surroundings import Surroundings
from assistant.terminal.conversation.prompt import Prompt
from assistant.terminal.input.commands import FIND, NAMED, OF_BOTH, OF_SCREEN
from assistant.terminal.widgets.prompt_menu import Choice, PromptMenu
from assistant.turns.documents_named import naming
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant

_NAMES = re.compile(r"(?<!\S)@\S*$")  # a document, whose name is being typed
_PATHS_LOOKED_AT = 1_000
_ABOUT_FROM = 3  # letters, from which on words of what a command does are looked for


class Completing(Surroundings):
    """The menu of the prompt."""

    _models: Mapping[str, str] = {}  # that `/model` chooses among, as last asked

    @property
    def menu(self) -> PromptMenu:
        return self.query_one("#menu", PromptMenu)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Offers what fits what was typed, but not what was put there, as an earlier message is."""
        typed = self.prompt.text
        if self.prompt.is_typed and _is_completed(typed):
            self.work(self._offer(typed))
        else:
            self.menu.close()

    def on_prompt_wants_completion(self, event: Prompt.WantsCompletion) -> None:
        """Tab, where the menu is closed: the only one that fits is taken."""
        event.stop()
        if _is_completed(self.prompt.text):
            self.work(self._complete(self.prompt.text))
        else:
            self.prompt.screen.focus_next()

    async def _complete(self, typed: str) -> None:
        choices = await self._choices(typed)
        if len(choices) == 1:
            self.prompt.take_choice(choices[0])
        elif not choices:
            self.tell(f"nothing begins with {one_line(typed.split(' ')[-1])}")
        elif self.prompt.text == typed:
            self.menu.offer(typed, choices, completes=_completes(typed))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """One was clicked."""
        if event.option_list is self.menu:
            event.stop()
            self.prompt.take_choice(self.menu.choices[event.option_index])
            self.prompt.focus()

    async def _offer(self, typed: str) -> None:
        choices = await self._choices(typed)
        if self.prompt.text == typed:  # nothing else was typed meanwhile
            self.menu.offer(typed, choices, completes=_completes(typed))

    async def _choices(self, typed: str) -> Sequence[Choice]:
        if not typed.startswith("/"):
            before, _, stem = typed.rpartition("@")
            names = await self.desk.look(_documents)
            return [
                Choice(f"{before}{naming(name)} ", naming(name), about)
                for name, about in names.items()
                if name.casefold().startswith(stem.removeprefix('"').casefold())
            ]
        name, blank, argument = typed.partition(" ")
        if not blank:
            return commands_that_fit(name)
        fitting = await self._behind(name, argument)
        return [
            Choice(f"{name} {each}", each, about, is_whole=not each.endswith("/"))
            for each, about in fitting.items()
            if each.casefold().startswith(argument.casefold()) and each != argument
        ]

    async def _behind(self, name: str, argument: str) -> Mapping[str, str]:
        """What can stand behind a command, and what is told of each."""
        match name:
            case "/theme":
                return dict.fromkeys(sorted(self.app.available_themes), "")
            case "/copy":
                return {"code": "its next block of code"}
            case "/ingest" | "/attach":
                return dict.fromkeys(await asyncio.to_thread(_paths, argument), "")
            case "/docs":
                return await self.desk.look(_documents)
            case "/sessions":
                return await self.desk.look(_titles)
            case "/kb":
                return await self.desk.look(_bases)
            case "/system":
                return await self.desk.look(_personas)
            case "/model":
                return await self._named_models(afresh=not argument)
        return {}

    async def _named_models(self, *, afresh: bool) -> Mapping[str, str]:
        """As `/model` lists them. afresh: the server is asked once more, beside what is looked up."""
        if afresh or not self._models:
            assistant = await self.desk.look(lambda assistant, _: assistant)
            told = await asyncio.to_thread(told_models, assistant)
            self._models = told | {FIND: "model servers on this machine"}
        return self._models


def _is_completed(typed: str) -> bool:
    """Whether a command is being typed, or the name of a document."""
    return (typed.startswith("/") and not typed.startswith("//") and "\n" not in typed) or bool(
        _NAMES.search(typed)
    )


def _completes(typed: str) -> bool:
    """Whether Enter completes: a command or a name, but not what stands behind a command, which is free."""
    return " " not in typed or not typed.startswith("/")


def commands_that_fit(typed: str) -> list[Choice]:
    """Those that begin with what is typed, or else those that hold it or tell of it."""
    word = typed.removeprefix("/")
    if not typed.startswith("/") or " " in typed:
        return []
    told = OF_BOTH | OF_SCREEN
    begin = [name for name in told if name.startswith(typed)]
    others = [name for name in told if word in f"{name} {told[name]}".casefold()]
    found = begin or (others if len(word) >= _ABOUT_FROM else [])
    return [
        Choice(f"{name} ", name, told[name], is_whole=bool(begin) and not NAMED[name].needs_words)
        for name in found
    ]


def _paths(typed: str) -> list[str]:
    """What there is in the folder that is being typed, as it would be typed on; folders end in a slash."""
    folder, slash, _ = typed.rpartition("/")
    try:
        place = Path(folder + slash).expanduser()
        entries = sorted(islice(place.iterdir(), _PATHS_LOOKED_AT))
        kinds = [(entry.name, "/" if entry.is_dir() else "") for entry in entries]
    except (OSError, RuntimeError):  # of "~nobody/"
        return []
    return [f"{folder}{slash}{name}{end}" for name, end in kinds if name.isprintable()]


def _documents(assistant: Assistant, user_id: int) -> dict[str, str]:
    """Documents and collections by name."""
    documents = assistant.stores.library.all(user_id)
    names = {each.name: "" for each in documents}
    names |= {each.collection: "a collection" for each in documents if each.collection}
    return dict(sorted(names.items()))


def _titles(assistant: Assistant, user_id: int) -> dict[str, str]:
    lines = assistant.stores.sessions.lines(user_id)
    return {line.title: f"session {line.session_id}" for line in lines if not line.is_private}


def _bases(assistant: Assistant, user_id: int) -> dict[str, str]:
    bases = assistant.stores.knowledge_bases.all(user_id)
    return {base.name: f"{base.entities:,} entities" for base in bases}


def _personas(assistant: Assistant, _: int) -> dict[str, str]:
    return {f"@{name}": text for name, text in sorted(assistant.given.settings.personas.items())}
