"""Text from outside on a screen: nothing steers the terminal, and letters and emoji stay joined."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.cli import _complain
from assistant.terminal.text.printable import as_markdown, printable
from stores.base.one_line import json_line, one_line, open_end, without_controls

ZWNJ, ZWJ = "\u200c", "\u200d"
FAMILY = f"\U0001f469{ZWJ}\U0001f469{ZWJ}\U0001f467"
RAINBOW = f"\U0001f3f3\ufe0f{ZWJ}\U0001f308"
DOCTOR = f"\U0001f469\U0001f3fd{ZWJ}\u2695\ufe0f"
I_WANT = f"\u0645\u06cc{ZWNJ}\u062e\u0648\u0627\u0647\u0645"  # Persian
HALF_FORM = f"\u0915\u094d{ZWJ}\u0937"  # Devanagari: ka, virama, ssa

STEERING = (
    "\x1b\x07\x00\x9b\x7f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u200b\ufeff"
)
ANY = st.text(
    st.one_of(
        st.characters(), st.sampled_from(f"{ZWNJ}{ZWJ}{STEERING}a \u0645\u06cc\u0915\u094d\U0001f469\ufe0f")
    )
)


@pytest.mark.parametrize("joined", [FAMILY, RAINBOW, DOCTOR, I_WANT, HALF_FORM])
def test_what_joins_letters_and_emoji_is_kept(joined: str) -> None:
    assert one_line(joined) == joined
    assert printable(joined) == joined
    assert as_markdown(joined) == joined
    assert without_controls(f"{joined}\x1b", instead=lambda character: "?") == f"{joined}?"


@pytest.mark.parametrize("joined", [FAMILY, I_WANT])
def test_a_complaint_of_the_command_keeps_them_joined_too(
    joined: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _complain(f"there is no file {joined}\x1b[31m", 2, f"Look\n at {joined}.", None, as_json=False)
    assert capsys.readouterr().err == f"vouch: there is no file {joined}[31m\nLook\n at {joined}.\n"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (f"pay{ZWNJ}pal", "paypal"),  # Latin letters join to nothing: it would only hide
        (f"{ZWJ}a{ZWJ}", "a"),
        (f"\U0001f469{ZWJ}", "\U0001f469"),
        (f"\u0645{ZWNJ}{ZWNJ}\u06cc", "\u0645\u06cc"),
        (f"\u0645{ZWNJ} \u06cc", "\u0645 \u06cc"),
        (f"\u0645\u202e{ZWNJ}\u06cc", f"\u0645{ZWNJ}\u06cc"),  # beside what is dropped
    ],
)
def test_a_joiner_that_joins_nothing_is_dropped(found: str, expected: str) -> None:
    assert one_line(found) == expected
    assert printable(found) == expected


@given(ANY)
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    for shown in (one_line(text), printable(text).replace("\n", "")):
        assert not set(STEERING) & set(shown)
        rest = shown.replace(ZWNJ, "").replace(ZWJ, "")
        assert rest.isprintable()
        for place, character in enumerate(shown):
            if character in (ZWNJ, ZWJ):
                around = shown[place - 1 : place + 2]
                assert len(around) == 3
                assert all(unicodedata.category(each)[0] in "LMS" for each in (around[0], around[2]))


@given(ANY)
def test_what_is_fit_for_a_screen_stays_as_it_is(text: str) -> None:
    assert one_line(one_line(text)) == one_line(text)
    assert printable(printable(text)) == printable(text)


@pytest.mark.parametrize(
    ("piece", "held"),
    [
        ("said", ""),
        ("said ", ""),
        ("", ""),
        (f"so \u0645\u06cc{ZWNJ}", f"\u0645\u06cc{ZWNJ}"),
        (f"yes \U0001f469{ZWJ}", f"\U0001f469{ZWJ}"),
        ("\u0645" * 50, "\u0645" * 40),
    ],
)
def test_the_end_that_may_be_joined_to_what_follows_is_told(piece: str, held: str) -> None:
    assert open_end(piece) == held


@given(st.text())
def test_a_line_of_json_is_printable_and_means_the_same(text: str) -> None:
    line = json_line({"text": text, "\x1b[2J": [text]})
    assert line.isprintable()
    assert json.loads(line) == {"text": text, "\x1b[2J": [text]}
