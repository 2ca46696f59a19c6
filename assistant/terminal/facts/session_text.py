"""A session written out, to be read elsewhere: as Markdown the branch that is on, as JSON every turn."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stores.base.clock import local, stamp
from stores.base.errors import NotFound, WrongUsage
from stores.base.one_line import one_line
from stores.base.shortages import shortage

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.base.passages import Passage
    from stores.conversation.sessions import SessionTree
    from stores.database.tables import Turn

SCHEMA = 1


def not_listed(asked: int, lists_them: str) -> str:
    """That sessions of single questions are apart. lists_them: what is typed to see them."""
    if asked == 1:
        return f"1 session of `vouch ask` is not listed here: {lists_them} lists it."
    return f"{asked} sessions of `vouch ask` are not listed here: {lists_them} lists them."


def write_session(assistant: Assistant, user_id: int, session_id: int, path: Path) -> int:
    """Writes a session into a new file that its owner alone can read; returns how many turns.

    JSON where the file's name ends so, else Markdown. Raises `WrongUsage` where the file is there already.
    """
    tree = assistant.stores.sessions.tree(user_id, session_id)
    as_json = path.suffix.lower() == ".json"
    if as_json:
        text = json.dumps(session_object(assistant, user_id, tree), ensure_ascii=False, indent=2) + "\n"
    else:
        text = session_markdown(assistant, user_id, tree)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise WrongUsage(f"{path} is there already", hint="Name another file.") from None
    except OSError as error:
        unwritable = WrongUsage(f"{path}: {error.strerror}", hint="Name another file.")
        raise shortage(error, {path: "Or name another file."}) or unwritable from None
    return len(tree.turns) if as_json else len(tree.branch)


def session_markdown(assistant: Assistant, user_id: int, tree: SessionTree) -> str:
    """The branch that is on, with the sources of each answer."""
    turns = [turn for turn in tree.turns if turn.id in set(tree.branch)]
    ratings = assistant.stores.ratings.of_turns(user_id, tree.branch)
    return "\n".join(_markdown(assistant, user_id, tree, turns, ratings)) + "\n"


def session_object(assistant: Assistant, user_id: int, tree: SessionTree) -> dict[str, Any]:
    """As plain values: every turn with the one that it follows, so that all branches can be told."""
    ids = [turn.id or 0 for turn in tree.turns]
    ratings = assistant.stores.ratings.of_turns(user_id, ids)
    return {
        "schema": SCHEMA,
        "session": {
            "id": tree.session_id,
            "title": tree.title,
            "created_at": stamp(tree.created_at),
            "imported_from": tree.origin or None,
            "private": tree.is_private,
            "branch": list(tree.branch),
        },
        "turns": [
            {
                "id": turn.id,
                "follows": tree.follows[turn.id or 0] or None,
                "message": turn.message,
                "material": turn.material,
                "answer": turn.answer,
                "state": turn.state,
                "model": turn.model,
                "rating": ratings.get(turn.id or 0),
                "accepted_at": stamp(turn.accepted_at),
                "answered_at": stamp(turn.answered_at) if turn.answered_at else None,
                "sources": [
                    {"number": number, "scope": passage.scope, "title": passage.title, "text": passage.text}
                    for number, passage in _cited(assistant, user_id, turn)
                ],
            }
            for turn in tree.turns
        ],
    }


def _markdown(
    assistant: Assistant, user_id: int, tree: SessionTree, turns: list[Turn], ratings: dict[int, str]
) -> Iterator[str]:
    yield f"# {one_line(tree.title) or f'Session {tree.session_id}'}"
    yield ""
    came = f", from {one_line(tree.origin)}" if tree.origin else ""
    yield f"Session {tree.session_id}{came}, begun {_day(tree.created_at)}, {len(turns)} turns."
    for turn in turns:
        yield f"\n## You · {_day(turn.accepted_at)}\n"
        yield turn.message or "(forgotten)"
        state = turn.state if turn.state in ("stopped", "failed") else ""
        told = " · ".join(
            part for part in ("Assistant", one_line(turn.model), state, ratings.get(turn.id or 0, "")) if part
        )
        yield f"\n## {told}\n"
        yield turn.answer or "(no answer)"
        cited = list(_cited(assistant, user_id, turn))
        if cited:
            yield ""
        for number, passage in cited:
            yield f"- [{number}] {passage.scope}: {one_line(passage.title or passage.source or passage.text)}"


def _cited(assistant: Assistant, user_id: int, turn: Turn) -> Iterator[tuple[int, Passage]]:
    """What an answer cites, as far as it is kept."""
    cited = turn.details.get("cited", [])
    if not cited:
        return
    try:
        found = {f.citation: f.version_id for f in assistant.stores.journal.found_in(user_id, turn.id or 0)}
    except NotFound:
        return
    passages = assistant.stores.catalogue.passages_of(user_id, [found[n] for n in cited if n in found])
    for number in cited:
        if number in found and found[number] in passages:
            yield number, passages[found[number]][0]


def _day(moment: datetime) -> str:
    return f"{local(moment):%Y-%m-%d %H:%M}"
