"""Names of collections: a user gives them, and a folder that is read is called by its own.

Documents and collections share one name space: what is named is searched alone, and must be one thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stores.base.errors import WrongUsage
from stores.base.file_names import shown_path
from stores.base.one_line import one_line
from stores.memory.library import KnownDocument

MOST_LETTERS = 80


def require_name(name: str, known: Sequence[KnownDocument]) -> None:
    """Raises `WrongUsage` for what no collection can be called. known: what its user sees."""
    if not name.strip() or not name.isprintable() or '"' in name or len(name) > MOST_LETTERS:
        raise WrongUsage(
            f"'{one_line(name)}' is no name for a collection",
            hint=f"Take up to {MOST_LETTERS} letters, without a quotation mark.",
        )
    if taken := [each for each in known if name in (each.source, each.name, each.title)]:
        raise WrongUsage(
            f"'{one_line(name)}' is what a document is called: {one_line(taken[0].source)}",
            hint="Choose another name.",
        )


def name_of_folder(folder: Path, known: Sequence[KnownDocument]) -> str:
    """What a folder's files are called together: its name, with as much of its path as nothing else has.

    Empty where it cannot be called by any. folder: absolute. known: what its user sees.
    """
    within = shown_path(folder).rstrip("/") + "/"
    for count in range(1, len(folder.parts)):
        name = shown_path(Path(*folder.parts[-count:]))
        if any(each.collection == name and not each.source.startswith(within) for each in known):
            continue
        try:
            require_name(name, known)
        except WrongUsage:
            continue
        return name
    return ""
