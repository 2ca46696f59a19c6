"""The small BERTs of tiny_bert.py and the export of one of them, made once a process of the tests.

Nobody writes into what is returned: whoever changes it, or exports into a cache, copies it first.
"""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from agents.models.encoders.prepared import prepare_encoder

# Of each, reference.npy has the vector as a passage.
TEXTS = (
    "the key is on the table",
    "",
    "Where is the BLUE key?",
    "the table is blue, " * 30,  # far beyond the window of 16 tokens
    "naïve 東京 🎉",
    "key",
)


@cache
def tiny_berts() -> Path:
    """A folder with mean and cls."""
    folder = _temporary()
    (folder / "texts.json").write_text(json.dumps(TEXTS), encoding="utf-8")
    script = Path(__file__).with_name("tiny_bert.py")
    subprocess.run([sys.executable, script, folder, folder / "texts.json"], check=True, capture_output=True)
    return folder


@cache
def export_of_mean() -> Path:
    """A cache of encoders in which mean is exported."""
    cache_dir = _temporary()
    prepare_encoder(str(tiny_berts() / "mean"), cache_dir, tell=print, offline=True)
    return cache_dir


def _temporary() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tiny-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
