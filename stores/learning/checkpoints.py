"""Models that were trained here: folders, written whole or not at all, and verified when they are loaded.

<data>/models/<role>/<version>/  manifest.json  and the files that it names with their SHA-256
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from stores.base.errors import VouchError
from stores.base.syncing import sync

MANIFEST = "manifest.json"
_PART = 1 << 20
_NEW, _WORK = ".new-", ".work-"  # how unfinished folders begin


class DamagedCheckpoint(VouchError):
    """A trained model whose files are not those that were written."""

    def __init__(self, folder: Path, problem: str) -> None:
        super().__init__(
            f"The trained model {folder} cannot be used: {problem}",
            hint="`vouch train --back` goes back to the model before it.",
        )
        self.folder = folder


class Checkpoints:
    """The trained models of one data directory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def workplace(self, name: str, *, going_on_from: str = "", keep: Collection[str] = ()) -> Path:
        """The folder of this name on the same disk, for whoever holds the lease of a round.

        What others left is deleted. going_on_from: how the name began of the one whose files it takes over;
        a process that still writes by the earlier name finds it gone. keep: how names begin of others that
        are gone on with later.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        place = self._folder / f"{_WORK}{name}"
        earlier = self._folder.glob(f"{_WORK}{going_on_from}*") if going_on_from else ()
        for left in sorted(earlier, key=lambda folder: folder.stat().st_mtime_ns):
            if not place.exists():
                left.rename(place)
        place.mkdir(exist_ok=True, mode=0o700)
        for left in (*self._folder.glob(f"{_WORK}*"), *self._folder.glob(f"*/{_NEW}*")):
            if left != place and not left.name.startswith(tuple(f"{_WORK}{name}" for name in keep)):
                shutil.rmtree(left, ignore_errors=True)
        return place

    def keep(self, role: str, made: Path, card: Mapping[str, Any]) -> str:
        """Takes in a folder's files and returns the version: by their content, so the same twice is one.

        made: with the folders in it. card: what the model was made from, kept with it.
        """
        files = sorted(file for file in made.rglob("*") if file.is_file())
        hashes = {file.relative_to(made).as_posix(): _sha256(file) for file in files}
        version = hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()[:12]
        place = self.place(role, version)
        if place.is_dir():
            try:
                self.verified(role, version)
                return version
            except DamagedCheckpoint:
                shutil.rmtree(place)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = Path(tempfile.mkdtemp(dir=place.parent, prefix=_NEW))
        try:
            for name in hashes:
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(made / name, new / name)
                sync(new / name)
            manifest = {"role": role, "version": version, "files": hashes, "card": dict(card)}
            (new / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
            sync(new / MANIFEST)
            for folder in (*(f for f in new.rglob("*") if f.is_dir()), new):
                sync(folder)
            new.rename(place)  # there at once and whole, or not
            sync(place.parent)
        finally:
            if new.is_dir():
                shutil.rmtree(new)
        return version

    def place(self, role: str, version: str) -> Path:
        """Where a version lies, or would."""
        return self._folder / role / version

    def verified(self, role: str, version: str, *, files: Collection[str] | None = None) -> Path:
        """The folder of a version, every file of which has the content it was kept with.

        files: those that will be read; all by default. Raises `DamagedCheckpoint`.
        """
        place = self.place(role, version)
        known = self._manifest(place)["files"]
        for name in sorted(known if files is None else files):
            if (expected := known.get(name)) is None:
                raise DamagedCheckpoint(place, f"{MANIFEST} names no {name}")
            file = place / name
            if not file.is_file():
                raise DamagedCheckpoint(place, f"{name} is missing")
            if _sha256(file) != expected:
                raise DamagedCheckpoint(place, f"{name} has another content")
        return place

    def card(self, role: str, version: str) -> dict[str, Any]:
        """What a model was made from."""
        return dict(self._manifest(self.place(role, version))["card"])

    def versions(self, role: str) -> list[str]:
        """All that are kept, oldest first."""
        folder = self._folder / role
        if not folder.is_dir():
            return []
        found = [f for f in folder.iterdir() if f.is_dir() and not f.name.startswith(".")]
        return [f.name for f in sorted(found, key=lambda f: (f.stat().st_mtime_ns, f.name))]

    def prune(self, role: str, *, keep: Collection[str], newest: int) -> list[str]:
        """Deletes all but these and the newest so many; returns what went."""
        versions = self.versions(role)
        gone = [v for v in versions[: max(0, len(versions) - newest)] if v not in keep]
        for version in gone:
            shutil.rmtree(self.place(role, version))
        return gone

    def _manifest(self, place: Path) -> dict[str, Any]:
        try:
            manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
            if not isinstance(manifest["files"], dict) or not isinstance(manifest["card"], dict):
                raise TypeError("its parts are not tables")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DamagedCheckpoint(place, f"{MANIFEST}: {error}") from error
        return dict(manifest)


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while part := opened.read(_PART):
            digest.update(part)
    return digest.hexdigest()
