"""A line with words at its left end and others at its right end."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

_LEFT_KEEPS = 12  # columns


class TwoSidedLine(Widget):
    """One row; where both do not fit, the left words are cut first, down to a few."""

    DEFAULT_CSS = "TwoSidedLine { height: 1; width: 1fr; }"
    RIGHT_STYLE = "not bold dim"

    def __init__(self, left: str = "", right: str = "", *, id: str | None = None, classes: str = "") -> None:
        super().__init__(id=id, classes=classes)
        self.left = left
        self.right = right

    def say(self, left: str, right: str = "") -> None:
        """Shows these words instead."""
        if (left, right) != (self.left, self.right):
            self.left, self.right = left, right
            self.refresh()

    def render(self) -> Content:
        width = self.content_size.width
        left, right = Content(self.left), Content(self.right)
        kept = min(left.cell_length, _LEFT_KEEPS)
        right = right.truncate(max(0, width - kept - 1), ellipsis=True)
        left = left.truncate(max(0, width - right.cell_length - (1 if right else 0)), ellipsis=True)
        gap = " " * max(0, width - left.cell_length - right.cell_length)
        return Content.assemble(left, gap, (right.plain, self.RIGHT_STYLE))
