"""vouch serve: the chat in a browser."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import click

from assistant.cli import common_options
from assistant.commands.doors.listening import HOST, NAMES, TOKEN_FILE, extra, token_for
from assistant.invocation import Invocation
from assistant.process.own_names import is_loopback
from assistant.settings.identity import key_for
from stores.base.errors import WrongUsage

_PATIENCE_SECONDS = 2.0  # that an answer waits for the receipts of what its message taught
_REMEMBERS_AFTER_SECONDS = 1.0  # for each step, also beside answers: where many ask, one is always given


@click.command("serve")
@click.option("--port", type=click.IntRange(0, 65535), default=8484, show_default=True, help="0: a free one.")
@click.option(
    "--api",
    "api_port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="In place of the screens, answer programs by OpenAI's protocol; 0: a free port.",
)
@click.option("--metrics", is_flag=True, help="With --api: counts and times at /metrics, without a key.")
@click.option("--log-json", is_flag=True, help="With --api: the log on standard error too, as JSON lines.")
@HOST
@NAMES
@TOKEN_FILE
@common_options
@click.pass_context
def command(
    ctx: click.Context,
    host: str,
    port: int,
    api_port: int | None,
    metrics: bool,
    log_json: bool,
    names: tuple[str, ...],
    token_file: Path | None,
) -> int:
    """Show the screens in a browser. Prints the address to open; Ctrl+C ends it.

    Whoever opens that address talks as you: it holds a token, new with each start. Only this machine can
    connect unless --host says otherwise. What is sent is not encrypted: over a network, put it behind
    something that does, such as an SSH tunnel.

    With --api it answers programs instead, each in the name of the user whose key it sends (`vouch keys`).

    \b
    Examples:
      vouch serve
      vouch serve --port 9000 --user ann
      ssh -L 8484:127.0.0.1:8484 home vouch serve
      vouch serve --api 8486
    """
    call = Invocation(ctx)
    if not is_loopback(host):
        call.tell(f"Others can connect to {host}, and nothing that is sent is encrypted.")
    if api_port is not None:
        return _serve_api(call, host, api_port, names, has_metrics=metrics, logs=log_json)
    if metrics or log_json or names:
        raise WrongUsage(
            "--metrics, --log-json and --name go with --api", hint="Leave them out, or add --api PORT."
        )
    token = token_for(token_file)
    with extra("vouch serve", "serve"):
        from assistant.terminal.app.serving import serve
    return serve(_chat_command(call), host=host, port=port, token=token, tell=lambda told: _tell(call, told))


def _serve_api(
    call: Invocation, host: str, port: int, names: tuple[str, ...], *, has_metrics: bool, logs: bool
) -> int:
    with extra("vouch serve --api", "api"):
        from assistant.doors.listening import listen
        from assistant.doors.openai_api import Api

        if has_metrics:
            from assistant.doors.metrics import Metrics
    from assistant.process.log import StreamLog
    from assistant.wiring.assistant import Assistant
    from assistant.wiring.parts.kept import keep_loaded
    from stores.checks.counts import counts
    from vouch import Vouch

    keep_loaded()  # each chat model has an assistant of its own, and all share what they read with
    with call.assistant() as assistant, ExitStack() as others:
        assistant.catch_up()
        assistant.turns.answers_first.patience = _REMEMBERS_AFTER_SECONDS
        answering = {"": assistant}

        def memory(user: str, model: str) -> Vouch:
            if model not in answering:
                settings = replace(call.settings, model=call.settings.models[model])
                key = key_for(settings, settings.model, os.environ)
                answering[model] = Assistant(
                    settings, call.locations, api_key=key, offline=call.is_offline, tell=call.tell
                )
                answering[model].turns.answers_first.patience = _REMEMBERS_AFTER_SECONDS
                others.callback(answering[model].close)
            return Vouch.of(answering[model], user, patience=_PATIENCE_SECONDS)

        keys = assistant.stores.api_keys
        if not any(key.revoked_at is None for key in keys.lines()):
            call.tell("Nobody has a key yet. Give one: vouch keys add NAME")
        told = None
        if has_metrics:
            told = others.enter_context(closing(Metrics(lambda: counts(assistant.stores.database)))).text
        if logs:
            others.enter_context(closing(StreamLog(call.settings)))
        api = Api(keys.user_of, memory, models=tuple(call.settings.models), metrics=told)
        listen(
            api.app(host=host, names=names), host=host, port=port, tell=lambda told: _tell(call, f"{told}/v1")
        )
    return 0


def _chat_command(call: Invocation) -> list[str]:
    """What opens one chat, with the options that this command was called with."""
    # -P: it begins in the person's folder, where anything could be named assistant
    chat = [sys.executable, "-P", "-m", "assistant.cli", "chat", "--user", call.user]
    chat += ["--data", str(call.locations.data)]
    if call.locations.settings_are_named:
        chat += ["--settings", str(call.locations.settings)]
    if call.is_offline:
        chat.append("--offline")
    if call.timeout_seconds is not None:
        chat += ["--timeout", f"{call.timeout_seconds:g}"]
    return chat


def _tell(call: Invocation, address: str) -> None:
    if call.as_json:
        call.give({"address": address})
    else:
        click.echo(address)
    sys.stdout.flush()
