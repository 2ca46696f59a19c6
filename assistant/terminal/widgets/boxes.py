"""Boxes around other widgets that show nothing themselves, painted at next to no cost."""

from __future__ import annotations

from textual.containers import Vertical
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class PaintsNothing(Widget):
    """The library would make up each row of it anew whenever it grows by one, beneath what stands on it."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """The same row again and again, unless there is a border."""
        if self.styles.border.spacing.width or self.styles.border.spacing.height:
            return super().render_lines(crop)
        row = Strip.blank(crop.width, self.visual_style.rich_style)
        _, background = self.background_colors
        for each in self.get_line_filters():
            row = row.apply_filter(each, background)
        return [row] * crop.height


class BlankBox(Vertical, PaintsNothing):
    """Widgets below one another."""
