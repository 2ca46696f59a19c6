"""Replies that fit a JSON schema, from models that are only asked for them.

    ask -> read the object in the reply -> fits, or say what is wrong and ask once more -> fits, or an error

A backend that can hold a model to a schema does so as well: what comes back is checked here all the same.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import cast

from agents.base.chat_interfaces import ChatMessage, closed_object
from agents.base.thinking import without_thoughts
from stores.base.errors import ContextTooLong, MalformedReply
from stores.base.one_line import short

_PROBLEM_CHARACTERS = 300
LONGEST_REPLY = 100_000  # characters that are looked at: what was asked for takes a few hundred


async def fitting_reply(
    complete: Callable[[Sequence[ChatMessage]], Awaitable[str]],
    messages: Sequence[ChatMessage],
    schema: Mapping[str, object],
    *,
    writer: str,
    pruned: Callable[[str], str],
) -> dict[str, object]:
    """The object a model replies with, after at most one repair.

    complete: asks the model for one whole reply. writer: who it is, for the error. pruned: makes the
    words of a misfit, which quote the reply, fit for a screen. Raises `MalformedReply`.
    """
    reply = await complete(messages)
    try:
        return fitting(reply, schema)
    except ValueError as misfit:
        repair = (
            *messages,
            ChatMessage("assistant", reply[:LONGEST_REPLY] or "(nothing)"),
            ChatMessage("user", f"That reply does not fit: {misfit}. {instructions(schema)}"),
        )
    try:
        reply = await complete(repair)
        return fitting(reply, schema)
    except ContextTooLong:  # the reply to be repaired leaves no room for another
        raise MalformedReply(
            f"{writer} gave no reply of the form asked for, and one too long to be repaired",
            hint="Lower model.max_tokens, or choose a model that follows instructions better.",
        ) from None
    except ValueError as misfit:
        raise MalformedReply(
            f"{writer} gave no reply of the form asked for, also after one repair: {pruned(str(misfit))}",
            hint="Try again, or choose a model that follows instructions better.",
        ) from None


def choice_schema(choices: Sequence[str]) -> dict[str, object]:
    """The schema of an object whose `choice` is one of these."""
    return closed_object(choice={"type": "string", "enum": list(choices)})


def check_choices(choices: Sequence[str]) -> None:
    """Raises ValueError unless there is something to choose from: none empty, none twice."""
    if not choices or not all(choices) or len(set(choices)) < len(choices):
        raise ValueError(f"choices must be given, not empty and all different: {list(choices)!r}")


def in_short(words: str) -> str:
    """What a server or library says, on one line, and not too long."""
    return short(words, _PROBLEM_CHARACTERS)


def instructions(schema: Mapping[str, object]) -> str:
    """The schema in words that a model can follow."""
    return (
        "Answer with one JSON object and nothing else. It must fit this JSON schema:\n"
        f"{json.dumps(dict(schema), ensure_ascii=False)}"
    )


def with_instructions(
    messages: Sequence[ChatMessage], schema: Mapping[str, object]
) -> tuple[ChatMessage, ...]:
    """The messages with the schema in the system message, of which many models allow only one."""
    rest, told = tuple(messages), instructions(schema)
    if rest and rest[0].role == "system":
        told, rest = f"{rest[0].content}\n\n{told}", rest[1:]
    return (ChatMessage("system", told), *rest)


def fitting(reply: str, schema: Mapping[str, object]) -> dict[str, object]:
    """The one object in a reply, bare or with a fence, words or thoughts around it.

    Raises ValueError, in words that a model can act on, where there is none or it does not fit, and where
    the reply has more than `LONGEST_REPLY` characters: no more than these are read of any.
    """
    import jsonschema

    if len(reply) > LONGEST_REPLY:
        raise ValueError(f"it is too long: {len(reply):,} characters, where {LONGEST_REPLY:,} are read")
    reply = without_thoughts(reply)
    start, end = reply.find("{"), reply.rfind("}")
    if start < 0 or end < start:
        raise ValueError("it holds no JSON object")
    try:
        value = json.loads(reply[start : end + 1], parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()  # half characters
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not one valid JSON object ({error})") from None
    problem = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(value))
    if problem is not None:
        raise ValueError(f"at {problem.json_path}, {problem.message[:_PROBLEM_CHARACTERS]}")
    return cast("dict[str, object]", value)


def _refuse_constant(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")
