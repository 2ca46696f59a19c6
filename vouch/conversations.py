"""Conversations in OpenAI's form: read, and gone on with in the session that holds them."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stores.base.errors import WrongUsage

if TYPE_CHECKING:
    from agents.base.chat_interfaces import Image, Tools
    from assistant.wiring.assistant import Assistant

Messages = Sequence[Mapping[str, Any]]  # as OpenAI's: role and content
_MOST_KEPT = 40  # exchanges of a conversation that no session holds: the last
_INSTRUCTS = ("system", "developer")


@dataclass(frozen=True)
class Conversation:
    """A message to be answered, and what was said before it."""

    message: str
    images: tuple[Image, ...] = ()
    earlier: tuple[tuple[str, str], ...] = ()  # messages and replies, the oldest first
    system: str = ""  # what the program asks of all answers
    tools: Tools | None = None  # that the program offers the model
    is_kept: bool = True  # else it is answered in a private session, of which nothing is remembered


def read_conversation(
    messages: Messages,
    *,
    tools: Sequence[Mapping[str, Any]] = (),
    tool_choice: object = None,
    is_kept: bool = True,
) -> Conversation:
    """Of these the user's last is answered; behind it may stand calls of tools and their results.

    Raises `WrongUsage` where there is no such message, or calls stand there without tools.
    """
    from agents.base.chat_interfaces import Tools

    place = max((n for n, each in enumerate(messages) if each.get("role") == "user"), default=-1)
    rounds = tuple(messages[place + 1 :])
    if place < 0 or (rounds and not tools) or not all(map(_is_of_a_tool, rounds)):
        raise WrongUsage("the last message must be the user's, but for calls of tools and their results")
    last = messages[place].get("content")
    message = text_of(last)
    if not message:
        raise WrongUsage("the last message holds no text")
    parts = last if isinstance(last, list) else []
    images = tuple(_image(part) for part in parts if part.get("type") == "image_url")
    system = [text_of(each.get("content")) for each in messages if each.get("role") in _INSTRUCTS]
    return Conversation(
        message,
        images,
        tuple(exchanges(messages[:place])),
        "\n\n".join(filter(None, system)),
        Tools(tuple(tools), tool_choice, rounds) if tools else None,
        is_kept,
    )


def _is_of_a_tool(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "tool" or (
        message.get("role") == "assistant" and bool(message.get("tool_calls"))
    )


def session_for(
    assistant: Assistant, user_id: int, conversation: Conversation
) -> tuple[int, int | None, int | None]:
    """The session in which all that was said before was said, and the last turn of that; else a new one.

    With results of tools, also the turn that asked for them, in whose place the message comes. In a new
    session the earlier exchanges are kept to be read, and neither searched nor learned from.
    """
    journal, sessions = assistant.stores.journal, assistant.stores.sessions
    found = None
    if conversation.tools is not None and conversation.tools.rounds and conversation.is_kept:
        asked = [*conversation.earlier, (conversation.message, "")]
        if found := sessions.behind_what_was_said(user_id, asked, conversation.system):
            return found[0], None, found[1]
    if conversation.earlier and conversation.is_kept:
        found = sessions.behind_what_was_said(user_id, conversation.earlier, conversation.system)
    if found is not None:
        session, behind = found[0], found[1]
    else:
        private = not conversation.is_kept
        session, behind = journal.open_session(user_id, by_program=True, is_private=private), None
        for message, reply in conversation.earlier[-_MOST_KEPT:]:
            behind = assistant.turns.pipeline.keep_as_said(user_id, session, message, reply)
        if conversation.system:
            sessions.instruct(user_id, session, conversation.system)
    return session, behind, None


def exchanges(messages: Messages) -> list[tuple[str, str]]:
    """Each message of the user with the replies behind it. Raises `WrongUsage` for what holds no text."""
    exchanges: list[tuple[str, str]] = []
    for each in messages:
        role, text = each.get("role"), text_of(each.get("content"))
        if role == "user" and text:
            exchanges.append((text, ""))
        elif role == "assistant" and text and exchanges:
            message, reply = exchanges[-1]
            exchanges[-1] = (message, f"{reply}\n\n{text}".strip())
    return exchanges


def text_of(content: object) -> str:
    """Of a message, the texts of its parts where it has some."""
    if content is None or isinstance(content, str):
        return (content or "").strip()
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        raise WrongUsage(f"a message has content of the kind {type(content).__name__}", hint="Give it text.")
    texts = [part.get("text") for part in content if part.get("type", "text") == "text"]
    return "\n\n".join(text for text in texts if isinstance(text, str)).strip()


def _image(part: Mapping[str, Any]) -> Image:
    """An image that came along. Raises `WrongUsage` for an address, as nothing is fetched."""
    from assistant.turns.images import image_of

    given = part.get("image_url")
    url = given.get("url") if isinstance(given, Mapping) else given
    head, _, data = url.partition(",") if isinstance(url, str) else ("", "", "")
    if not (head.startswith("data:image/") and head.endswith(";base64")):
        raise WrongUsage(
            "an image must come along as data:image/...;base64", hint="Addresses are not fetched."
        )
    try:
        return image_of(base64.b64decode(data, validate=True), "an image of the message")
    except ValueError:  # also of letters that are none of base64's
        raise WrongUsage("an image is no base64") from None
