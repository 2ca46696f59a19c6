"""What is to be there after a power cut as well."""

from __future__ import annotations

import os
from pathlib import Path


def sync(place: Path) -> None:
    """Makes a file's content, or the names in a folder, durable."""
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
