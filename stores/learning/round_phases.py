"""The phases of a round, as a learner notes them and as a person reads them."""

from __future__ import annotations

_PHASES = {
    "": "beginning",
    "reading": "reading the lessons",
    "training": "training",
    "exporting": "writing the candidate down",
    "comparing": "comparing with the live model",
    "encoding": "encoding what is searched",
    "indexing": "filling the index",
    "going live": "going live",
}


def in_words(phase: str) -> str:
    """What a round does; a phase of another release is told by its name."""
    return _PHASES.get(phase, phase)
