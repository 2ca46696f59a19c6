"""What a person has given: settings and places, which all parts share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assistant.settings.config import Settings
from assistant.settings.locations import Locations


@dataclass
class Given:
    """The settings may be exchanged; what was made with those of before stays."""

    settings: Settings
    locations: Locations
    api_key: str = ""
    offline: bool = False
    tell: Callable[[str], None] = lambda sentence: None  # the person, when something takes long
