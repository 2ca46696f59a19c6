"""Copying by the terminal (OSC 52) and by a tool of the desktop, where there is one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping

_TOOLS = (("wl-copy", "WAYLAND_DISPLAY"), ("xclip", "DISPLAY"), ("pbcopy", ""))
_WITHIN_SECONDS = 2.0


def copy_by_tool(text: str, environ: Mapping[str, str]) -> str | None:
    """The name of the tool that took the text; None where there is none, or none that did."""
    for name, variable in _TOOLS:
        path = shutil.which(name)
        if path is None or (variable and not environ.get(variable)):
            continue
        command = [path, "-selection", "clipboard"] if name == "xclip" else [path]
        try:
            subprocess.run(
                command,
                input=text.encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_WITHIN_SECONDS,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            continue
        return name
    return None


def code_blocks(markdown: str) -> list[str]:
    """The fenced blocks of a text, in their order, without their fences."""
    blocks: list[str] = []
    fence = ""
    lines: list[str] = []
    for line in markdown.split("\n"):
        marks = line.strip()
        if not fence and marks.startswith(("```", "~~~")):
            fence, lines = marks[:3], []
        elif fence and marks.startswith(fence) and not marks.strip(fence[0]):
            blocks.append("\n".join(lines))
            fence = ""
        elif fence:
            lines.append(line)
    return blocks
