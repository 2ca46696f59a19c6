"""Words at the left and others at the right, on one row where they fit and on several where they do not."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size

from assistant.terminal.widgets.two_sided_line import TwoSidedLine

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
        """The rows; the right words stand at the end of the last one."""
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
