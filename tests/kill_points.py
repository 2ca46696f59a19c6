"""How many points to be killed at are tried, and the like: a fifth, or all by `make test-kills`."""

from __future__ import annotations

import os

EVERY = 5
ALL = "VOUCH_ALL_KILLS" in os.environ


def kills(few: int) -> int:
    """So many deaths at points drawn by chance in every run, and five times as many in the run of all."""
    return EVERY * few if ALL else few
