"""Memories of other programs are taken in: each once, with where it is from, and of one user alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import Vouch
from hypothesis import given
from hypothesis import strategies as st

from stores.base.errors import WrongUsage
from stores.exchange.memory_lines import read_memory
from stores.exchange.others_memories import converted, each_line

MEM0 = {
    "results": [
        {
            "id": "1",
            "memory": "Is allergic to peanuts",
            "user_id": "ann",
            "created_at": "2026-01-04T09:00:00Z",
        },
        {"id": "2", "memory": "Lives in Porto", "user_id": "ann", "metadata": None},
    ]
}
LANGGRAPH = [
    {
        "namespace": ["memories", "ann"],
        "key": "a",
        "value": {"text": "Likes green tea"},
        "created_at": "2026-02-01",
    },
    {
        "namespace": ["memories", "ann"],
        "key": "b",
        "value": {"kind": "Memory", "content": {"content": "Works at the mill"}},
    },
    {"namespace": ["memories", "ann"], "key": "c", "value": {"name": "Ann", "pets": ["Ada", "Rex"]}},
]
CLAUDE = [
    {
        "conversations_memory": "**Work**\n\nWrites about rivers.",
        "project_memories": {"p": "The book ends in May."},
        "account_uuid": "u",
    }
]


def texts(told: Any, **more: Any) -> list[str]:
    lines = converted(json.dumps(told), "file", **more)
    return [row["text"] for row in read_memory(lines or [], "file").texts]


def test_each_program_is_read_with_where_and_when() -> None:
    assert texts(MEM0) == ["Is allergic to peanuts", "Lives in Porto"]
    assert texts(MEM0["results"]) == texts(MEM0)
    assert texts(LANGGRAPH) == ["Likes green tea", "Works at the mill", "name: Ann\npets: Ada, Rex"]
    assert texts(CLAUDE) == ["**Work**", "Writes about rivers.", "The book ends in May."]
    first, second = read_memory(converted(json.dumps(MEM0), "file") or [], "file").texts
    assert (first["title"], second["title"]) == ("mem0, 2026-01-04", "mem0")


def test_of_several_users_one_is_to_be_named() -> None:
    several = {"results": [*MEM0["results"], {"memory": "Is shy", "user_id": "bob"}]}
    with pytest.raises(WrongUsage, match="several users: ann, bob"):
        texts(several)
    assert texts(several, of="bob") == ["Is shy"]
    with pytest.raises(WrongUsage, match="no memories of cem"):
        texts(several, of="cem")


def test_lines_of_text_lose_their_bullets_alone() -> None:
    lines = each_line("- Likes tea\n\n  • Is 30 - soon 31\nHas a cat\n")
    assert [row["text"] for row in read_memory(lines, "f").texts] == [
        "Likes tea",
        "Is 30 - soon 31",
        "Has a cat",
    ]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["results", "memory", "namespace", "value", "conversations_memory", "content", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(VALUES)
def test_whatever_a_file_holds_is_read_or_is_none_of_theirs(told: object) -> None:
    try:
        lines = converted(json.dumps(told), "file")
    except WrongUsage:
        return
    assert lines is None or len(read_memory(lines, "file").texts) == len(lines)


@pytest.mark.parametrize(
    "content", ["", "{", "[" * 100_000, '{"text": "Lives in Porto"}\n{"text": "Is shy"}']
)
def test_what_is_ours_or_nobodys_is_left_to_the_reader_of_ours(content: str) -> None:
    assert converted(content, "file") is None


def test_a_file_is_imported_once_and_taken_back(tmp_path: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    file = vouch.write("mem0.json", json.dumps(MEM0, indent=1))
    first = vouch.run("memory", "import", file, "--json").object
    assert (first["new"], first["known"]) == (2, 0)
    assert vouch.run("memory", "import", file, "--json").object["new"] == 0
    assert "peanuts" in vouch.run("memory", "list").out
    vouch.run("memory", "undo", str(first["receipt"]))
    assert "peanuts" not in vouch.run("memory", "list").out
    lines = vouch.write("list.txt", "- Likes tea\n- Has a cat\n")
    assert "JSON" in vouch.run("memory", "import", lines, code=2).err
    assert vouch.run("memory", "import", lines, "--lines", "--json").object["new"] == 2
