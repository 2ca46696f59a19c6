"""vouch ask: one question, its answer on standard output."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, RowId, Words
from assistant.warm import answered
from stores.base.clock import stamp
from stores.base.errors import WrongUsage
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.versions.states import VersionState


@click.command("ask")
@click.argument("text", nargs=-1, type=Words())
@click.option("--session", "session_id", type=RowId(), metavar="ID", help="Go on with this session.")
@click.option("--last", is_flag=True, help="Go on with the session you spoke in last.")
@click.option("--model", metavar="NAME", type=Words(), help="Have this model answer.")
@click.option("--kb", "base", metavar="NAME", type=Words(), help="Ask of this knowledge base.")
@click.option(
    "--in", "within", metavar="NAME", type=Words(), help="Ask of this document, folder or collection alone."
)
@click.option(
    "--attach", "attached", multiple=True, metavar="PATH", help="Send this image with the question."
)
@click.option("--new", is_flag=True, help="Begin a new session (the default).")
@click.option("--no-learn", is_flag=True, help="Remember nothing of this question.")
@click.option(
    "--sources", is_flag=True, help="List the sources behind the answer, as a terminal always shows."
)
@click.option("--code", is_flag=True, help="Print the answer's first block of code, and nothing else.")
@common_options
@click.pass_context
def command(
    ctx: click.Context,
    text: tuple[str, ...],
    session_id: int | None,
    last: bool,
    model: str | None,
    base: str | None,
    within: str | None,
    attached: tuple[str, ...],
    new: bool,
    no_learn: bool,
    sources: bool,
    code: bool,
) -> int:
    """Ask one question. Text on standard input is placed before it, as material to answer from.

    \b
    Examples:
      vouch ask "How do I undo something you learned?" --sources
      vouch ask --in handbook.pdf "How long is the notice period?"
      vouch ask --attach receipt.png "What did the tea cost?"
      git log -20 | vouch ask "Which commit touched the parser?"
      vouch ask --code "Write a shell script that ..." > script.sh
      vouch ask --json "When does the reading room open?" | jq -r .answer
    """
    call = Invocation(ctx)
    exit_code = answered(call.arguments, call.settings.answer.warm_minutes)
    if exit_code is not None:
        return exit_code
    call.use_model(model)
    if sum((session_id is not None, last, new)) > 1:
        raise WrongUsage("--session, --last and --new exclude one another")
    if code and call.as_json:
        raise WrongUsage("--code and --json exclude one another")
    if no_learn and (last or session_id is not None):
        raise WrongUsage("--no-learn needs a session of its own", hint="Leave out --session and --last.")
    message, material = _message(text)
    if within is not None and '"' in within:
        raise WrongUsage("--in takes no name with a quotation mark", hint="Name its folder.")
    if base is not None and within is not None:
        raise WrongUsage("--kb and --in exclude one another")
    if base is not None and material.strip():
        raise WrongUsage(
            "--kb answers from the knowledge base alone", hint="Leave out --kb or the piped text."
        )

    from pathlib import Path

    from agents.backends.extractive import is_sure, is_told
    from assistant.terminal.actions.undoing import in_shell
    from assistant.terminal.facts.answer_lines import WAS_THOUGHT, below_answer, source_line, unreachable_line
    from assistant.terminal.input.clipboard import code_blocks
    from assistant.terminal.text.word_wrap import printer
    from assistant.turns.documents_named import naming
    from assistant.turns.events import Accepted, Chosen, Event, Thinks, Wrote
    from assistant.turns.images import read_image

    images = [read_image(Path(path)) for path in attached]
    write_out = printer()
    is_written = not (call.as_json or code)  # as it comes
    with call.assistant(limits_turns=True) as assistant:
        user_id = assistant.stores.journal.user_id(call.user)
        assistant.catch_up()
        if within is not None:
            assistant.stores.library.named(user_id, within)  # says what it is not
            message = f"{naming(within)} {message}"
        session = session_id
        if last:
            session = assistant.stores.journal.last_session(user_id, also_asked=True)
        if session is None:
            session = assistant.stores.journal.open_session(
                user_id, title="(private)" if no_learn else "", is_private=no_learn, is_asked=True
            )
        elif within is not None or material.strip():
            about = assistant.turns.knowledge_talk.base_of(user_id, session)
            if about is not None:
                raise WrongUsage(
                    f"session {session} is about the knowledge base {one_line(about.name)} alone",
                    hint="Ask documents and piped text in another session: --new.",
                )
        if base is not None:
            assistant.stores.sessions.talk_over(
                user_id, session, assistant.stores.knowledge_bases.named(user_id, base).id
            )
        chosen: list[Chosen] = []
        accepted: list[Accepted] = []

        def watch(event: Event) -> None:
            if isinstance(event, Wrote) and is_written:
                write_out(event.text)
            elif isinstance(event, Thinks) and event.is_all and is_written:
                write_out(WAS_THOUGHT)
            elif isinstance(event, Chosen):
                chosen.append(event)
                if event.unreachable is not None and not call.as_json:
                    call.tell(unreachable_line(event.unreachable))
            elif isinstance(event, Accepted):
                accepted.append(event)

        finished = assistant.turns.host.play(
            user_id,
            session,
            message,
            watch=watch,
            material=material,
            images=images,
            timeout_seconds=call.timeout_seconds,
        )
        blocks = code_blocks(finished.answer) if code else []
        if call.as_json:
            cited = {source.number for source in finished.cited}
            used = finished.sources
            states = assistant.stores.catalogue.version_states(user_id, [s.passage.version_id for s in used])
            sure = is_sure(finished.answer)
            nearest = [
                {"number": s.number, "title": s.passage.title, "text": s.passage.text}
                for s in finished.cited
                if not sure
            ]
            call.give(
                {
                    "turn": finished.turn_id,
                    "session": accepted[0].session_id,
                    "question": message,
                    "answer": finished.answer if sure else "",
                    "sure": sure,
                    "nearest": nearest,
                    "state": finished.state,
                    "model": chosen[-1].model if chosen else "",
                    "sources": [
                        {
                            "number": source.number,
                            "cited": source.number in cited,
                            "scope": source.passage.scope,
                            "passage": source.passage.passage_id,
                            "kind": source.passage.kind,
                            "title": source.passage.title,
                            "source": source.passage.source,
                            "text": source.passage.text,
                            **_version(states.get(source.passage.version_id)),
                        }
                        for source in used
                    ],
                    "invented_citations": list(finished.invented),
                    "left_out": [asdict(entry) for entry in (chosen[-1].left_out if chosen else ())],
                    "sent_of": finished.sent_of,
                    "is_cut": finished.cut is not None,
                    "unreachable": finished.unreachable.message if finished.unreachable else None,
                    "command": in_shell(finished.command) if finished.command else None,
                    "seconds": round(finished.seconds, 3),
                }
            )
        else:
            if blocks:
                sys.stdout.write(f"{blocks[0]}\n")
            elif finished.answer and not code:
                write_out("\n")
            for line in below_answer(finished.cut, finished.sent_of):
                call.tell(line)
            if finished.command:
                call.tell(f"In a shell: {in_shell(finished.command)}")
            if sources or (sys.stdout.isatty() and not call.is_quiet and not code):
                write_out("".join(f"{source_line(source)}\n" for source in finished.cited))
        if not no_learn:
            _remember(call, assistant, user_id)
        if finished.error is not None:
            raise finished.error
    if code and not blocks:
        call.tell("The answer holds no block of code. Without --code it is printed whole.")
    return 0 if (blocks if code else is_told(finished.answer)) else 1


def _remember(call: Invocation, assistant: Assistant, user_id: int) -> None:
    """Has what was stated remembered; the answer stands, whatever becomes of that."""
    from assistant.turns.notices import Notices

    notices = Notices("vouch memory undo")
    assistant.turns.host.remember(user_id, notices.put)
    if waits_for := assistant.turns.host.settled():
        call.tell(f"Not remembered yet: {waits_for}")
    for line in notices.take():
        call.tell(_wrapped(line))


def _wrapped(text: str) -> str:
    """The text as rows broken between words, where it is told at a terminal."""
    from assistant.terminal.text.word_wrap import WordWrap

    if not sys.stderr.isatty():
        return text
    rows: list[str] = []
    WordWrap(rows.append).say(f"{text}\n")
    return "".join(rows).rstrip("\n")


def _version(state: VersionState | None) -> dict[str, Any]:
    """Which version of its passage a source is; nothing of material, which is no passage."""
    if state is None:
        return {"version": None, "version_at": None}
    return {"version": state.number, "version_at": stamp(state.created_at)}


def _message(text: tuple[str, ...]) -> tuple[str, str]:
    """The question, and the material before it."""
    words = [word for word in text if word != "-"]
    wants_stdin = "-" in text
    piped = "" if sys.stdin.isatty() or not (wants_stdin or _has_input()) else sys.stdin.read()
    if wants_stdin and not words:
        return _required(piped), ""
    return (_required(" ".join(words)), piped) if words else (_required(piped), "")


def _has_input() -> bool:
    """Whether something was piped in; an inherited, silent standard input is not waited for."""
    import os
    import stat

    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or (stat.S_ISREG(mode) and os.fstat(sys.stdin.fileno()).st_size > 0)


def _required(message: str) -> str:
    if not message.strip():
        raise WrongUsage("there is no question", hint='Write it behind the command: vouch ask "When ...?"')
    return message.strip()
