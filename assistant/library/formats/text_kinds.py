"""The readers of text with an order of its own: notebooks, e-mails, reStructuredText, Org and source code."""

from __future__ import annotations

import email
import email.policy
import json
import re
from email.message import EmailMessage

from assistant.library.formats.html_reader import add_html, parsed_html
from assistant.library.formats.outlines import HEADING_CHARACTERS, Outline, Reading, with_title
from assistant.library.formats.plain_text import plain, plain_line, unwrapped
from assistant.library.formats.text_reader import decoded

_ORG_HEADING = re.compile(r"(\*+)[ \t]+(.+)")
_ORG_TITLE = re.compile(r"#\+title:[ \t]*(.+)", re.IGNORECASE)


def read_eml(data: bytes, source: str) -> Reading:
    """An e-mail: who wrote when to whom, and its text; attachments are passed over."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    outline = Outline()
    for name in ("From", "To", "Cc", "Date"):
        if value := message.get(name):
            outline.add(f"{name}: {plain_line(str(value))}", line_of="list")
    body = message.get_body(("plain", "html"))
    if body is not None:
        payload = body.get_payload(decode=True)
        charset = body.get_content_charset() or ""
        text = decoded(payload if isinstance(payload, bytes) else b"", source, charset)
        if body.get_content_type() == "text/html":
            add_html(outline, parsed_html(text, source))
        else:
            for paragraph in unwrapped(text).split("\n\n"):
                outline.add(paragraph)
    return Reading(outline.sections(), plain_line(str(message.get("Subject", "")))[:HEADING_CHARACTERS])


def read_rst(data: bytes, source: str) -> Reading:
    """ReStructuredText, without the files that it would include."""
    from docutils.core import publish_string

    page = publish_string(
        decoded(data, source),
        writer="html5",
        settings_overrides={
            "file_insertion_enabled": False,
            "raw_enabled": False,
            "report_level": 5,
            "halt_level": 5,
            "input_encoding": "unicode",
            "output_encoding": "unicode",
            "embed_stylesheet": False,
            "stylesheet_path": "",
            "_disable_config": True,
        },
    )
    outline = Outline()
    add_html(outline, parsed_html(str(page), source))
    return with_title(outline.sections())


def read_org(data: bytes, source: str) -> Reading:
    """Org: its text under its headings."""
    outline, title, lines = Outline(), "", list[str]()

    def end() -> None:
        for paragraph in unwrapped("\n".join(lines)).split("\n\n"):
            outline.add(paragraph)
        lines.clear()

    for line in plain(decoded(data, source)).split("\n"):
        if heading := _ORG_HEADING.fullmatch(line.rstrip()):
            end()
            outline.add_heading(len(heading[1]), heading[2])
        elif named := _ORG_TITLE.fullmatch(line.strip()):
            title = plain_line(named[1])[:HEADING_CHARACTERS]
        elif not line.lower().startswith(("#+", ":properties:", ":end:")):
            lines.append(line)
    end()
    return with_title(outline.sections(), title)


def read_code(data: bytes, source: str) -> Reading:
    """Source code and settings: blocks between empty lines, with their spaces."""
    outline = Outline()
    for block in re.split(r"\n[ \t]*\n", plain(decoded(data, source))):
        outline.add_code(block)
    return Reading(outline.sections())


def read_notebook(data: bytes, source: str) -> Reading:
    """A Jupyter notebook: its text and code, without what the code printed."""
    from assistant.library.formats.markdown_reader import add_markdown

    outline = Outline()
    for cell in json.loads(decoded(data, source)).get("cells", []):
        text = cell.get("source", "")
        text = text if isinstance(text, str) else "".join(text)
        if cell.get("cell_type") == "markdown":
            add_markdown(outline, text, source)
        else:
            outline.add_code(text)
    return with_title(outline.sections())
