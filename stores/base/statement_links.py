"""What one statement does to another of the same user, and what follows for whether it still holds.

    links -> of each pair the probability that the older end no longer holds -> standing

Nothing here is stored: a statement stays as it was told, and its standing is derived from its links.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

LinkKind: TypeAlias = Literal["same", "replaces", "ends", "adds", "unrelated"]
LINK_KINDS: tuple[LinkKind, ...] = get_args(LinkKind)
BY_USER = "user"  # who wrote a link; anything else names a reader or a chat model
KEPT_FROM = 0.2  # a link that is less probable is not written
PERHAPS_FROM = 0.3  # from which a statement perhaps no longer holds
READ_FROM = 0.4  # from which both ends are read together, the older with a mark
GONE_FROM = 0.8  # from which a person is told that it no longer holds


@dataclass(frozen=True)
class Link:
    """What the newer of two statements does to the older; both are passage ids."""

    newer: int
    older: int
    kind: LinkKind
    probability: float
    by: str
    id: int = 0
    receipt_id: int | None = None

    @property
    def is_by_user(self) -> bool:
        """Whether a person said so."""
        return self.by == BY_USER


@dataclass(frozen=True)
class NewLink:
    """A link of a statement that is being written, with another one."""

    other: int  # the other's passage id
    is_newer: bool  # whether the other was told later
    kind: LinkKind
    probability: float
    by: str


@dataclass(frozen=True)
class ReplacedBy:
    """A statement told later, and how probably an older one no longer holds because of it."""

    passage_id: int
    probability: float


def replaced_by(links: Iterable[Link]) -> dict[int, tuple[ReplacedBy, ...]]:
    """By older statement: what perhaps took its place, the most probable first.

    links: those that stand. Of a pair about which a person said something, their last word alone counts.
    """
    pairs: dict[tuple[int, int], list[Link]] = {}
    for link in links:
        pairs.setdefault((link.older, link.newer), []).append(link)
    found: dict[int, list[ReplacedBy]] = {}
    for (older, newer), pair in pairs.items():
        told = [link for link in pair if link.is_by_user]
        counted = [max(told, key=lambda link: link.id)] if told else pair
        gone = min(1.0, sum(link.probability for link in counted if link.kind in ("replaces", "ends")))
        if gone >= PERHAPS_FROM:
            found.setdefault(older, []).append(ReplacedBy(newer, gone))
    return {
        older: tuple(sorted(each, key=lambda one: (-one.probability, one.passage_id)))
        for older, each in found.items()
    }
