"""The readers of text with an order of its own: e-mails, notebooks, reStructuredText, Org, source code."""

from __future__ import annotations

import email
import email.policy
import json
import re
from email.message import EmailMessage

from assistant.library.formats.html_reader import add_html, parsed_html
from assistant.library.formats.outlines import HEADING_CHARACTERS, Outline, Reading, with_title
from assistant.library.formats.plain_text import Section, plain, plain_line, unwrapped
from assistant.library.formats.text_reader import decoded
from stores.base.errors import UnreadableDocument

_ORG_HEADING = re.compile(r"(\*+)[ \t]+(.+)")
_ORG_TITLE = re.compile(r"#\+title:[ \t]*(.+)", re.IGNORECASE)
_MOST_DEPTH = 20  # of parts of an e-mail within parts
_MOST_NAMED = 5  # attachments in an error
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_SAME_SHARE = 0.8  # of the words of HTML that plain text has to hold to be taken in its place


def read_eml(data: bytes, source: str) -> Reading:
    """An e-mail: who wrote when to whom, its text, and messages forwarded in it; attachments are told of."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    mail, outline = _Mail(source), Outline()
    left_out = list(dict.fromkeys(mail.add(outline, message)))
    lost = []
    if left_out:
        more = f" and {len(left_out) - _MOST_NAMED} more" if len(left_out) > _MOST_NAMED else ""
        lost.append(f"is read without what is attached: {', '.join(left_out[:_MOST_NAMED])}{more}")
    title = plain_line(str(message.get("Subject", "")))[:HEADING_CHARACTERS]
    return Reading(outline.sections(), title, lost=tuple(lost))


class _Mail:
    """The parts of one e-mail in their order; of those that say the same, the best."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._chosen: dict[int, tuple[EmailMessage | None, list[str]]] = {}  # by the id of a part

    def add(self, outline: Outline, message: EmailMessage, depth: int = 0) -> list[str]:
        """Adds a message or a part of one; returns the names of what is attached and not read."""
        _add_heads(outline, message)
        left_out: list[str] = []
        waiting = [(message, depth)]
        while waiting:
            part, depth = waiting.pop()
            kind = part.get_content_type()
            parts = _parts(part)
            if depth > _MOST_DEPTH:
                left_out.append("parts within parts")
            elif kind == "message/rfc822" and parts:
                outline.end_lines()
                subject = plain_line(str(parts[0].get("Subject", "")))
                outline.add(f"Forwarded: {subject}", line_of="list")
                _add_heads(outline, parts[0])
                waiting.append((parts[0], depth + 1))
            elif kind == "multipart/alternative":
                chosen, not_read = self._best(part, depth + 1)
                left_out += not_read
                waiting += [(chosen, depth + 1)] if chosen is not None else []
            elif part.is_multipart():
                waiting += [(each, depth + 1) for each in reversed(parts)]
            elif kind in ("text/plain", "text/html"):
                try:
                    self._add_text(outline, part)
                except UnreadableDocument:
                    if not part.get_filename():
                        raise
                    left_out.append(_name(part))
            elif kind in _SIGNATURES:
                pass
            elif part.get_filename() and (part.is_attachment() or not part.get("Content-ID")):
                left_out.append(_name(part))
        return left_out

    def _best(self, part: EmailMessage, depth: int) -> tuple[EmailMessage | None, list[str]]:
        """The plain part where it says all that the last one says, else the last; and what is beside it."""
        if id(part) not in self._chosen:
            said: list[tuple[EmailMessage, set[str], list[str]]] = []
            for offer in _parts(part):
                told = Outline()
                try:
                    left_out = self.add(told, offer, depth)
                except UnreadableDocument:
                    continue  # another one may be in order
                words = {word for each in told.sections() for word in _words(each)}
                said += [(offer, words, left_out)] if words or left_out else []
            last: set[str] = next((words for _, words, _ in reversed(said) if words), set())
            full = [
                offer
                for offer, words, _ in said
                if len(words & last) >= _SAME_SHARE * len(last)
                and (words == last or offer.get_content_type() == "text/plain")
            ]
            chosen = full[0] if full and last else None
            not_read = [name for offer, _, names in said if offer is not chosen for name in names]
            self._chosen[id(part)] = chosen, not_read
        return self._chosen[id(part)]

    def _add_text(self, outline: Outline, part: EmailMessage) -> None:
        payload = part.get_payload(decode=True)
        charset = part.get_content_charset() or ""
        text = decoded(payload if isinstance(payload, bytes) else b"", self._source, charset)
        outline.end_lines()
        if part.get_content_type() == "text/html":
            add_html(outline, parsed_html(text, self._source))
        else:
            outline.add_paragraphs(text)


def _add_heads(outline: Outline, message: EmailMessage) -> None:
    for name in ("From", "To", "Cc", "Date"):
        if value := message.get(name):
            outline.add(f"{name}: {plain_line(str(value))}", line_of="list")


def _name(part: EmailMessage) -> str:
    return plain_line(str(part.get_filename()))[:HEADING_CHARACTERS]


def _parts(message: EmailMessage) -> list[EmailMessage]:
    payload = message.get_payload()
    return [each for each in payload if isinstance(each, EmailMessage)] if isinstance(payload, list) else []


def _words(section: Section) -> list[str]:
    return re.findall(r"\w+", " ".join((*section.path, section.text)).lower())


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
