"""Holds the house to its arrows: who may import whom, read from the code itself, once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from arrows import HOMES, MAY_IMPORT

from tests.conftest import SLOW

ROOT = Path(__file__).parent.parent
PACKAGES = ("assistant", "agents", "stores")
MOST_FILES = 15  # of a folder

# Lines of Python that a room may have: those it had when the number was written. A change that needs more
# raises the number and writes its reason beside it; one that deletes lowers it.
MOST_LINES = {
    "stores": 16733,
    "agents": 12350,
    "assistant": 47300,
    "assistant/terminal": 15028,
    "assistant/learning": 9493,
    "assistant/replay": 8016,
    "benchmarks": 14165,
    "tests": 59339,
}
LEFT_OVER = 250  # lines below its number, from where on a room has to be given a lower one


def _trees() -> dict[Path, ast.Module]:
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


TREES = _trees()
IMPORTS = {_module(path): _imported(tree) for path, tree in TREES.items()}
MAPS = {_module(path): tree for path, tree in TREES.items() if path.name == "__init__.py"}
FOLDERS = {module: module if module in MAPS else module.rpartition(".")[0] for module in IMPORTS}


def is_within(module: str, parts: tuple[str, ...]) -> bool:
    return any(module == part or module.startswith(f"{part}.") for part in parts)


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_a_folder_imports_only_what_it_may(folder: str) -> None:
    upward = {
        f"{module} imports {name}"
        for module in IMPORTS
        if FOLDERS[module] == folder
        for name in IMPORTS[module]
        if name in FOLDERS and name not in MAPS and FOLDERS[name] not in MAY_IMPORT[folder] | {folder}
    }
    assert not upward


def test_folders_are_layers() -> None:
    above: set[str] = set()  # a folder stands behind all that it may import
    for folder, below in MAY_IMPORT.items():
        assert below <= above, f"{folder} may import {sorted(below - above)}, which do not stand before it"
        above.add(folder)


def test_every_folder_has_arrows() -> None:
    files = {folder for module, folder in FOLDERS.items() if module not in MAPS}
    assert {folder for folder in files if not folder.startswith("stores.database.migrations")} == set(
        MAY_IMPORT
    )


def test_a_folder_holds_at_most_fifteen_files() -> None:
    for folder in MAY_IMPORT:
        count = len(list((ROOT / folder.replace(".", "/")).glob("*.py")))
        assert count <= MOST_FILES, f"{folder} holds {count} files"


@pytest.mark.parametrize("room", MOST_LINES)
def test_a_room_keeps_its_budget_of_lines(room: str) -> None:
    lines = sum(path.read_bytes().count(b"\n") for path in (ROOT / room).rglob("*.py"))
    most = MOST_LINES[room]
    assert lines <= most, f"{room} has {lines} lines of {most}: delete some, or say why it needs more"
    assert lines > most - LEFT_OVER, f"{room} has {lines} lines: lower its number from {most}"


def test_every_slow_file_is_there() -> None:
    assert not {name for name in SLOW if not (ROOT / "tests" / f"test_{name}.py").exists()}


@pytest.mark.parametrize("library", HOMES)
def test_a_heavy_library_is_imported_only_at_home(library: str) -> None:
    users = {module for module, found in IMPORTS.items() if any(is_within(n, (library,)) for n in found)}
    assert not {module for module in users if not is_within(module, HOMES[library])}


@pytest.mark.parametrize("folder", MAPS)
def test_a_package_holds_its_map_and_nothing_else(folder: str) -> None:
    assert len(MAPS[folder].body) == 1
    assert ast.get_docstring(MAPS[folder])


@pytest.mark.parametrize("folder", [each for each in MAY_IMPORT if each.startswith("stores")])
def test_a_map_of_the_stores_names_every_module(folder: str) -> None:
    docstring = ast.get_docstring(MAPS[folder]) or ""
    named = {line.split()[0] for line in docstring.splitlines()[1:] if line and not line.startswith(" ")}
    assert named >= {
        each.rpartition(".")[2] for each in FOLDERS if FOLDERS[each] == folder and each not in MAPS
    }
