"""Who decides what becomes knowledge, as one record: made by the wiring, by a reader or by a chat model."""

from __future__ import annotations

from dataclasses import dataclass

from agents.base.claim_interfaces import Curator, Discriminator, Summarizer
from agents.memory.classifier import Classifier


@dataclass(frozen=True)
class Agents:
    """Who decides what becomes knowledge."""

    summarizer: Summarizer
    discriminator: Discriminator
    classifier: Classifier
    curator: Curator
