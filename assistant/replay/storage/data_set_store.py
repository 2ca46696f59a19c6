"""The store of a data set: filled once as a person would fill it, and copied for every run over it.

    passages -> documents of the shared memory, by `vouch ingest`'s own way -> a data directory
             -> messages of their owners, in order, a session for each of theirs

No run meets another's store, and none the store of the chat. A fill that was killed goes on where it was, or
begins anew where it holds messages.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from assistant.library.cutting import cut
from assistant.library.documents import RECORD_WORDS, PreparedDocument, PreparedPassage
from assistant.library.formats.plain_text import plain_line, unwrapped
from assistant.library.ingest import Encoding, Ingested
from assistant.replay.streams.datasets import EVERYBODY, ReplayPassage, ReplayQuestion
from assistant.wiring.assistant import Assistant
from stores.base.clock import time_by
from stores.base.passages import SHARED, Passage

NAMES = "names.json"  # in a filled store
_FORM = 2  # of a filled store; another number has all of them filled anew
_FILLER, _SOURCE = "replay", "replay#"

Tell = Callable[[str, int, int], None]  # what is done, how much of it, of how much


@dataclass(frozen=True)
class Names:
    """Which passage of the data set a stored one is."""

    same_as: Mapping[str, str]  # of equal passages, the name of the one that is stored
    messages: Mapping[int, str]  # by version id, what stands in a user's memory

    @staticmethod
    def of_store(folder: Path) -> Names:
        """Those of a filled store."""
        told = json.loads((folder / NAMES).read_text(encoding="utf-8"))
        return Names(told["same_as"], {int(version): name for version, name in told["messages"].items()})

    def named(self, passage: Passage) -> Passage:
        """A stored passage under its name in the data set."""
        name = self.messages.get(passage.version_id)
        return passage if name is None else replace(passage, external_id=name)

    def of(self, passage: Passage) -> str:
        """Its name in the data set; empty where it is of none, such as what a user said meanwhile."""
        return self.named(passage).external_id

    def as_stored(self, question: ReplayQuestion) -> ReplayQuestion:
        """A question whose gold passages go by the names that are stored."""
        if question.gold is None:
            return question
        return replace(question, gold=frozenset(self.same_as.get(name, name) for name in question.gold))


def store_key(
    passages: Sequence[ReplayPassage],
    encoder_version: str,
    collections: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Equal for stores that would be filled alike."""
    digest = hashlib.sha256(
        json.dumps([_FORM, encoder_version, *([dict(collections)] if collections else [])]).encode()
    )
    for each in passages:
        row = [each.id, each.title, each.text, each.owner, each.session]
        digest.update(json.dumps(row).encode("utf-8", "replace"))
    return digest.hexdigest()[:16]


def filled(
    place: Path,
    passages: Sequence[ReplayPassage],
    assistant_at: Callable[[Path], Assistant],
    *,
    clock: Callable[[], datetime],
    collections: Mapping[str, str] = MappingProxyType({}),
    tell: Tell = lambda what, done, of: None,
) -> Path:
    """`place`, holding a store of these passages; filled unless it was before.

    assistant_at: the one whose data directory is a folder, closed here. clock: when it is filled.
    collections: by how the ids of their passages begin.
    """
    if (place / NAMES).is_file():
        return place
    making = place.with_name(f"{place.name}.making")
    if any(each.owner != EVERYBODY for each in passages):
        shutil.rmtree(making, ignore_errors=True)
    assistant = assistant_at(making)
    try:
        with time_by(clock):
            assistant.catch_up()
            same_as = _fill_shared(
                assistant, [p for p in passages if p.owner == EVERYBODY], collections, tell
            )
            messages = _fill_own(assistant, [p for p in passages if p.owner != EVERYBODY], tell)
    finally:
        assistant.close()
    told = {"same_as": same_as, "messages": messages}
    (making / NAMES).write_text(json.dumps(told), encoding="utf-8")
    making.rename(place)
    return place


def _fill_shared(
    assistant: Assistant, passages: Sequence[ReplayPassage], collections: Mapping[str, str], tell: Tell
) -> dict[str, str]:
    """The stored one's name for each equal passage."""
    first: dict[str, str] = {}
    same_as: dict[str, str] = {}

    def documents() -> Iterator[PreparedDocument]:
        for each in passages:
            document = _document(each)
            stored = first.setdefault(document.content_hash, each.id)
            if stored != each.id:
                same_as[each.id] = stored
            yield document

    user_id = assistant.stores.journal.user_id(_FILLER)
    into = {f"{_SOURCE}{begin}": name for begin, name in collections.items()}
    encoded = kept = 0
    for step in assistant.turns.ingest.run(
        user_id, SHARED, documents(), summary="a data set to replay", into=into
    ):
        encoded = step.passages if isinstance(step, Encoding) else encoded
        kept += isinstance(step, Ingested)
        tell("passages encoded", max(encoded, kept), len(passages))
    return same_as


def _document(passage: ReplayPassage) -> PreparedDocument:
    title, text = plain_line(passage.title), unwrapped(passage.text)
    parts = cut(text, whole_up_to_words=RECORD_WORDS)
    return PreparedDocument(
        source=f"{_SOURCE}{passage.id}",
        title=title,
        content_hash=hashlib.sha256(f"{title}\0{text}".encode("utf-8", "replace")).hexdigest(),
        passages=tuple(PreparedPassage(title, part) for part in parts),
        external_id=passage.id,
    )


def _fill_own(assistant: Assistant, passages: Sequence[ReplayPassage], tell: Tell) -> dict[int, str]:
    """The name of each stored version."""
    journal, names, sessions = assistant.stores.journal, dict[int, str](), dict[tuple[str, int], int]()
    for number, each in enumerate(passages, start=1):
        user_id = journal.user_id(each.owner)
        key = each.owner, each.session
        if key not in sessions:
            sessions[key] = journal.open_session(user_id)
        parts = cut(each.text, whole_up_to_words=RECORD_WORDS)
        accepted = journal.accept(user_id, sessions[key], each.text, parts=parts)
        names.update(dict.fromkeys(accepted.version_ids, each.id))
        tell("messages kept", number, len(passages))
    assistant.search.indexer.catch_up()
    return names
