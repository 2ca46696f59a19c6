"""An e-mail is read with the parts that say something: the best of several, and messages within it."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from assistant.library.formats.outlines import Reading
from assistant.library.formats.text_kinds import read_eml

_STUB = "Please view this message in a program that shows HTML mails.\n"
_CRANE = "<p>The crane is out of order until 14 June.</p>"
_PLAIN_CRANE = "The crane is out of order until 14 June.\n\nIda\n"


def _mail(text: str = "", *, html: str = "", subject: str = "Fees") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"] = "Ida <ida@example.org>", subject
    if text:
        message.set_content(text)
    if html and text:
        message.add_alternative(html, subtype="html")
    elif html:
        message.set_content(html, subtype="html")
    return message


def _read(message: EmailMessage) -> Reading:
    return read_eml(message.as_bytes(), "a.eml")


def _said(reading: Reading) -> str:
    (section,) = reading.sections
    return section.text.removeprefix("From: Ida <ida@example.org>\n\n")


@pytest.mark.parametrize("html", ["", "<p>See you on the 3rd.</p><script>no</script>"])
def test_who_wrote_when_to_whom_stands_above_the_text(html: str) -> None:
    message = _mail("" if html else "See you on the 3rd.\n", html=html, subject="Café")
    message["To"], message["Date"] = "Bo <bo@example.org>", "Tue, 24 Nov 2026 10:00:00 +0000"
    reading = _read(message)
    assert (reading.title, reading.lost) == ("Café", ())
    assert reading.sections[0].text == (
        "From: Ida <ida@example.org>\nTo: Bo <bo@example.org>\nDate: Tue, 24 Nov 2026 10:00:00 +0000\n\n"
        "See you on the 3rd."
    )


@pytest.mark.parametrize(
    ("plain", "html", "said"),
    [
        (_STUB, _CRANE, "The crane is out of order until 14 June."),
        (_PLAIN_CRANE, _CRANE, "The crane is out of order until 14 June.\n\nIda"),
        (_PLAIN_CRANE, '<img src="cid:1">', "The crane is out of order until 14 June.\n\nIda"),
        ("The crane ...\n", _CRANE, "The crane is out of order until 14 June."),
    ],
)
def test_of_alternatives_the_plain_one_is_read_where_it_says_all(plain: str, html: str, said: str) -> None:
    assert _said(_read(_mail(plain, html=html))) == said


def test_every_text_of_a_message_is_read_and_other_files_are_named() -> None:
    message = _mail("The minutes are attached.\n")
    message.add_attachment("The vote was seven to two.\n", filename="minutes.txt")
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="a\x07.pdf")
    message.add_attachment(b"\0", maintype="text", subtype="plain", filename="b.txt")
    message.add_attachment(
        b"PNG", maintype="image", subtype="png", filename="logo.png", disposition="inline", cid="<1>"
    )
    message.add_attachment(b"x", maintype="application", subtype="pgp-signature", filename="s.asc")
    reading = _read(message)
    assert _said(reading) == "The minutes are attached.\n\nThe vote was seven to two."
    assert reading.lost == ("is read without what is attached: a.pdf, b.txt",)


def test_what_is_attached_within_the_alternative_that_is_not_read_is_named() -> None:
    message = _mail(_PLAIN_CRANE, html=_CRANE)
    html = message.get_payload()[1]  # type: ignore[index]
    html.add_related(b"PDF", maintype="application", subtype="pdf", filename="plan.pdf")
    assert _read(message).lost == ("is read without what is attached: plan.pdf",)


def test_a_forwarded_message_is_read() -> None:
    message = _mail("See below.\n", subject="Fwd: key")
    message.add_attachment(_mail("The key is with Mr Sund.\n", subject="Key"))
    assert _said(_read(message)) == (
        "See below.\n\nForwarded: Key\nFrom: Ida <ida@example.org>\n\nThe key is with Mr Sund."
    )


def test_alternatives_within_alternatives_take_no_longer_with_each_level() -> None:
    whole = f"Content-Type: text/html\n\n{_CRANE}\n"
    for level in range(200):
        kind = f'Content-Type: multipart/alternative; boundary="b{level}"'
        whole = f"{kind}\n\n--b{level}\n{whole}\n--b{level}--\n"
    reading = read_eml(f"From: Ida <ida@example.org>\n{whole}".encode(), "a.eml")
    assert reading.lost == ("is read without what is attached: parts within parts",)
