"""The pictures of the walk fetch nothing, and are of the program as it is now."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from screen_fixtures import on_screen

from assistant.terminal.input.keys import COMPARE, DOCUMENTS, TRAINING, Key, shown
from benchmarks.walk import SETTINGS, SIZE, without_fetching

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = sorted((DOCS / "screens").glob("*.svg"))
OF_THE_CHAT = ("1-first-start", "2-answer", "3-why", "4-learned", "5-remembered")
OF_OTHER_SCREENS = {
    "7-training": TRAINING,
    "8-running": TRAINING,
    "9-before-and-after": COMPARE,
    "11-documents": DOCUMENTS,
}
_TEXT = re.compile(r'<text [^>]*x="([\d.]+)"[^>]*-line-(\d+)\)">(.*?)</text>')
_OF_A_MACHINE = re.compile(r"/(?:root|home|Users|tmp|var|work|mnt|opt)/|[A-Z]:\\")


def rows(svg: str) -> dict[int, str]:
    """What is written in a picture, by the row of the screen, from left to right."""
    found: dict[int, list[tuple[float, str]]] = {}
    for x, row, written in _TEXT.findall(svg):
        found.setdefault(int(row), []).append((float(x), html.unescape(written).replace("\xa0", " ")))
    return {row: "".join(written for _, written in sorted(parts)).rstrip() for row, parts in found.items()}


def picture(name: str) -> list[str]:
    """The rows of a picture, blank ones too."""
    written = rows((DOCS / "screens" / f"{name}.svg").read_text(encoding="utf-8"))
    return [written.get(row, "") for row in range(SIZE[1])]


def counts(header: str) -> str:
    """What is counted at the right of the chat's header, each number as 0, without the model's name."""
    return re.sub(r"\d+", "0", header.rpartition(" · ")[0]).split("  ")[-1].strip()


def footer_keys(row: str) -> set[str]:
    """The keys of a line of keys: `s start  Space pause` has s and Space."""
    return {entry.partition(" ")[0] for entry in re.split(r" {2,}", row.strip())}


def keys_of(place: tuple[Key, ...]) -> set[str]:
    return {pressed for key in place for pressed in shown(key.keys).split(", ")}


def test_the_page_shows_each_picture_once() -> None:
    shown_there = re.findall(r"\]\(screens/([^)]+)\)", (DOCS / "walk.md").read_text(encoding="utf-8"))
    assert sorted(shown_there) == sorted(path.name for path in (DOCS / "screens").iterdir())


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_has_the_size_of_the_walk_and_nothing_of_a_machine(path: Path) -> None:
    svg = path.read_text(encoding="utf-8")
    written = rows(svg)
    assert max(written) == SIZE[1] - 1  # the line of keys is the last one
    assert max(map(len, written.values())) <= SIZE[0]
    assert f"-line-{SIZE[1]}" not in svg
    assert without_fetching(svg) == svg
    assert "url(http" not in svg
    assert not (found := _OF_A_MACHINE.findall(svg)), found


async def test_the_pictures_of_the_chat_and_of_memory_have_the_present_header_and_keys(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, size=SIZE) as chat:
        now = chat.text.split("\n")
        for name in OF_THE_CHAT:
            drawn = picture(name)
            assert drawn[-1].strip() == now[-1].strip(), name
            assert counts(drawn[0]) == counts(now[0]) != "", name
            assert drawn[1] == now[1], name
        await chat.presses("f3")
        await chat.shows("Nothing of yours")
        now, drawn = chat.text.split("\n"), picture("6-memory")
        assert drawn[0].split() == now[0].split()
        assert re.sub(r"\d+", "0", drawn[1]).split() == re.sub(r"\d+", "0", now[1]).split()
        assert drawn[-1].strip() == now[-1].strip()


@pytest.mark.parametrize("name", OF_OTHER_SCREENS)
def test_the_keys_at_the_bottom_of_other_pictures_are_those_of_their_screen(name: str) -> None:
    drawn = footer_keys(picture(name)[-1])
    assert len(drawn) >= 4  # while a round runs its answers cannot be compared yet
    assert "Esc" in drawn
    assert drawn <= keys_of(OF_OTHER_SCREENS[name])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("1-first-start", "no reply model"),
        ("2-answer", "[1] shared"),
        ("10-knowledge-base", "[1] kb      Kiku"),
        ("11-documents", "~/manual/chat.md"),
        ("3-why", "Why this answer"),
        ("4-learned", "Learned"),
        ("5-remembered", "[1] yours"),
        ("7-training", "Held-out questions"),
        ("8-running", " of "),
        ("9-before-and-after", "names hidden"),
    ],
)
def test_a_picture_shows_what_the_page_says_of_it(name: str, says: str) -> None:
    assert says in "\n".join(picture(name))


def test_rows_are_read_from_left_to_right() -> None:
    line = '<text class="r1" x="{}" y="20" textLength="12.2" clip-path="url(#t-line-{})">{}</text>'
    drawn = "".join(
        line.format(*each) for each in ((24.4, 3, "b&#160;c"), (0, 3, "a&amp;"), (0, 10, "&#x27;z"))
    )
    assert rows(drawn) == {3: "a&b c", 10: "'z"}


def test_a_picture_brings_no_fonts_from_elsewhere() -> None:
    drawn = """<svg><style>
    @font-face {
        font-family: "Code";
        src: local("Code"), url("https://example.org/code.woff2") format("woff2");
    }
    @font-face { font-family: "Code"; src: url("https://example.org/bold.woff2"); }
    .text { font-family: Code, monospace; }
    </style><text class="text">hello</text></svg>"""
    kept = without_fetching(drawn)
    assert "https:" not in kept
    assert "url(" not in kept
    assert ".text { font-family: Code, monospace; }" in kept
    assert "hello" in kept


def test_no_round_begins_by_itself_while_pictures_are_drawn() -> None:
    assert not SETTINGS.learning.in_chat
