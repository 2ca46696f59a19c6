"""Where the files are.

option  >  VOUCH_... variable  >  XDG_... variable  >  home directory
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assistant.settings.config import DEFAULT
from stores.base.errors import StoreUnavailable, WrongUsage


@dataclass(frozen=True, kw_only=True)
class Locations:
    """Where the files are; all paths are absolute."""

    data: Path  # records, vectors, models' checkpoints
    settings: Path  # the settings file
    cache: Path  # downloaded models
    state: Path  # log, draft, socket
    data_origin: str = DEFAULT  # or --data, or VOUCH_DATA
    settings_origin: str = DEFAULT  # or --settings, or VOUCH_SETTINGS

    @property
    def chat_models(self) -> Path:
        """Chat models that were added on this machine."""
        return self.data / "chat-models"

    @property
    def settings_are_named(self) -> bool:
        """Someone named the settings file, so it has to be there."""
        return self.settings_origin != DEFAULT

    def create_directories(self) -> None:
        """Makes the directories that are missing, for this user alone (mode 0700).

        Raises `WrongUsage` when something else is in the way, `StoreUnavailable` when it cannot be done now.
        """
        for path, change in (
            (self.data, "Name another directory with --data or VOUCH_DATA."),
            (self.cache, "Name another place with XDG_CACHE_HOME."),
            (self.state, "Name another place with XDG_STATE_HOME."),
        ):
            try:
                make_private_directory(path)
            except (FileExistsError, NotADirectoryError) as error:
                raise WrongUsage(
                    f"{path} cannot be a directory: {error.filename} is a file", hint=change
                ) from error
            except OSError as error:
                raise StoreUnavailable(f"{path} cannot be made: {error.strerror}", hint=change) from error


def find_locations(
    environ: Mapping[str, str], *, data: str | None = None, settings: str | None = None
) -> Locations:
    """Where the files are, by the options --data and --settings, VOUCH_... and XDG_... variables."""
    home = home_directory(environ)

    def base(variable: str, otherwise: str) -> Path:
        named = Path(environ.get(variable, ""))
        return (named if named.is_absolute() else home / otherwise) / "vouch"  # XDG ignores relative ones

    def chosen(option: str, value: str | None, variable: str, default: Path) -> tuple[Path, str]:
        if value is not None:
            if not value:  # most likely a script's unset variable, which must not reach the real data
                raise WrongUsage(f"{option} is empty", hint="Give a path, or leave the option out.")
            return expanded(value, home), option
        if environ.get(variable):
            return expanded(environ[variable], home), variable
        return default, DEFAULT

    data_path, data_origin = chosen("--data", data, "VOUCH_DATA", base("XDG_DATA_HOME", ".local/share"))
    settings_path, settings_origin = chosen(
        "--settings", settings, "VOUCH_SETTINGS", base("XDG_CONFIG_HOME", ".config") / "settings.toml"
    )
    return Locations(
        data=data_path,
        settings=settings_path,
        cache=base("XDG_CACHE_HOME", ".cache"),
        state=base("XDG_STATE_HOME", ".local/state"),
        data_origin=data_origin,
        settings_origin=settings_origin,
    )


def make_private_directory(path: Path) -> None:
    """Makes a directory, and those above it that are missing, with mode 0700. Raises OSError."""
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)  # `parents=True` would give those the usual mode


def home_directory(environ: Mapping[str, str]) -> Path:
    """Where the person's own files are: HOME, or what the system says."""
    named = Path(environ.get("HOME", ""))
    if named.is_absolute():
        return named
    try:
        return Path.home()
    except RuntimeError:
        raise WrongUsage("There is no home directory", hint="Set HOME.") from None


def expanded(path: str, home: Path) -> Path:
    """A path that a person wrote, as an absolute one; `~` is `home`."""
    if path == "~" or path.startswith("~/"):
        return home / path[2:]
    return Path(path).absolute()
