"""The settings file, the data directory and the disk that it lies on."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from assistant.checks.check import Check
from assistant.settings.locations import Locations

_DATABASE = re.compile(r"\.db(-wal|-shm)?$")
ROOM_BYTES = 500_000_000  # under it, ingest may fill the disk


def settings_file(locations: Locations) -> Check:
    """Whether there is one; what stands in it was read before."""
    path = locations.settings
    if path.exists():
        return Check("settings file", "ok", str(path))
    return Check("settings file", "ok", f"none, defaults are used; {path} would change them")


def data_directory(path: Path) -> Check:
    """Whether all in it is this user's own, can be written, and may grow."""
    name = "data directory"
    found = list(_within(path))
    foreign = [place for place, facts in found if facts.st_uid != os.geteuid()]
    if foreign:
        return Check(
            name, "broken", f"{foreign[0]} belongs to another user", f"Run: sudo chown -R $(id -u) {path}"
        )
    for place, facts in found:
        needed = 0o700 if stat.S_ISDIR(facts.st_mode) else 0o600
        if facts.st_mode & needed != needed:
            return Check(name, "broken", f"{place} cannot be read and written", f"Run: chmod -R u+rwX {path}")
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):  # a disk mounted to be read only
        return Check(name, "broken", f"{path} cannot be written", "Check how its disk is mounted.")
    free = shutil.disk_usage(path).free
    if free < ROOM_BYTES:
        return Check(name, "broken", f"{path}: {free // 1_000_000} MB free", "Make room on that disk.")
    for place, facts in found:
        mode = stat.S_IMODE(facts.st_mode)
        if mode & 0o077 and (place == path or (place.parent == path and _DATABASE.search(place.name))):
            wanted = "700" if place == path else "600"
            told = f"{place} is open to others (mode {mode:o})"
            return Check(name, "warning", told, f"To close it, run: chmod {wanted} {place}")
    return Check(name, "ok", f"{path}, {free / 1e9:.1f} GB free")


def _within(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The directory and all in it, links apart; what cannot be looked into is not entered."""
    yield path, path.stat()
    for folder, names, files in os.walk(path):
        for name in sorted(names + files):
            place = Path(folder, name)
            with suppress(FileNotFoundError):  # another process deleted it meanwhile
                if not place.is_symlink():
                    yield place, place.lstat()
