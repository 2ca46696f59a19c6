"""The marked row of a list is found by a sign, also where rows are long, scrolled or few."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets.option_list import Option

from assistant.terminal.widgets.marked_list import MarkedList


class OneList(App[None]):
    """A list of five rows of the screen, borderless."""

    CSS = "MarkedList { height: 5; width: 12; border: none; padding: 0; }"

    def __init__(self, *rows: str) -> None:
        super().__init__()
        self._rows = rows

    def compose(self) -> ComposeResult:
        """The list alone."""
        yield MarkedList(*map(Option, self._rows), markup=False)

    @property
    def shown(self) -> list[str]:
        """Its rows, without what stands blank at their ends."""
        rows = self.query_one(MarkedList)
        strips = [rows.render_line(y) for y in range(rows.size.height)]
        assert all(strip.cell_length == rows.scrollable_content_region.width for strip in strips)
        return [strip.text.rstrip() for strip in strips]


async def test_the_sign_stands_before_the_first_row_of_the_marked_one() -> None:
    app = OneList("one", "two\nrows", "three")
    async with app.run_test() as pilot:
        assert app.shown == [">one", " two", " rows", " three", ""]
        for rows in (
            [" one", ">two", " rows", " three", ""],
            [" one", " two", " rows", ">three", ""],
        ):
            await pilot.press("down")
            assert app.shown == rows


async def test_it_goes_with_what_is_scrolled() -> None:
    app = OneList(*(f"row {number}" for number in range(20)))
    async with app.run_test() as pilot:
        await pilot.press("end")
        await pilot.pause()
        assert app.shown == [" row 15", " row 16", " row 17", " row 18", ">row 19"]
