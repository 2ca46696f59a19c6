"""The names of the screen library's themes, so that settings are checked without importing it."""

from __future__ import annotations

THEMES = (
    "textual-dark",
    "textual-light",
    "ansi-dark",
    "ansi-light",
    "atom-one-dark",
    "atom-one-light",
    "catppuccin-frappe",
    "catppuccin-latte",
    "catppuccin-macchiato",
    "catppuccin-mocha",
    "dracula",
    "flexoki",
    "gruvbox",
    "monokai",
    "nord",
    "rose-pine",
    "rose-pine-dawn",
    "rose-pine-moon",
    "solarized-dark",
    "solarized-light",
    "tokyo-night",
)


def nearest_theme(name: str) -> str:
    """The theme that was probably meant."""
    if name in THEMES:
        return name
    from difflib import get_close_matches  # not imported where the name is right

    return next(iter(get_close_matches(name[:60].lower(), THEMES, n=1, cutoff=0.4)), THEMES[0])
