"""Text becomes plain: what only gets in the way is gone, and lines end where they were meant to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.library.formats.plain_text import plain, plain_line, unwrapped


def test_control_characters_and_halves_of_pairs_are_removed() -> None:
    assert plain("a\x00b\x1b[31m\x7f\x9bc\ud800\tq\u00ad\ufeff") == "ab[31mc\tq"


def test_line_ends_of_all_systems_become_one() -> None:
    assert plain("a\r\nb\rc\u2028d\x85e\x0cf") == "a\nb\nc\nd\ne\nf"


def test_text_is_composed() -> None:
    assert plain("Zoe\u0308") == "Zo\u00eb"
    assert len(plain("a" + "\u0301\u0323" * 100_000)) < 50  # no real letter carries as many marks


def test_a_wrapped_paragraph_becomes_one_line_and_list_items_stay() -> None:
    wrapped = (
        "The museum on the hill above the harbour of the city of\n  Oslo   opens at ten and\ncloses at five."
    )
    text = f"{wrapped}\n- one\n- two\n\n\n\nNext\tparagraph"
    assert unwrapped(text) == f"{plain_line(wrapped)}\n- one\n- two\n\nNext paragraph"


@given(st.text(max_size=200))
def test_cleaned_text_is_clean(text: str) -> None:
    assert plain(plain(text)) == plain(text)
    assert all(
        character.isprintable() or character.isspace() or ord(character) > 0x9F for character in plain(text)
    )
    plain(text).encode()
