"""The words of an answer on the screen; they grow while it is written."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message as Posted
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget

from assistant.terminal.text.markdown_lines import lines_of, settled_length


class AnswerText(Widget):
    """Markdown in one widget: a block that is done is laid out once, and painted from what is kept."""

    DEFAULT_CSS = "AnswerText { width: 1fr; height: auto; }"

    class LinkClicked(Posted):
        """Somebody wants to open a link."""

        def __init__(self, href: str) -> None:
            super().__init__()
            self.href = href

    def __init__(self, markdown: str, *, is_whole: bool = True, classes: str = "") -> None:
        """is_whole: nothing will be written behind it."""
        super().__init__(classes=classes)
        self.markdown = markdown
        self._is_whole = is_whole
        self._width = 0  # for which the lines are laid out
        self._settled = 0  # characters of the blocks that are done
        self._done: list[Content] = []
        self._growing: list[Content] = []  # of the block that is being written
        self._strips: dict[int, Strip] = {}

    def write(self, piece: str) -> None:
        """A further piece."""
        self.markdown += piece
        if self._width:
            self._lay_out_rest()
            self.refresh(layout=True)

    def clear(self) -> None:
        """Takes all words away: they were no answer."""
        self.markdown, self._width = "", 0  # laid out anew with the next piece
        self.refresh(layout=True)

    def end(self) -> None:
        """Nothing more comes."""
        self._is_whole = True
        if self._width:
            self._lay_out_rest()
            self.refresh(layout=True)

    def lines_at(self, width: int) -> list[Content]:
        if width != self._width:
            self._width, self._settled = width, 0
            self._done, self._strips = [], {}
            self._lay_out_rest()
        blank = [Content("")] if self._done and self._growing else []
        return [*self._done, *blank, *self._growing]

    def _lay_out_rest(self) -> None:
        for y in range(len(self._done), len(self._done) + len(self._growing) + 1):
            self._strips.pop(y, None)
        rest = self.markdown[self._settled :]
        settled = 0 if self._is_whole else settled_length(rest)
        if settled:
            blank = [Content("")] if self._done else []
            self._done += [*blank, *lines_of(rest[:settled], self._width)]
            self._settled += settled
        self._growing = lines_of(rest[settled:], self._width, colours_code=self._is_whole)

    # As the screen library asks

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as there are lines."""
        return len(self.lines_at(width)) if width else 0

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows that are asked for. It has no border and no padding, so a line is a whole row."""
        if not self.is_attached:  # the paint was asked for before it was taken away
            return [Strip.blank(crop.width)] * crop.height
        rows = [self.render_line(y) for y in crop.line_range]
        if crop.column_span == (0, self.size.width):
            return rows
        return [row.crop(*crop.column_span) for row in rows]

    def render_line(self, y: int) -> Strip:
        """One line, from what is kept where it was painted before."""
        selection = self.text_selection
        if selection is None and y in self._strips:
            return self._strips[y]
        lines = self.lines_at(self.size.width)
        line = lines[y] if y < len(lines) else Content("")
        if selection is not None and (span := selection.get_span(y)) is not None:
            start, end = span
            marked = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            line = line.stylize(marked, start, len(line.plain) if end == -1 else end)
        strip = self._painted(line).apply_offsets(0, y)
        if selection is None:
            self._strips[y] = strip
        return strip

    def _painted(self, line: Content) -> Strip:
        width, style = self.size.width, self.visual_style
        strips = Visual.to_strips(self, line, width, 1, style, apply_selection=False)
        strip = strips[0].adjust_cell_length(width, style.rich_style) if strips else Strip.blank(width)
        _, background = self.background_colors
        for each in self.get_line_filters():
            strip = strip.apply_filter(each, background)
        return strip

    def notify_style_update(self) -> None:
        """Other colours."""
        self._strips = {}
        super().notify_style_update()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The words that are selected, as they stand on the screen."""
        return selection.extract("\n".join(line.plain for line in self.lines_at(self._width))), "\n"

    def action_open_link(self, href: str) -> None:
        self.post_message(self.LinkClicked(href))
