"""Which chat model answers in this chat: what there is, and switching to another one."""

from __future__ import annotations

import asyncio
import difflib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agents.backends.openai.nearby import USUAL_PORTS, chats, nearby_servers
from assistant.settings.changed_settings import change_settings
from assistant.settings.config import ModelSettings
from assistant.settings.identity import api_key
from assistant.settings.local_models import LocalModels
from assistant.terminal.input.commands import FIND
from assistant.terminal.input.menus import asked_number
from stores.base.errors import NotFound, VouchError, WrongUsage
from stores.base.one_line import one_line, short

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant

BUILT_IN = "extractive"


@dataclass(frozen=True)
class _Choice:
    """A model that can answer here."""

    name: str
    told: str  # where it runs
    model: ModelSettings


def choose_model(assistant: Assistant, name: str, *, menu: Callable[[], str | None] | None) -> Iterator[str]:
    """Switches to the model of this name; without one, tells which there are. Yields what is said of it.

    menu: reads the number of one of them, where somebody is there to choose; else None.
    """
    settings = assistant.given.settings.model
    if name.split()[:1] == [FIND]:
        yield from find_model(assistant, name.partition(" ")[2], menu=menu)
        return
    choices = _choices(assistant, settings)
    if not name:
        yield from _told(assistant, choices)
        if menu is None:
            yield "/model NAME changes it for this chat; [model] in settings.toml is for all chats."
            return
        yield "Which model should answer in this chat? Type its number, or Enter to keep this one."
        number = asked_number(menu, range(1, len(choices) + 1))
        if number is None:
            yield "Left as it is."
            return
        chosen = choices[number - 1]
    else:
        chosen = _named(choices, name, settings)
    if chosen.model == assistant.models.model_in_use:
        yield f"{one_line(chosen.name)} answers already."
        return
    assistant.turns.answer_with(chosen.model)
    yield f"From now on {one_line(chosen.name)}, {chosen.told}, answers in this chat. The settings stay."


def told_models(assistant: Assistant) -> dict[str, str]:
    """What can be chosen, by name, with what is told of each. Asks the server; not for an event loop."""
    choices = _choices(assistant, assistant.given.settings.model)
    return {choice.name: choice.told for choice in choices if choice.name.isprintable()}


def find_model(assistant: Assistant, wanted: str, *, menu: Callable[[], str | None] | None) -> Iterator[str]:
    """Looks for servers on this machine, tries a model of one, and has it answer from now on.

    wanted: the name of one that was listed; without one it is asked for, where somebody is there.
    """
    yield "Looking for model servers on this machine …"
    found = [(each, name) for each in nearby_servers() for name in each.models]
    if not found:
        ports = ", ".join(f"{kind} ({port})" for port, kind in USUAL_PORTS.items())
        yield f"None answers at the usual ports: {ports}. [model] in settings.toml names any other."
        return
    if not wanted:
        for place, (server, name) in enumerate(found, start=1):
            yield f"{place:>3}  {one_line(name)}  ({server.kind}, {server.base_url})"
        if menu is None:
            yield "/model find NAME tries one of them, and has it answer."
            return
        yield "Which one should answer? Type its number, or Enter to go on without."
        number = asked_number(menu, range(1, len(found) + 1))
        if number is None:
            yield "Left as it is."
            return
        server, name = found[number - 1]
    else:
        if wanted not in (name for _, name in found):
            raise NotFound(f"no server here has {one_line(wanted)}", hint="/model find lists what there is.")
        server, name = next(each for each in found if each[1] == wanted)
    model = ModelSettings(backend="openai", base_url=server.base_url, name=name)
    _must_carry_nothing(assistant, model)
    yield f"Trying {one_line(name)} …"
    yield f"It says: {one_line(first_words(assistant, model))}"
    values = {"backend": "openai", "base_url": server.base_url, "name": name}
    change_settings(assistant.given.locations.settings, "model", values)
    assistant.turns.answer_with(model)
    yield f"From now on {one_line(name)} answers, also in later chats: {assistant.given.locations.settings}"


def _must_carry_nothing(assistant: Assistant, found: ModelSettings) -> None:
    """Raises `WrongUsage` where a key or more of another server would go to one that was found."""
    settings = assistant.given.settings
    before = replace(settings.model, backend="openai", base_url=found.base_url, name=found.name)
    is_plain = before == replace(found, timeout_seconds=before.timeout_seconds, retries=before.retries)
    if settings.model.base_url or not is_plain or api_key(found, os.environ):
        raise WrongUsage(
            "a server, a key or more is set for [model], and would go to this server",
            hint=f'Name it in settings.toml: [models.NAME] with base_url = "{found.base_url}"',
        )


