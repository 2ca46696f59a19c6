"""Markdown as lines of a given width, block by block.

A library's widget for each paragraph, item and cell costs a layout of all of them at every word that is
written. Lines are laid out once, and only the last block again while it grows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from textual.content import Content, Span
from textual.style import Style

if TYPE_CHECKING:
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from textual.highlight import HighlightTheme

HEADING_STYLES = ("bold underline", "bold underline", "bold", "bold italic", "italic", "italic")
CODE_STYLE = "$foreground on $panel"
_INLINE_STYLES = {"em_open": "italic", "strong_open": "bold", "s_open": "strike"}
_BULLETS = ("• ", "▪ ", "‣ ")
_LEAST_WIDTH = 4  # columns; what is narrower is laid out as if it had so many
_LEAST_CELL = 4  # columns of a table's cell; in less room a row becomes lines of its own
_GAP = 2  # columns between two cells


def lines_of(text: str, width: int, *, colours_code: bool = True) -> list[Content]:
    """The whole text. colours_code: blocks of code are told apart by their language's words."""
    root = SyntaxTreeNode(_parser().parse(text))
    return _Layout(colours_code).stack(root.children, max(width, _LEAST_WIDTH))


def settled_length(text: str) -> int:
    """How many characters at the beginning are blocks that nothing behind the text can change any more.

    A block is done when another one begins behind it on lines that are whole themselves.
    """
    whole = text[: text.rfind("\n") + 1]
    starts = [token.map[0] for token in _parser().parse(whole) if token.level == 0 and token.map]
    if not starts or starts[-1] == 0:
        return 0
    return sum(len(line) for line in whole.split("\n")[: starts[-1]]) + starts[-1]


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("gfm-like")
    parser.inline.ruler.before("escape", "formula", _formula)
    return parser


def _formula(state: StateInline, silent: bool) -> bool:
    r"""A rule of the parser: \( … \) and \[ … \] stay as LaTeX, with the backslashes that Markdown drops."""
    closing = {r"\(": r"\)", r"\[": r"\]"}.get(state.src[state.pos : state.pos + 2])
    if closing is None or (end := state.src.find(closing, state.pos + 2)) < 0:
        return False
    if not silent:
        state.push("text", "", 0).content = state.src[state.pos : end + 2]
    state.pos = end + 2
    return True


class _Layout:
    """Lays blocks out, those within others too."""

    def __init__(self, colours_code: bool) -> None:
        self._colours_code = colours_code

    def stack(self, blocks: Sequence[SyntaxTreeNode], width: int, *, depth: int = 0) -> list[Content]:
        """Blocks below one another, a blank line between two of them, but not within a tight list."""
        lines: list[Content] = []
        for place, block in enumerate(blocks):
            if place and not (block.hidden or blocks[place - 1].hidden):
                lines.append(Content(""))
            lines += self._block(block, width, depth)
        return lines

    def _block(self, block: SyntaxTreeNode, width: int, depth: int) -> list[Content]:
        match block.type:
            case "paragraph":
                return _inline(block.children[0]).wrap(width)
            case "heading":
                words = _inline(block.children[0])
                return [line.stylize(HEADING_STYLES[int(block.tag[1]) - 1]) for line in words.wrap(width)]
            case "bullet_list" | "ordered_list":
                return self._list(block, width, depth)
            case "blockquote":
                inner = self.stack(block.children, max(width - 2, _LEAST_WIDTH), depth=depth)
                return [Content.assemble(("▌ ", "$text-muted"), line) for line in inner]
            case "fence" | "code_block":
                return self._code(block, width)
            case "table":
                return _table(block, width)
            case "hr":
                return [Content("─" * width)]
            case _:
                return Content(block.content.rstrip("\n")).wrap(width)

    def _list(self, block: SyntaxTreeNode, width: int, depth: int) -> list[Content]:
        is_loose = any(not child.hidden for item in block.children for child in item.children[:1])
        number = int(block.attrs.get("start", 1)) if block.type == "ordered_list" else None
        last = None if number is None else f"{number + len(block.children) - 1}. "
        lines: list[Content] = []
        for place, item in enumerate(block.children):
            bullet = _BULLETS[depth % len(_BULLETS)]
            mark = bullet if number is None or last is None else f"{number + place}. ".rjust(len(last))
            if place and is_loose:
                lines.append(Content(""))
            inner = self.stack(item.children, max(width - len(mark), _LEAST_WIDTH), depth=depth + 1)
            for row, line in enumerate(inner or [Content("")]):
                lines.append(Content.assemble(mark if row == 0 else " " * len(mark), line))
        return lines

    def _code(self, block: SyntaxTreeNode, width: int) -> list[Content]:
        language = block.info.split()[0] if block.info.strip() else ""
        code = block.content.rstrip("\n").expandtabs(4)
        coloured = self._coloured(code, language) if self._colours_code and language else Content(code)
        lines = [part for line in coloured.split(allow_blank=True) for part in line.fold(width - 2)]
        return [line.pad(1, width - 1 - line.cell_length).stylize_before("on $panel") for line in lines]

    def _coloured(self, code: str, language: str) -> Content:
        from textual.highlight import highlight

        return highlight(code, language=language, theme=_code_theme())


