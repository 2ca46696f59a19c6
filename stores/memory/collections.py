"""Names of collections: a user gives them, and a folder that is read is called by its own.

Documents and collections share one name space: what is named is searched alone, and must be one thing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from stores.base.errors import WrongUsage
from stores.base.file_names import shown_path
from stores.base.one_line import one_line
from stores.memory.library import KnownDocument

MOST_LETTERS = 80
_TAKEN = ("own", "nothing helped")  # domains of lessons


def require_name(name: str, known: Sequence[KnownDocument], *, shared: bool) -> None:
    """Raises `WrongUsage` for what no collection can be called.

    known: what its user sees. shared: whether it is to be shared, and not the user's own.
    """
    if not is_name(name):
        raise WrongUsage(
            f"'{one_line(name)}' is no name for a collection",
            hint=f"Take up to {MOST_LETTERS} letters, without a quotation mark; . ~ @ do not begin it.",
        )
    here = [each for each in known if each.is_shared == shared]
    if any(each.collection == name for each in here):
        return
    if taken := [each for each in here if name in (each.source, each.name, each.title)]:
        raise WrongUsage(
            f"'{one_line(name)}' is what a document is called: {one_line(taken[0].source)}",
            hint="Choose another name.",
        )


def is_name(name: str) -> bool:
    """Whether a collection can be called so, whatever else there is."""
    is_whole = bool(name) and name == name.strip() and name.isprintable() and len(name) <= MOST_LETTERS
    return is_whole and '"' not in name and not name.startswith((".", "~", "@")) and name not in _TAKEN


def name_of_folder(folder: Path, known: Sequence[KnownDocument], *, shared: bool) -> str:
    """What a folder's files are called together: as they are, else by its name and some of its path.

    Empty where it cannot be called by any. folder: absolute. known, shared: see `require_name`.
    """
    within = shown_path(folder).rstrip("/") + "/"
    here = [each for each in known if each.is_shared == shared]
    called = Counter(each.collection for each in here if each.collection and each.source.startswith(within))
    for count in range(1, len(folder.parts)):
        name = shown_path(Path(*folder.parts[-count:]))
        if called[name]:  # read again
            return name
        if any(each.collection == name for each in here):
            continue
        try:
            require_name(name, known, shared=shared)
        except WrongUsage:
            continue
        return name
    return ""
