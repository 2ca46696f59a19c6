"""The command line: common options, the subcommands' names, errors and exit codes.

Nothing heavy is imported here: `vouch --help` answers at once, and each subcommand lives in a file
of its own that is imported when it is called.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from assistant.process.end_signals import let_signals_end_us
from assistant.process.standard_streams import OutputUnwritable, drop_output, prepare_streams
from assistant.terminal.text.printable import printable
from stores.base.errors import DEFECT, VouchError, WrongUsage
from stores.base.one_line import json_line
from stores.base.shortages import shortage

INTERRUPTED = 130
READER_WENT_AWAY = 141

_COMMANDS = {  # name: file in assistant/commands, and the line in the overview
    "ask": ("ask", "Ask one question; the answer goes to standard output."),
    "chat": ("chat", "Talk, on the whole screen; with a pipe, one message a line."),
    "ingest": ("ingest", "Add documents to your memory, or to the shared one."),
    "docs": ("docs", "List, show, refresh and remove the documents that were read."),
    "search": ("search", "Find passages, with every signal's score, without an answer."),
    "why": ("why", "Show what an answer was made from, and what became of that."),
    "import": ("import_chats", "Take in conversations of ChatGPT, Claude or llm."),
    "sessions": ("sessions", "List your sessions."),
    "export": ("export_session", "Write a session out, as Markdown or JSON."),
    "memory": ("memory.command", "List, change, share, forget, undo and export what is remembered."),
    "feedback": ("feedback", "Say of an answer that it helped or not, or what was right."),
    "train": ("training.train", "Learn to find better; only a model that wins goes live."),
    "replay": ("replay.command", "Play questions through the chat's own parts, and measure the answers."),
    "kb": ("kb", "Add and remove knowledge bases: tables to talk over."),
    "models": ("models", "Add and choose chat models that run on this machine."),
    "encoder": ("training.encoder", "Tell which encoder finds passages, and change it."),
    "serve": ("doors.serve", "Show the screens in a browser; only this machine can connect."),
    "keys": ("doors.keys", "Give and take back keys, by which programs ask in a user's name."),
    "mcp": ("doors.mcp", "Offer your memory to an agent, by the Model Context Protocol."),
    "doctor": ("upkeep.doctor", "Check stores, models and indexes, and repair them."),
    "backup": ("upkeep.backup", "Write the database into one file."),
    "restore": ("upkeep.restore", "Bring back what a backup holds."),
}

_HELP = "help"  # not a command, but tried as one: `vouch help replay`

EXAMPLES = """\b
Examples:
  vouch chat                                   talk to it
  vouch ingest notes/ manual.pdf               let it read your documents
  vouch ask "When does the reading room open?" one answer, with its sources
"""


class _Commands(click.Group):
    """Subcommands by name, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"assistant.commands.{_COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_commands(ctx, formatter)
        self.format_options(ctx, formatter)
        self.format_epilog(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        click.Command.format_options(self, ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] == _HELP:
            args = [word for word in args[1:] if word != _HELP]
            if not args or args[0].startswith("-"):
                click.echo(ctx.get_help())
                ctx.exit()
            args.append("--help")
        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            near = difflib.get_close_matches(args[0], _COMMANDS, n=1, cutoff=0.5)
            said = f"did you mean `vouch {near[0]}`?" if near else "`vouch --help` lists the commands."
            raise WrongUsage(f"there is no command {args[0]!r}", hint=said[0].upper() + said[1:])
        return super().resolve_command(ctx, args)


def common_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every command knows, before or behind its name."""
    for option in reversed(
        [
            click.option(
                "--user", metavar="NAME", expose_value=False, callback=_keep, help="Whose memory it is."
            ),
            click.option(
                "--settings", metavar="PATH", expose_value=False, callback=_keep, help="Settings file."
            ),
            click.option("--data", metavar="DIR", expose_value=False, callback=_keep, help="Data directory."),
            click.option("--json", is_flag=True, expose_value=False, callback=_keep, help="Results as JSON."),
            click.option("-q", "--quiet", is_flag=True, expose_value=False, callback=_keep, help="Say less."),
            click.option(
                "-v", "--verbose", is_flag=True, expose_value=False, callback=_keep, help="Say more."
            ),
            click.option("--no-color", is_flag=True, expose_value=False, callback=_keep, help="No colours."),
            click.option("--plain", is_flag=True, expose_value=False, callback=_keep, help="No screens."),
            click.option("--no-input", is_flag=True, expose_value=False, callback=_keep, help="Never ask."),
            click.option("--offline", is_flag=True, expose_value=False, callback=_keep, help="No network."),
            click.option(
                "--timeout",
                type=click.FloatRange(min=0, min_open=True),
                metavar="SECONDS",
                expose_value=False,
                callback=_keep,
                help="Give up after so long.",
            ),
        ]
    ):
        function = option(function)
    return function


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Options before and behind the command's name end up in one place; the later one counts."""
    given: dict[str, Any] = ctx.find_root().ensure_object(dict)
    if value not in (None, False) or param.name not in given:
        given[str(param.name)] = value
    return value


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        from importlib.metadata import version

        click.echo(f"vouch {version('vouch')}")
        ctx.exit()


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=EXAMPLES
    + "\nVouch answers from your documents and from what you told it, shows its sources, and remembers.",
)
@click.option(
    "--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show it."
)
@common_options
@click.pass_context
def cli(ctx: click.Context) -> object:
    """Opens the chat when no command is named."""
    if ctx.invoked_subcommand is not None:
        return None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WrongUsage(
            "without a command, Vouch needs a terminal",
            hint="Use `vouch ask TEXT`, or `vouch chat` with one message a line.",
        )
    chat = cli.get_command(ctx, "chat")
    assert chat is not None, "chat is a command"
    return ctx.invoke(chat)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command and ends the process with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # One query is one small matrix product: a second thread of the library's doubles its processor time
    # and saves nothing (benchmarks/search_cost.py). Read when numpy is imported, which is later.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # also of the processes that we begin
    sys.exit(run(given))


