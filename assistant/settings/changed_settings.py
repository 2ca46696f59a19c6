"""Changes single values of the settings file; everything else of it stays as it is."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

from stores.base.errors import WrongUsage
from stores.base.one_line import one_line


def change_settings(file: Path, section: str, values: Mapping[str, str]) -> None:
    """Sets these values of a section. Raises `WrongUsage` where the file cannot be written."""
    import tomlkit

    place = file.resolve()  # a link to it stays one
    if place.exists() and not place.is_file():
        raise WrongUsage(f"{one_line(str(place))} is no file that can be changed", hint="Look at --settings.")
    partial = place.with_name(f".{place.name}.partial")
    try:
        document = tomlkit.parse(place.read_text("utf-8-sig")) if place.exists() else tomlkit.document()
        document.setdefault(section, tomlkit.table()).update(values)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial.write_text(tomlkit.dumps(document), "utf-8")
        partial.chmod(stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o600)
        partial.replace(place)
    except (OSError, ValueError) as error:
        raise WrongUsage(
            f"{one_line(str(place))} cannot be changed: {getattr(error, 'strerror', None) or error}",
            hint=f"Write {' and '.join(values)} into its section [{section}] yourself.",
        ) from error
