"""Files that were moved or renamed stay the documents that they are, also where they were changed since.

a new path -> the same content, or the same file with much of the same words, under a path that is gone
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from stores.base.file_names import path_of
from stores.base.file_states import FileState
from stores.memory.documents import NewDocument, StoredDocuments

_SHARED_WORDS = 0.5  # of all words of both: a system gives the number of a deleted file to another one


class MovedFiles:
    """Gives documents of one space the path under which their file stands now."""

    def __init__(self, stored_documents: StoredDocuments, user_id: int, space: str) -> None:
        self._stored, self._user_id, self._space = stored_documents, user_id, space
        self._by_inode: dict[int, list[str]] | None = None  # the sources of known files

    def take_changed(self, documents: Sequence[NewDocument]) -> None:
        """Before they are stored: those of new paths whose file is known under one that is gone."""
        known = self._stored.live_sources(self._space, [document.source for document in documents])
        moved: dict[str, str] = {}
        for document in documents:
            if document.source not in known and (before := self._before(document)):
                moved[before] = document.source
        self._rename(moved)

    def take_same(self, holding: Mapping[str, int], documents: Iterable[NewDocument]) -> None:
        """After they were found or stored: those whose content stands under a path that is gone.

        holding: by source, the document that holds the content.
        """
        sources = self._stored.sources(set(holding.values()))
        moved: dict[str, str] = {}
        for document in documents:
            before = sources.get(holding.get(document.source, 0), document.source)
            if before != document.source and _is_gone(before):
                moved.setdefault(before, document.source)
        self._rename(moved)

    def _before(self, document: NewDocument) -> str:
        """Under which source a new document was known; empty where it was not."""
        record = f"#{document.external_id}" if document.external_id else ""
        try:
            inode = path_of(document.source.removesuffix(record)).stat().st_ino
        except (OSError, ValueError):  # a stream
            return ""
        words = _words(passage.text for passage in document.passages)
        for source in self._known(inode):
            if source.endswith(record) and _is_gone(source):
                held = _words(self._stored.live_texts(self._space, source))
                if len(words & held) >= _SHARED_WORDS * len(words | held):
                    return source
        return ""

    def _known(self, inode: int) -> list[str]:
        if self._by_inode is None:
            self._by_inode = {}
            for source, state in self._stored.file_states(self._space).items():
                self._by_inode.setdefault(FileState.of_text(state).inode, []).append(source)
        return self._by_inode.get(inode, [])

    def _rename(self, moved: Mapping[str, str]) -> None:
        others = self._stored.of_others(self._user_id, self._space, list(moved)) if moved else {}
        if theirs := {before: now for before, now in moved.items() if before not in others}:
            self._stored.rename(self._space, theirs)


def _is_gone(source: str) -> bool:
    """Whether the file of a document, or of a record in one, is there no more."""
    ends = [place for place, character in enumerate(source) if character == "#"]
    try:
        return source.startswith("/") and not any(
            path_of(source[:end]).is_file() for end in (*ends, len(source))
        )
    except (OSError, ValueError):  # nobody can say
        return False


def _words(texts: Iterable[str]) -> set[str]:
    return set(re.findall(r"\w+", " ".join(texts).lower()))
