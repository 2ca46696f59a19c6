"""What ChatGPT, Claude and `llm` export, read as sessions: one record in, one session out.

A record that is not as it should be is read as far as it is; what holds no message is no session. No walk
here is recursive, and none goes round in a circle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any, TypeAlias

from assistant.library.chat_logs.values import mapping, moment, sequence, text
from stores.conversation.imported_sessions import ToldSession, ToldTurn

NO_WORDS = "(no words: an image, a file or a recording)"
_ATTACHED_TEXT = re.compile(r"^\(attached: .*\)\n(?=.)", re.MULTILINE)
_NO_PARENT = "00000000-0000-4000-8000-000000000000"  # what Claude's first messages follow
_MOST_TURNS = 20_000  # of one session
_MOST_CHARACTERS = 20_000_000  # of one session: branches repeat what they share
Record: TypeAlias = Mapping[str, Any]


# ChatGPT: a tree of messages. One that was changed, or another answer, begins a branch.


def chatgpt_session(record: Record) -> ToldSession | None:
    """A conversation of conversations.json."""
    tree = _Tree(mapping(record.get("mapping")))
    turns = list(tree.turns())
    if not turns:
        return None
    return ToldSession(
        origin="ChatGPT",
        key=text(record.get("conversation_id")) or text(record.get("id")) or turns[0].key,
        title=text(record.get("title")),
        turns=turns,
        at=moment(record.get("create_time")),
        last=tree.turn_at(record.get("current_node")),
    )


@dataclass(frozen=True)
class _Open:
    """A turn as far as it is read: a user's message, and what was answered until now."""

    user_key: str
    message: str
    follows: str  # the key of the turn before it
    at: datetime | None
    last_key: str  # of the node that was read last
    answers: tuple[Any, str] | None = None  # the last part, behind those before it
    characters: int = 0
    model: str = ""

    def answered(self, key: str, said: str, model: str) -> _Open:
        return replace(
            self,
            last_key=key,
            answers=(self.answers, said),
            characters=self.characters + len(said),
            model=model or self.model,
        )

    def told(self, key: str) -> ToldTurn:
        parts: list[str] = []
        link = self.answers
        while link is not None:
            parts.append(link[1])
            link = link[0]
        answer = text("\n\n".join(reversed(parts)))
        return ToldTurn(
            key=key, follows=self.follows, message=self.message, answer=answer, model=self.model, at=self.at
        )


class _Tree:
    """The nodes of a conversation, each below the one it names as its parent."""

    def __init__(self, nodes: Record) -> None:
        self._nodes = {key: mapping(node) for key, node in nodes.items()}
        self._below: dict[str, list[str]] = {}
        for key, node in self._nodes.items():
            self._below.setdefault(self._above(node), []).append(key)
        self._ended_at: dict[str, str] = {}  # the key of the turn that ended with a node
        self._answered: set[str] = set()  # messages with an answer: another one is another turn

    def _above(self, node: Record) -> str:
        parent = node.get("parent")
        return parent if isinstance(parent, str) and parent in self._nodes else ""

    def turns(self) -> Iterator[ToldTurn]:
        """Each turn behind the one it follows. Nodes in a circle hang below nothing and are not met."""
        characters = 0
        for opened in self._ends():
            turn = self._close(opened)
            if turn is None:
                continue
            characters += len(turn.message) + len(turn.answer)
            if characters > _MOST_CHARACTERS or len(self._ended_at) > _MOST_TURNS:
                return
            yield turn

    def _ends(self) -> Iterator[_Open]:
        """Turns that are whole: at the next message of the user, and where a branch ends."""
        waiting: list[tuple[str, _Open | None]] = [(key, None) for key in reversed(self._below.get("", []))]
        while waiting:
            key, opened = waiting.pop()
            node = mapping(self._nodes[key].get("message"))
            role, said = _role(node), _words(node)
            if role == "user" and said:
                follows = ""
                if opened is not None:
                    yield opened
                    follows = self._ended_at.get(opened.last_key, "")
                opened = _Open(key, said, follows, moment(node.get("create_time")), key)
            elif role == "assistant" and said:
                opened = opened or _Open(key, NO_WORDS, "", moment(node.get("create_time")), key)
                opened = opened.answered(key, said, text(mapping(node.get("metadata")).get("model_slug")))
            below = self._below.get(key, [])
            if not below and opened is not None:
                yield opened
            waiting.extend((child, opened) for child in reversed(below))

    def _close(self, opened: _Open) -> ToldTurn | None:
        if opened.last_key in self._ended_at:
            return None  # told for another branch already
        is_first = opened.user_key not in self._answered
        key = opened.user_key if is_first else f"{opened.user_key}:{opened.last_key}"
        self._answered.add(opened.user_key)
        self._ended_at[opened.last_key] = key
        return opened.told(key)

    def turn_at(self, key: object) -> str:
        """The key of the turn that ended with a node, or with the next one above it; else empty."""
        seen: set[str] = set()
        while isinstance(key, str) and key in self._nodes and key not in seen:
            if key in self._ended_at:
                return self._ended_at[key]
            seen.add(key)
            key = self._above(self._nodes[key])
        return ""


