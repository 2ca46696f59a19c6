"""A line with words at its left end and others at its right end."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size
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


_TALL = 14  # rows of the screen from which a line may take several


class WrappedLine(TwoSidedLine):
    """Breaks between words; what three rows do not hold ends with an ellipsis."""

    DEFAULT_CSS = "WrappedLine { height: auto; width: 1fr; }"
    MOST_ROWS = 3

    def say(self, left: str, right: str = "") -> None:
        """Shows these words instead."""
        if (left, right) != (self.left, self.right):
            self.left, self.right = left, right
            self.refresh(layout=len(self._rows(self.content_size.width)) != self.content_size.height)

    @property
    def has_several_rows(self) -> bool:
        """Whether the screen is high enough for more than one."""
        return self.app.size.height >= _TALL

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as the words take."""
        return len(self._rows(width))

    def render(self) -> Content:
        width = self.content_size.width
        *above, last = self._rows(width)
        right = self.right
        if not above and not fits(last, right, width):
            return super().render()
        gap = " " * max(0, width - cell_len(last) - cell_len(right))
        return Content("\n").join(
            [*map(Content, above), Content.assemble(last, gap, (right, self.RIGHT_STYLE))]
        )

    def _rows(self, width: int) -> list[str]:
        if not self.has_several_rows or width <= 0 or fits(self.left, self.right, width):
            return [self.left]
        rows = broken(self.left, width)
        if not fits(rows[-1], self.right, width):
            rows.append("")
        if len(rows) <= self.MOST_ROWS:
            return rows
        kept, rest = rows[: self.MOST_ROWS - 1], " ".join(rows[self.MOST_ROWS - 1 :])
        room = max(1, width - cell_len(self.right) - 1)
        return [*kept, Content(rest).truncate(room, ellipsis=True).plain]


def fits(left: str, right: str, width: int) -> bool:
    """Whether both have room on one row, with a blank between them."""
    return cell_len(left) + (cell_len(right) + 1 if right else 0) <= width


def broken(words: str, width: int) -> list[str]:
    """Rows of so many columns, broken between words; a longer word is broken within."""
    rows = [""]
    for word in words.split():
        longer = f"{rows[-1]} {word}" if rows[-1] else word
        if cell_len(longer) <= width:
            rows[-1] = longer
            continue
        rows += [word] if rows[-1] else []
        rows[-1:] = [word] if cell_len(word) <= width else _pieces(word, width)
    return rows


def _pieces(word: str, width: int) -> list[str]:
    pieces = [""]
    for letter in word:
        if cell_len(pieces[-1] + letter) > width and pieces[-1]:
            pieces.append("")
        pieces[-1] += letter
    return pieces
