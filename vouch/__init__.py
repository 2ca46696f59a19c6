"""Vouch from Python: one user's memory, and answers from it with their sources.

    from vouch import Vouch

    with Vouch(user="ann") as vouch:
        vouch.add("My sister Mia lives in Porto.")
        answer = vouch.ask("Where does Mia live?")
        print(answer.text, answer.sure, answer.sources)

The user is bound when it is made, and no method takes another one. Settings and data are those of the
command line, and so are its rules: what is written has a receipt, and can be undone.
"""

from __future__ import annotations

from stores.base.errors import VouchError
from vouch.asynchronous import AsyncVouch
from vouch.client import AnswerStream, Vouch
from vouch.results import (
    Answer,
    Forgotten,
    Found,
    Ingested,
    Receipt,
    Source,
    Version,
    Why,
    WhyRow,
)

__all__ = [
    "Answer",
    "AnswerStream",
    "AsyncVouch",
    "Forgotten",
    "Found",
    "Ingested",
    "Receipt",
    "Source",
    "Version",
    "Vouch",
    "VouchError",
    "Why",
    "WhyRow",
]