def _role(message: Record) -> str:
    """user or assistant; empty for what nobody saw, such as what tools are told."""
    role = text(mapping(message.get("author")).get("role"))
    is_hidden = mapping(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
    is_to_tool = role == "assistant" and text(message.get("recipient")) not in ("", "all")
    return "" if is_hidden or is_to_tool else role


def _words(message: Record) -> str:
    content = mapping(message.get("content"))
    parts = sequence(content.get("parts"))
    said = [text(part) or text(mapping(part).get("text")) for part in parts] or [text(content.get("text"))]
    whole = "\n".join(part for part in said if part.strip())
    return text(whole) or (NO_WORDS if parts and any(mapping(part) for part in parts) else "")


# Claude: messages, each of which may say which one it follows; then it is a tree as well.


def claude_session(record: Record) -> ToldSession | None:
    """A conversation of conversations.json."""
    nodes: dict[str, Record] = {}
    before = ""
    for number, each in enumerate(map(mapping, sequence(record.get("chat_messages"))[: 2 * _MOST_TURNS])):
        key = text(each.get("uuid")) or f"{number}"
        key = f"{key}:{number}" if key in nodes else key
        parent = text(each.get("parent_message_uuid"))
        message = {
            "author": {"role": "user" if text(each.get("sender")) == "human" else "assistant"},
            "content": {"text": _claude_words(each)},
            "create_time": each.get("created_at"),
        }
        is_told = parent in nodes or parent == _NO_PARENT
        nodes[key] = {"parent": parent if is_told else before, "message": message}
        before = key
    tree = _Tree(nodes)
    turns = list(tree.turns())
    if not turns:
        return None
    leaf = text(record.get("current_leaf_message_uuid"))
    return ToldSession(
        origin="Claude",
        key=text(record.get("uuid")) or turns[0].key,
        title=text(record.get("name")),
        turns=turns,
        at=moment(record.get("created_at")),
        last=tree.turn_at(leaf if leaf in nodes else before),
    )


def holds_attached_text(message: str) -> bool:
    """Whether a message of an import holds a text that was attached to it, whoever wrote that."""
    return _ATTACHED_TEXT.search(message) is not None


def _claude_words(message: Record) -> str:
    blocks = [mapping(block) for block in sequence(message.get("content"))]
    told = [text(block.get("text")) for block in blocks if text(block.get("type")) in ("", "text")]
    said = "\n\n".join(part for part in told if part.strip()) or text(message.get("text"))
    parts = [said]
    for file in (*sequence(message.get("attachments")), *sequence(message.get("files"))):
        name, held = (
            text(mapping(file).get("file_name")),
            text(mapping(file).get("extracted_content")).strip(),
        )
        if name or held:
            parts.append(f"(attached: {name or 'text'})" + (f"\n{held}" if held else ""))
    return text("\n\n".join(part for part in parts if part.strip()))


# llm: rows of prompts and responses, of which some belong to one conversation.


@dataclass(frozen=True)
class LlmRow:
    """A row of prompt and response, with what is too long in it cut."""

    key: str
    conversation: str  # the key of the conversation; of a row that is alone, its own
    name: str  # of the conversation
    model: str
    prompt: str
    response: str
    at: str  # as it is written there

    @property
    def characters(self) -> int:
        """About how much is held with it."""
        return len(self.prompt) + len(self.response)


def llm_row(record: Record) -> LlmRow:
    """A row as `llm logs --json` tells it."""
    key = text(record.get("id"))
    return LlmRow(
        key=key,
        conversation=text(record.get("conversation_id")) or key,
        name=text(record.get("conversation_name")),
        model=text(record.get("model")),
        prompt=text(record.get("prompt")),
        response=text(record.get("response")),
        at=text(record.get("datetime_utc")),
    )


def llm_sessions(rows: Iterable[LlmRow]) -> Iterator[ToldSession]:
    """The conversations of rows, in the order in which they are met first."""
    conversations: dict[str, list[LlmRow]] = {}
    for row in rows:
        conversations.setdefault(row.conversation, []).append(row)
    for of_one in conversations.values():
        if session := llm_session(of_one):
            yield session


def llm_session(rows: Iterable[LlmRow]) -> ToldSession | None:
    """One conversation, of as many of its rows as a session may hold; no more than these are read."""
    ordered = sorted(_within_limits(rows), key=lambda row: (row.at, row.key))
    turns: list[ToldTurn] = []
    for number, row in enumerate(ordered):
        if row.prompt.strip() or row.response.strip():
            turn = ToldTurn(
                key=row.key or f"{number}",
                follows=turns[-1].key if turns else "",
                message=row.prompt if row.prompt.strip() else NO_WORDS,
                answer=row.response,
                model=row.model,
                at=moment(row.at),
            )
            turns.append(turn)
    if not turns:
        return None
    title = next((row.name for row in ordered if row.name), "")
    return ToldSession(origin="llm", key=ordered[0].conversation, title=title, turns=turns, at=turns[0].at)


def _within_limits(rows: Iterable[LlmRow]) -> Iterator[LlmRow]:
    characters = 0
    for row in islice(rows, _MOST_TURNS):
        characters += row.characters
        if characters > _MOST_CHARACTERS:
            return
        yield row
