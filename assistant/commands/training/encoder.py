"""vouch encoder: which encoder's vectors are searched, and changing it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from assistant.cli import common_options
from assistant.invocation import Invocation
from stores.base.errors import EncoderUnavailable, WrongUsage

if TYPE_CHECKING:
    from assistant.search.encoder_change import EncoderChange
    from assistant.wiring.assistant import Assistant


@click.command("encoder")
@click.option(
    "--build", is_flag=True, help="Encode everything with the encoder of the settings; use it then."
)
@click.option("--back", is_flag=True, help="One step back, at once, to the encoder used before.")
@common_options
@click.pass_context
def command(ctx: click.Context, build: bool, back: bool) -> int:
    """Tell which encoder finds passages, and change it.

    A new encoder is named in settings.toml (encoder.source). Its vectors are made beside those in use,
    which are searched until all are there; the ones before are kept for a step back.

    \b
    Examples:
      vouch encoder
      vouch encoder --build
      vouch encoder --back
    """
    call = Invocation(ctx)
    if build and back:
        raise WrongUsage("--build and --back exclude one another")
    with call.assistant() as assistant:
        versions = assistant.stores.encoder_versions
        if back:
            _load_previous(assistant)
            stepped = versions.step_back()
            call.tell(f"Search uses {stepped.version} again. What was added since is encoded now.")
            assistant.search.indexer.catch_up()
        change = assistant.encoder_change(even_declined=True)
        if build and change is None:
            call.tell("The encoder that the settings name is in use already.")
        elif build and change is not None:
            _build(call, change)
            change = None
        live, previous = versions.live(), versions.previous()
        cost = change.cost() if change is not None and live is not None else None
        if call.as_json:
            call.give(
                {
                    "live": live.version if live else None,
                    "halves": [] if live is None else _halves(live.version),
                    "previous": previous.version if previous else None,
                    "declined": versions.declined() or None,
                    "wanted": change.new.version if change else live.version if live else None,
                    "to_encode": cost.passages if cost else 0,
                    "seconds": round(cost.seconds) if cost else 0,
                }
            )
            return 0
        click.echo(f"in use\t{live.version if live else 'none yet'}")
        for half in _halves(live.version) if live else []:
            click.echo(f"half\t{half['version']}\t{half['share']:.0%} of what is stored")
        if previous is not None:
            click.echo(f"before\t{previous.version}\t`vouch encoder --back` uses it again")
        if change is not None and cost is not None:
            is_declined = versions.declined() == change.new.version
            word = "stepped back from" if is_declined else "wanted"
            click.echo(f"{word}\t{change.new.version}\t{cost.told()}\t`vouch encoder --build` uses it")
    return 0


def _halves(version: str) -> list[dict[str, Any]]:
    """Of an encoder that has two: each half's version, and its share of what is stored."""
    from agents.models.encoders.two_halves import halves_of

    halves = halves_of(version)
    if halves is None:
        return []
    first, second, share = halves
    return [{"version": first, "share": round(1 - share, 2)}, {"version": second, "share": share}]


def _load_previous(assistant: Assistant) -> None:
    """Raises `EncoderUnavailable` where the encoder before cannot be had: by it nothing would be found."""
    previous = assistant.stores.encoder_versions.previous()
    if previous is None:
        return
    try:
        assistant.search.searching_with(previous)
    except EncoderUnavailable as error:
        raise EncoderUnavailable(
            f"No step back: {error.message}", hint="Search goes on with the encoder in use."
        ) from error


def _build(call: Invocation, change: EncoderChange) -> None:
    line = call.progress_line()
    total, done, began = change.missing(), 0, time.monotonic()
    try:
        for step in change.build():
            done += step
            left = max(0, total - done) * (time.monotonic() - began) / max(done, 1)
            line.show(f"{min(done, total)} of {total} passages encoded, about {left:.0f} s left")
    finally:
        line.clear()
    call.tell(f"{total} passages encoded; search uses {change.new.version}.")
