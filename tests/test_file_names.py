"""Files whose names are told apart by what cannot be seen are documents of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli_helpers import Vouch
from hypothesis import given
from hypothesis import strategies as st

from stores.base.file_names import path_of, shown_path

ALIKE = (
    b"ab", b"a\x01b", b"a\x02b", b"a\x1bb", b"a\nb", b"a\xc2\x9bb", b"a\xffb", b"a\xfeb", "a\ufffdb".encode(),
    "a\u200bb".encode(), "a\u200db".encode(), "a\u202eb".encode(), "a\u2066b".encode(), "a\ufeffb".encode(),
    "a\ufe0fb".encode(), "a\u034fb".encode(), rb"a\x01b", rb"a\\x01b",
)  # fmt: skip


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    return Vouch(tmp_path, minilm_folder.parent)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"a\x01b.txt", r"a\x01b.txt"),
        (b"a\xffb.txt", r"a\xffb.txt"),
        ("aÿb\u0085.txt".encode(), r"aÿb\u0085.txt"),
        ("a\U000e0041.txt".encode(), r"a\U000e0041.txt"),
        (rb"a\x01b.txt", r"a\\x01b.txt"),
        ("می\u200cخواهم ❤\ufe0f 👩\u200d🍳.txt".encode(), "می\u200cخواهم ❤\ufe0f 👩\u200d🍳.txt"),
    ],
)
def test_what_cannot_be_seen_in_a_name_is_shown_as_a_shell_has_it(name: bytes, shown: str) -> None:
    assert shown_path(os.fsdecode(name)) == shown
    assert os.fsencode(path_of(shown)) == name


@given(
    st.text(
        st.characters(exclude_characters="\0", exclude_categories=["Cs"]) | st.sampled_from("\\x01uU\udcff")
    )
)
def test_a_path_that_is_shown_leads_back_to_its_file(name: str) -> None:
    shown = shown_path(f"/{name}")
    assert shown.replace("\u200c", "").replace("\u200d", "").isprintable()
    assert path_of(shown) == Path(f"/{name}")


def test_names_that_look_alike_are_documents_of_their_own(vouch: Vouch) -> None:
    for number, name in enumerate(ALIKE):
        vouch.write(f"notes/{os.fsdecode(name)}.txt", f"The locker of guest {number} is {number}{number}.\n")
    vouch.run("ingest", "notes")
    assert {cells[2] for cells in vouch.run("ingest", "notes").cells} == {"same"}
    listed = {cells[0]: cells[4] for cells in vouch.run("docs", "list").cells}
    assert listed == {shown_path(os.fsdecode(name + b".txt")): "" for name in ALIKE}
    sources = [each["source"] for each in vouch.run("docs", "list", "--json").object["documents"]]
    assert len(set(sources)) == len(ALIKE)
    by_name, typed = ALIKE[: len(ALIKE) // 2], ALIKE[len(ALIKE) // 2 :]
    for number, name in enumerate(by_name):
        shown = shown_path(os.fsdecode(name + b".txt"))
        assert f"guest {number} is" in vouch.run("docs", "show", shown).out
        assert vouch.run("docs", "remove", shown, "--json").object["removed"] == [
            f"{vouch.folder}/notes/{shown}"
        ]
    for name in typed:
        removed = vouch.run("docs", "remove", f"notes/{os.fsdecode(name)}.txt", "--json").object["removed"]
        assert removed == [shown_path(f"{vouch.folder}/notes/{os.fsdecode(name)}.txt")]
    assert vouch.run("docs", "list").cells == []
