"""vouch replay SESSION --model A --against B: what of one's own conversation another model would change."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from assistant.commands.replay.telling import Progress
from assistant.invocation import Invocation
from stores.base.errors import NotFound, UnreadableDocument, WrongUsage
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.replay.runs.conversations import Compared, Message

UNCHANGED = "unchanged"  # the one figure of a comparison: the share of messages
_SHOWN_CHARACTERS = 300
_WHAT_CHANGE_IS = (
    "Change is that of answer, citations and writes together, 0 to 3; each is 0 for the same and 1 for "
    "nothing in common."
)
_STANDARD_INPUT = 0


def compare(call: Invocation, options: Mapping[str, Any]) -> int:
    """Tells what differs, the worst first, and last how much; the exit code. options: of the command."""
    from assistant.replay.metrics.figure_names import check_share
    from assistant.replay.runs.conversations import Conversations
    from stores.database.working_copies import working_copy

    model, against = options["model"] or "live", options["against"]
    is_led = bool(options["led"])  # by a chat: what is named is a session, whatever files there are
    for metric, limit in options["limits"]:
        if metric != UNCHANGED:
            raise WrongUsage(f"a comparison has no figure {metric!r}", hint=f"It has {UNCHANGED}.")
        check_share(metric, limit)
    progress = Progress(call)
    watch = _be_led(call) if is_led else progress.watch
    rows: list[Compared] = []
    are_the_same = False

    def tell_same() -> None:
        nonlocal are_the_same
        if not are_the_same:
            call.tell(f"{model} and {against} are the same model here: nothing that was learned is compared.")
        are_the_same = True

    for name in options["named"]:
        is_number = is_led or (name.isdecimal() and not Path(name).exists())
        with working_copy(call.locations.data) as folder:
            conversations = Conversations(
                folder,
                settings=call.settings,
                live=call.locations,
                user=call.user,
                api_key=call.api_key,
                offline=call.is_offline,
                session_id=int(name) if is_number else None,
            )
            found = conversations.recorded(int(name)) if is_number else _messages(name)
            messages = _up_to(found, options["up_to"])[-(options["newest"] or 0) :]
            rows += conversations.compare(messages, model, against, watch, tell_same)
    progress.clear()
    rows.sort(key=lambda row: -row.change)
    for row in rows:
        if row.change > 0 or not options["changed"]:
            _tell(call, row, model, against)
    changed = sum(row.change > 0 for row in rows)
    same = (len(rows) - changed) / len(rows)  # 1 - 9 / 10 would be less than 0.1
    if call.as_json and not is_led:  # a chat counts for itself
        call.give({"messages": len(rows), "changed": changed, UNCHANGED: same, "same_model": are_the_same})
    call.tell(f"{changed} of {len(rows)} messages are answered differently.")
    if changed and not call.as_json:
        call.tell(_WHAT_CHANGE_IS)
    failed = [limit for _, limit in options["limits"] if same < limit]
    if failed:
        click.echo(f"{UNCHANGED} is {same:.4f}, under {max(failed):g}", err=True)
    return 1 if failed else 0


def _messages(name: str) -> list[Message]:
    """The questions of a table, or the lines of another file."""
    from assistant.replay.runs.conversations import Message
    from assistant.replay.streams.own_tables import messages_in, messages_of

    if name != "-" and not Path(name).exists():
        raise WrongUsage(
            f"there is no file or folder {name}",
            hint="Name the number of a session, a table of questions, a file of lines, or -.",
        )
    try:
        found = messages_in(sys.stdin.read()) if name == "-" else messages_of(Path(name))
    except UnreadableDocument as error:
        raise WrongUsage(error.message, hint=error.hint) from error
    if not found:
        raise WrongUsage(f"{name} holds no message", hint="Name a file with a message on each line.")
    return [Message(text) for text in found]


def _up_to(messages: list[Message], turn_id: int | None) -> list[Message]:
    if turn_id is None:
        return messages
    kept = [message for message in messages if message.turn_id <= turn_id]
    if not kept or kept[-1].turn_id != turn_id:
        raise NotFound(f"turn {turn_id} holds no message of this session")
    return kept


def _be_led(call: Invocation) -> Callable[[str, int, int], None]:
    """A comparison that a chat has begun: it ends with our input, and how far it is is told in JSON."""

    def until_it_ends() -> None:
        while os.read(_STANDARD_INPUT, 1 << 12):
            pass
        os.kill(os.getpid(), signal.SIGTERM)  # as whoever ends this command would: the copies are deleted

    Thread(target=until_it_ends, name="led", daemon=True).start()
    return lambda model, done, of: call.give({"model": model, "done": done, "of": of})


def _tell(call: Invocation, row: Compared, model: str, against: str) -> None:
    changes = {
        "change": round(row.change, 4),
        "answer": round(row.answer_change, 4),
        "citations": round(row.citation_change, 4),
        "writes": round(row.write_change, 4),
    }
    if call.as_json:
        call.give(
            {
                "turn": row.message.turn_id or None,
                "message": row.message.text,
                **{name: value for name, value in changes.items() if name == "change"},
                "changes": {name: value for name, value in changes.items() if name != "change"},
                "replies": [
                    {
                        "model": name,
                        "answer": reply.answer,
                        "citations": list(reply.citations),
                        "writes": list(reply.writes),
                    }
                    for name, reply in ((model, row.one), (against, row.other))
                ],
            }
        )
        return
    told = [f"turn {row.message.turn_id}" if row.message.turn_id else "line"]
    told += [f"{name} {value:.2f}" for name, value in changes.items()]
    click.echo("\t".join([*told, one_line(row.message.text)]))
    if row.change > 0:
        for name, reply in ((model, row.one), (against, row.other)):
            click.echo(f"\t{one_line(name)}\t{_short(reply.answer)}")
            for write in reply.writes:
                click.echo(f"\t\t{_short(write)}")


def _short(text: str) -> str:
    told = one_line(text)
    return told if len(told) <= _SHOWN_CHARACTERS else f"{told[: _SHOWN_CHARACTERS - 1]}…"
