"""Holds the house to its arrows: who may import whom, read from the code itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from arrows import HOMES, MAY_IMPORT

ROOT = Path(__file__).parent.parent
PACKAGES = ("assistant", "agents", "stores")


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def part_of(module: str) -> str:
    known = [part for part in MAY_IMPORT if module == part or module.startswith(f"{part}.")]
    return max(known, key=len, default="")


def is_within(module: str, parts: tuple[str, ...] | set[str]) -> bool:
    return any(module == part or module.startswith(f"{part}.") for part in parts)


@pytest.mark.parametrize(
    ("module", "path"), modules(), ids=lambda value: str(value) if isinstance(value, str) else ""
)
def test_a_module_imports_only_what_its_part_may(module: str, path: Path) -> None:
    if module in PACKAGES:
        assert not imports_of(path), f"{module} holds its map and nothing else"
        return
    part = part_of(module)
    assert part, f"{module} belongs to no part: name its arrows in MAY_IMPORT"
    ours = {name for name in imports_of(path) if is_within(name, PACKAGES)}
    allowed = MAY_IMPORT[part] | {part}
    # `from package.file import name` shows up as package.file.name too, and as package for its own maps
    upward = {
        name
        for name in ours
        if not is_within(name, allowed) and not any(is_within(a, {name}) for a in allowed)
    }
    assert not upward, f"{module} may not import {sorted(upward)}"


@pytest.mark.parametrize(
    ("module", "path"), modules(), ids=lambda value: str(value) if isinstance(value, str) else ""
)
def test_a_heavy_library_is_imported_only_at_home(module: str, path: Path) -> None:
    for library, homes in HOMES.items():
        if any(is_within(name, {library}) for name in imports_of(path)):
            assert is_within(module, homes), f"{module} imports {library}, whose home is {homes}"


def test_a_package_holds_one_docstring_and_nothing_else() -> None:
    for module, path in modules():
        if path.name == "__init__.py":
            body = ast.parse(path.read_text(encoding="utf-8")).body
            assert len(body) == 1, f"{module} holds more than its map"
            assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_no_part_of_the_table_is_stale() -> None:
    known = {module for module, _ in modules()}
    assert all(part in known for part in MAY_IMPORT)


def test_the_map_of_the_stores_names_every_module() -> None:
    folder = ROOT / "stores"
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    named = {line.split()[0] for line in docstring.splitlines()[1:] if line}
    assert named == {path.stem for path in folder.glob("*.py")} - {"__init__"} | {"migrations/"}
