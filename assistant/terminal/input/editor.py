"""The prompt in the editor of the person's choice."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from stores.base.errors import WrongUsage


def edit(text: str, environ: Mapping[str, str]) -> str:
    """What the person made of the text. Raises `WrongUsage` where there is no editor, or it failed."""
    named = environ.get("VISUAL") or environ.get("EDITOR")
    if not named:
        raise WrongUsage("no editor is named", hint="Set VISUAL or EDITOR.")
    descriptor, name = tempfile.mkstemp(prefix="vouch-", suffix=".md")  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        code = subprocess.run([*shlex.split(named), name], check=False).returncode
        if code != 0:
            raise WrongUsage(f"{named} ended with {code}", hint="The prompt stays as it was.")
        return Path(name).read_text(encoding="utf-8", errors="replace").rstrip("\n")
    except OSError as error:
        raise WrongUsage(f"{named} cannot be run: {error.strerror}", hint="Set VISUAL or EDITOR.") from error
    finally:
        Path(name).unlink(missing_ok=True)