@cache
def _code_theme() -> type[HighlightTheme]:
    """By weight and slant: the library's colours for words of a program are too faint on a light screen."""
    from pygments.token import Token as Word  # type: ignore[import-untyped]
    from textual.highlight import HighlightTheme

    class CodeTheme(HighlightTheme):
        STYLES = {  # noqa: RUF012 - as the library has it
            Word.Comment: "italic",
            Word.Keyword: "bold",
            Word.Literal.String.Doc: "italic",
            Word.Name.Class: "underline",
            Word.Name.Function: "underline",
        }

    return CodeTheme


def _table(table: SyntaxTreeNode, width: int) -> list[Content]:
    rows = [
        [_inline(cell.children[0]) for cell in row.children]
        for part in table.children
        for row in part.children
    ]
    head, *body = rows
    alignments = [str(cell.attrs.get("style", "")) for cell in table.children[0].children[0].children]
    room = width - _GAP * (len(head) - 1)
    if room < _LEAST_CELL * len(head):
        return _rows_as_lines(head, body, width)
    widths = _shared_out([max(row[n].cell_length for row in rows) for n in range(len(head))], room)
    lines = _row([cell.stylize("bold") for cell in head], widths, alignments)
    lines.append(Content((" " * _GAP).join("─" * each for each in widths)))
    for row in body:
        lines += _row(row, widths, alignments)
    return lines


def _row(cells: Sequence[Content], widths: Sequence[int], alignments: Sequence[str]) -> list[Content]:
    wrapped = [cell.wrap(width) for cell, width in zip(cells, widths, strict=True)]
    return [
        Content(" " * _GAP).join(
            _aligned(parts[n] if n < len(parts) else Content(""), width, alignment)
            for parts, width, alignment in zip(wrapped, widths, alignments, strict=True)
        )
        for n in range(max(len(parts) for parts in wrapped))
    ]


def _aligned(cell: Content, width: int, alignment: str) -> Content:
    free = max(0, width - cell.cell_length)
    if "right" in alignment:
        return cell.pad_left(free)
    if "center" in alignment:
        return cell.pad(free // 2, free - free // 2)
    return cell.pad_right(free)


def _shared_out(wanted: Sequence[int], room: int) -> list[int]:
    """Column widths: as wanted where all fit, else the widest ones are cut to the same width."""
    cap = max(wanted, default=0)
    while cap > _LEAST_CELL and sum(min(each, cap) for each in wanted) > room:
        cap -= 1
    return [max(1, min(each, cap)) for each in wanted]


def _rows_as_lines(head: Sequence[Content], body: Sequence[Sequence[Content]], width: int) -> list[Content]:
    """A table that is too wide: its cells below one another, each behind its column's name."""
    lines: list[Content] = []
    for row in body or [head]:
        if lines:
            lines.append(Content(""))
        for name, cell in zip(head, row, strict=True):
            lines += Content.assemble(name.stylize("bold"), ": ", cell).wrap(width)
    return lines


def _inline(node: SyntaxTreeNode) -> Content:
    """Words with their emphasis, code and links."""
    text, spans = "", []
    open_styles: list[tuple[int, str | Style]] = []
    for token in node.token.children or () if node.token is not None else ():
        if token.type.endswith("_close"):
            start, style = open_styles.pop()
            spans.append(Span(start, len(text), style))
        elif token.type.endswith("_open"):
            open_styles.append((len(text), _INLINE_STYLES.get(token.type) or _link(token, "href")))
        else:
            words = "".join(_words(token))
            if token.type == "code_inline":
                spans.append(Span(len(text), len(text) + len(words), CODE_STYLE))
            elif token.type == "image":
                spans.append(Span(len(text), len(text) + len(words), _link(token, "src")))
            text += words
    return Content(text, spans=spans)


def _words(token: Token) -> Iterator[str]:
    match token.type:
        case "softbreak" | "hardbreak":  # the nearest of an answer are a line each, as they were written
            yield "\n"
        case "image":
            yield f"(image: {token.content or token.attrs.get('src', '')})"
        case _:
            yield token.content


def _link(token: Token, attribute: str) -> Style:
    action = f"open_link({str(token.attrs.get(attribute, ''))!r})"
    return Style(underline=True) + Style.from_meta({"@click": action})