def first_words(assistant: Assistant, model: ModelSettings) -> str:
    """What a model replies to a greeting. Raises a `ModelError` where it does not."""
    chat = assistant.models.chat_model_of(model)
    from agents.base.chat_interfaces import ChatMessage, ReplyRequest

    greeting = ReplyRequest((ChatMessage("user", "Say hello in one short sentence."),))

    async def said() -> str:
        try:
            return "".join([piece async for piece in chat.stream(greeting) if isinstance(piece, str)])
        finally:
            await chat.aclose()

    return short(asyncio.run(said()), 200)


def _told(assistant: Assistant, choices: list[_Choice]) -> Iterator[str]:
    for number, choice in enumerate(choices, start=1):
        notes = [choice.told]
        if choice.model == assistant.given.settings.model:
            notes.append("in the settings")
        if choice.model == assistant.models.model_in_use:
            notes.append("answers now")
        yield f"{number:>3}  {one_line(choice.name)}  ({', '.join(notes)})"
    answers = assistant.turns.pipeline.counted
    if used := assistant.turns.used_tokens:
        behind, model = used - answers, assistant.given.settings.model
        yield (
            f"Since this chat began: {answers.sent:,} tokens sent, {answers.written:,} written by answers, "
            f"{behind.sent:,} and {behind.written:,} by what follows them"
            + (f"; {cost:.4f} in all." if (cost := model.cost(used.sent, used.written)) else ".")
        )
    if _lists_none(choices):
        yield f"Other models of {assistant.given.settings.model.server}: it lists none."


def _choices(assistant: Assistant, settings: ModelSettings) -> list[_Choice]:
    """The settings' model first, then what else its server lists, and the built-in one last."""
    built_in = _Choice(
        BUILT_IN, "built in: it quotes what was found", replace(settings, backend="extractive")
    )
    named = [
        _Choice(
            name, f"{one_line(model.label)} at {model.server}" if model.server else "on this machine", model
        )
        for name, model in assistant.given.settings.models.items()
    ]
    local = [
        _Choice(model.name, "on this machine", replace(settings, backend="llamacpp", path=str(model.path)))
        for model in LocalModels(assistant.given.locations.chat_models).all()
    ]
    others = [*named, *(choice for choice in local if choice.model != settings)]
    if settings.backend == "extractive":
        return [replace(built_in, model=settings), *others]
    if settings.backend != "openai":
        return [_Choice(settings.label, "on this machine", settings), *others, built_in]
    where = f"at {settings.server}"
    try:
        listed = assistant.models.listed_models()
    except VouchError as error:  # it may be chosen all the same, and tells what is wrong when it answers
        where, listed = f"{where}: {one_line(error.message)}", []
    of_server = [name for name in dict.fromkeys(listed) if name != settings.name and chats(name)]
    return [
        _Choice(settings.name, where, settings),
        *(_Choice(name, where, replace(settings, name=name)) for name in of_server),
        *others,
        built_in,
    ]


def _lists_none(choices: list[_Choice]) -> bool:
    """Whether a server is asked that does not tell what it has."""
    of_server = [choice for choice in choices if choice.told.startswith("at ")]
    return len(of_server) == 1


def _named(choices: list[_Choice], name: str, settings: ModelSettings) -> _Choice:
    """Raises `NotFound` for one that there is not, as far as that is known."""
    for choice in choices:
        if choice.name == name:
            return choice
    if _lists_none(choices):
        return _Choice(name, f"at {settings.server}, which lists no models", replace(settings, name=name))
    near = difflib.get_close_matches(name, [choice.name for choice in choices], n=1, cutoff=0.6)
    if settings.backend == "openai" and not near:  # a server may have more than it lists
        return _Choice(name, f"at {settings.server}, which does not list it", replace(settings, name=name))
    meant = f"Did you mean {one_line(near[0])}? " if near else ""
    more = (
        "" if settings.backend == "openai" else " To use a server or another model, name it in settings.toml."
    )
    raise NotFound(
        f"there is no model {one_line(name)} here", hint=f"{meant}/model lists what there is.{more}"
    )