def run(arguments: list[str]) -> int:
    """Runs a command; every way in which it can end becomes an exit code."""
    let_signals_end_us()
    prepare_streams()
    as_json = "--json" in arguments
    given: dict[str, Any] = {"arguments": arguments}
    try:
        result = _invoke(arguments, given)
        sys.stdout.flush()
    except OutputUnwritable as error:
        drop_output()
        _complain(error.message, error.exit_code, error.hint, None, as_json=as_json)
        return error.exit_code
    except VouchError as error:
        _complain(error.message, error.exit_code, error.hint, error.retry_after_seconds, as_json=as_json)
        return error.exit_code
    except click.ClickException as error:
        _complain(error.format_message(), 2, _hint_for(error), None, as_json=as_json)
        return 2
    except BrokenPipeError:
        drop_output()
        return READER_WENT_AWAY
    except (KeyboardInterrupt, click.Abort):
        if sys.stderr.isatty():
            click.echo(err=True)  # ends the line on which the terminal shows ^C
        return INTERRUPTED
    except click.exceptions.Exit as exit_:  # after --help and --version
        return exit_.exit_code
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else 0
    except Exception as error:  # noqa: BLE001 - the last place to catch it
        if (lacking := shortage(error, given.get("places"))) is None:
            return _report_defect(error, as_json=as_json)
        _complain(lacking.message, lacking.exit_code, lacking.hint, None, as_json=as_json)
        return lacking.exit_code
    return result if isinstance(result, int) else 0


def _invoke(arguments: list[str], given: dict[str, Any]) -> object:
    """As click's own `main`, which would answer a reader that went away with exit code 1.

    given: takes the options that every command knows, and what an `Invocation` adds.
    """
    if instruction := os.environ.get("_VOUCH_COMPLETE"):
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, "vouch", "_VOUCH_COMPLETE", instruction)
    with cli.make_context("vouch", list(arguments), obj=given) as context:
        return cli.invoke(context)


def _complain(
    message: str, code: int, hint: str, retry_after_seconds: float | None, *, as_json: bool
) -> None:
    if as_json:
        told: dict[str, Any] = {"schema": 1, "error": message, "code": code}
        if retry_after_seconds is not None:
            told["retry_after_seconds"] = retry_after_seconds
        if hint:
            told["hint"] = hint
        click.echo(json_line(told), err=True)
        return
    click.echo(f"vouch: {printable(message)}", err=True)
    if hint:
        click.echo(printable(hint), err=True)
    if retry_after_seconds is not None:
        click.echo(f"It can be tried again in {retry_after_seconds:.0f} s.", err=True)


def _hint_for(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"`{context.command_path} --help` shows how it is used." if context else ""


def _command_names() -> set[str]:
    """Of commands, and of those within the ones that were imported."""
    files = (sys.modules.get(f"assistant.commands.{file}") for file, _ in _COMMANDS.values())
    made = (getattr(module, "command", None) for module in files)
    return {
        *_COMMANDS,
        *(name for group in made if isinstance(group, click.Group) for name in group.commands),
    }


def _report_defect(error: Exception, *, as_json: bool) -> int:
    from assistant.process.log import write_crash_report
    from assistant.settings.locations import find_locations

    try:
        state = find_locations(os.environ).state
        where = f"The report is in {write_crash_report(state, error, commands=_command_names())}."
    except OSError as unwritable:
        where = f"No report could be written: {unwritable}."
    _complain(f"a defect of ours: {type(error).__name__}", DEFECT, where, None, as_json=as_json)
    return DEFECT


if __name__ == "__main__":
    main()
