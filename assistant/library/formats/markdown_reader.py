"""The reader of Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assistant.library.formats.html_reader import add_html, parsed_html
from assistant.library.formats.outlines import Outline, Reading, with_title
from assistant.library.formats.plain_text import entries, plain
from assistant.library.formats.text_reader import decoded, manual_sections

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?=[\w-]+[ \t]*:).*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)

_PLACEHOLDER = re.compile(r"<([\w-]+)>")
_UNCLOSED = frozenset(  # tags of HTML that stand alone, or may
    "area br col dd dt embed hr img input li link meta p source td th tr track wbr".split()
)


def read_markdown(data: bytes, source: str) -> Reading:
    """Markdown: its text under its headings."""
    text = plain(decoded(data, source)).lstrip("\n")
    if front_matter := _FRONT_MATTER.match(text):
        text = text[front_matter.end() :]
    outline = Outline()
    add_markdown(outline, text, source)
    return with_title(outline.sections())


def add_markdown(outline: Outline, text: str, source: str) -> None:
    """Adds what a reader sees of it."""
    from markdown_it import MarkdownIt

    heading_level = 0
    label = ""  # of the list item that begins
    rows: list[list[str]] = []  # of the table that is open
    lines = text.split("\n")
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        match token.type:
            case "heading_open" if token.level == 0:
                heading_level = int(token.tag[1])
            case "list_item_open":
                label = f"{token.info}{token.markup} " if token.info else "- "
            case "list_item_close":
                label = ""
            case "tr_open":
                rows.append([])
            case "table_close":
                outline.add_table(rows, header_rows=int(len(rows) > 1))
                rows = []
            case "inline":
                said = _line_text(token.children or [])
                if heading_level:
                    outline.add_heading(heading_level, said)
                elif rows:
                    rows[-1].append(" ".join(said.split()))
                elif not label and token.map and (found := entries(lines[slice(*token.map)])):
                    for term, told in found:
                        outline.add(f"{term}\n{told}")
                else:
                    outline.add(label + said, line_of="list" if label else "")
                heading_level, label = 0, ""
            case "fence" | "code_block":
                found_options = manual_sections(token.content, by_terms=False)
                for section in found_options:
                    outline.add(section.text)
                if not found_options:
                    outline.add_code(token.content)
            case "html_block":
                add_html(outline, parsed_html(token.content, source))


def _line_text(tokens: Sequence[Token]) -> str:
    """What a reader sees of a line. A tag that is never closed is a placeholder: "cd <folder>"."""
    tags = [token.content for token in tokens if token.type == "html_inline"]
    return "".join(
        token.content
        if (name := _PLACEHOLDER.fullmatch(token.content))
        and f"</{name[1]}>" not in tags
        and name[1].lower() not in _UNCLOSED
        else _markdown_text(token)
        for token in tokens
    )


def _markdown_text(token: Token) -> str:
    """What a reader sees of a part of a line; a link's words are parts of their own."""
    match token.type:
        case "softbreak":
            return " "
        case "hardbreak":
            return "\n"
        case "html_inline":
            return "\n" if token.content.lower().startswith("<br") else ""
        case _:
            return token.content  # of an image: what it is said to show
