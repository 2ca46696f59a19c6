"""The pictures of the walk fetch nothing."""

from __future__ import annotations

from benchmarks.walk import without_fetching


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
