"""Holds the house to its arrows: who may import whom, read from the code itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("assistant", "agents", "stores")

# Each part may import the parts named here, itself apart. A part is a folder or file by longest prefix.
MAY_IMPORT = {
    "stores": set(),
    "agents": {"stores.records", "stores.errors"},
    "agents.interfaces": {"stores.records"},
    "agents.sentences": set(),
    "agents.score_judge": {"agents.interfaces", "agents.sentences", "stores.lexical"},
    "agents.dialogue": {"stores.lexical"},
    "agents.retriever": {
        "agents.interfaces",
        "agents.dialogue",
        "agents.fusion",
        "agents.sentences",
        "stores.lexical",
        "stores.records",
    },
    "agents.reranker": {"agents.fusion", "agents.interfaces"},
    "agents.hearsay": {"agents.claim_rules"},
    "agents.asked_for": {"agents.hearsay", "agents.relations", "agents.sentences"},
    "agents.former": {
        "agents.asked_for",
        "agents.interfaces",
        "agents.quote_order",
        "agents.relations",
        "agents.sentences",
    },
    "agents.own_statements": {
        "agents.asked_for",
        "agents.former",
        "agents.interfaces",
        "agents.relations",
        "agents.retriever",
        "agents.sentences",
        "stores.records",
    },
    "agents.query_augmenter": {"agents.interfaces", "agents.naming_vouch", "stores.lexical"},
    "agents.purposes": {"stores.lexical"},
    "agents.responder": {
        "agents.interfaces",
        "agents.prompts",
        "agents.token_budget",
        "stores.errors",
        "stores.records",
    },
    "agents.token_budget": set(),
    "agents.prompts": {"agents.interfaces"},
    "agents.losses": set(),
    "agents.models": {"agents.interfaces", "stores.errors", "stores.one_line"},
    "agents.backends": {"agents.interfaces", "agents.token_budget", "stores.errors", "stores.one_line"},
    "agents.backends.extractive": {
        "agents.claim_rules",
        "agents.hearsay",
        "agents.interfaces",
        "agents.naming_vouch",
        "agents.purposes",
        "agents.quote_order",
        "agents.quoting",
        "agents.said_here",
        "agents.sentences",
        "agents.token_budget",
        "stores.errors",
    },
    "agents.said_here": {"agents.interfaces", "agents.sentences", "stores.clock", "stores.records"},
    "agents.other_persons": {"agents.quote_order", "agents.values"},
    "agents.named_answers": {"agents.asked_for", "agents.relations", "agents.values"},
    "agents.quoting": {
        "agents.asked_for",
        "agents.named_answers",
        "agents.other_persons",
        "agents.former",
        "agents.claim_rules",
        "agents.interfaces",
        "agents.purposes",
        "agents.quote_order",
        "agents.readings",
        "agents.sentences",
        "agents.values",
        "stores.lexical",
    },
    "agents.quote_order": {
        "agents.asked_for",
        "agents.claim_rules",
        "agents.interfaces",
        "agents.relations",
        "agents.sentences",
        "agents.value_changes",
        "stores.records",
    },
    "agents.readings": {"agents.interfaces"},
    "agents.reader_judge": {"agents.interfaces", "agents.readings", "agents.sentences"},
    "agents.claim_rules": {"agents.bindings", "agents.interfaces", "agents.sentences", "stores.lexical"},
    "agents.told_before": {
        "agents.claim_rules",
        "agents.interfaces",
        "agents.pointed_to",
        "agents.relations",
        "agents.sentences",
        "agents.value_changes",
        "agents.values",
    },
    "agents.pointed_to": {
        "agents.claim_rules",
        "agents.interfaces",
        "agents.sentences",
        "stores.lexical",
    },
    "agents.reader_summarizer": {
        "agents.interfaces",
        "agents.claim_rules",
        "agents.pointed_to",
        "agents.relations",
        "agents.told_before",
    },
    "agents.chat_summarizer": {
        "agents.interfaces",
        "agents.claim_rules",
        "agents.prompts",
        "agents.told_before",
        "agents.values",
        "stores.errors",
        "stores.lexical",
    },
    "agents.values": {"stores.lexical"},
    "agents.relations": {"agents.claim_rules", "agents.values"},
    "agents.value_changes": {
        "agents.relations",
        "agents.values",
        "stores.lexical",
    },
    "agents.bindings": {"agents.values"},
    "agents.claim_gaps": {"agents.values"},
    "agents.claim_evidence": {
        "agents.bindings",
        "agents.claim_gaps",
        "agents.interfaces",
        "agents.sentences",
        "agents.values",
    },
    "agents.reader_discriminator": {"agents.interfaces", "agents.claim_evidence"},
    "agents.chat_discriminator": {
        "agents.bindings",
        "agents.interfaces",
        "agents.claim_rules",
        "agents.prompts",
        "agents.sentences",
        "agents.value_changes",
        "agents.values",
    },
    "agents.chat_curator": {
        "agents.interfaces",
        "agents.claim_rules",
        "agents.curator",
        "agents.prompts",
        "agents.sentences",
        "agents.value_changes",
        "agents.values",
        "stores.records",
    },
    "agents.curator": {
        "agents.claim_rules",
        "agents.interfaces",
        "agents.relations",
        "agents.sentences",
        "agents.told_before",
        "agents.value_changes",
        "agents.values",
        "stores.claim_decisions",
        "stores.lexical",
    },
    "agents.cross_encoder_judge": {"agents.interfaces", "agents.sentences"},
    "assistant.config": {"stores.errors"},
    "assistant.settings_file": {"assistant.config", "assistant.terminal.screens.keys", "stores.errors"},
    "assistant.locations": {"assistant.config", "stores.errors"},
    "assistant.identity": {"assistant.config", "assistant.locations", "stores.errors"},
    "assistant.log": {"assistant.config", "assistant.locations", "stores.errors"},
    "assistant.library": {"agents", "stores"},
    "assistant.low_priority": set(),
    "assistant.turns": {"agents", "stores", "assistant.log"},
    "assistant.learning": {"agents", "stores", "assistant.low_priority"},
    "assistant.learning.both_sides": {"stores", "assistant.turns.searching"},
    "assistant.learning.mine_negatives": {
        "stores.records",
        "assistant.config",
        "assistant.learning",
        "assistant.library",
        "assistant.locations",
        "assistant.wiring",
    },
    "assistant.replay": {"agents", "stores", "assistant.learning"},
    "assistant.replay.bootstrap": set(),
    "assistant.replay.datasets": {"assistant.learning.example", "stores.errors"},
    "assistant.replay.metrics": set(),
    "assistant.replay.simulate": {
        "agents.interfaces",
        "agents.token_budget",
        "assistant.replay.datasets",
        "assistant.replay.metrics",
        "stores.records",
    },
    # what plays turns stands beside the terminal, and uses the chat's own parts as it does
    "assistant.replay.own_store": {
        "assistant.library",
        "assistant.replay",
        "assistant.wiring",
        "stores.clock",
        "stores.records",
    },
    "assistant.replay.replay_assistant": {
        "agents",
        "assistant.config",
        "assistant.locations",
        "assistant.replay",
        "assistant.turns.searching",
        "assistant.wiring",
    },
    "assistant.replay.player": {
        "agents.interfaces",
        "assistant.replay",
        "assistant.turns.events",
        "stores.clock",
        "stores.records",
    },
    "assistant.replay.replay": {
        "agents",
        "stores",
        "assistant.config",
        "assistant.locations",
        "assistant.replay",
        "assistant.wiring",
    },
    "assistant.replay.conversations": {
        "stores",
        "assistant.config",
        "assistant.locations",
        "assistant.replay",
        "assistant.turns.events",
    },
    "assistant.replay.named_models": {
        "agents.models.encoder",
        "stores",
        "assistant.encoder_change",
        "assistant.learning",
        "assistant.replay",
        "assistant.wiring",
    },
    "assistant.encoder_change": {"stores", "assistant.log", "assistant.turns"},
    "assistant.shared_indexes": {"agents.interfaces", "stores", "assistant.config"},
    "assistant.wiring": {"assistant.encoder_change", "assistant.parts", "stores"},
    "assistant.parts": {
        "assistant.shared_indexes",
        "agents",
        "stores",
        "assistant.config",
        "assistant.locations",
        "assistant.library",
        "assistant.learning",
        "assistant.replay.held_out",
        "assistant.turns",
    },
    "assistant.checks": {
        "agents.interfaces",
        "agents.models.reader_files",
        "stores",
        "assistant.locations",
        "assistant.wiring",
    },
    "assistant.terminal": {
        "agents",
        "stores",
        "assistant.config",
        "assistant.turns",
        "assistant.library",
        "assistant.wiring",
    },
    "assistant.terminal.screens": {
        "agents.interfaces",
        "agents.sentences",
        "stores",
        "assistant.locations",
        "assistant.low_priority",
        "assistant.terminal",
        "assistant.turns",
        "assistant.wiring",
    },
    "assistant.terminal.plainness": {"assistant.config", "assistant.settings_file"},
    "assistant.standard_streams": {"stores.errors"},
    "assistant.cli": {
        "stores.errors",
        "assistant.locations",
        "assistant.log",
        "assistant.commands",
        "assistant.standard_streams",
    },
    "assistant.invocation": {
        "stores.errors",
        "assistant.config",
        "assistant.settings_file",
        "assistant.locations",
        "assistant.identity",
        "assistant.log",
        "assistant.wiring",
    },
    "assistant.paging": set(),
    "assistant.commands": {
        "agents",
        "stores",
        "assistant.cli",
        "assistant.paging",
        "assistant.invocation",
        "assistant.checks",
        "assistant.config",
        "assistant.encoder_change",
        "assistant.learning",
        "assistant.replay",
        "assistant.wiring",
        "assistant.terminal",
        "assistant.turns",
        "assistant.library",
    },
}

# Each heavy library has its homes, and is imported nowhere else.
HOMES = {
    "torch": ("agents.models", "agents.losses", "agents.backends.transformers_chat", "assistant.learning"),
    "transformers": ("agents.models", "agents.backends.transformers_chat", "assistant.learning"),
    "onnxruntime": ("agents.models",),
    "chromadb": ("stores.chroma_vectors",),
    "faiss": ("stores.faiss_library",),
    "sqlalchemy": ("stores",),
    "sqlmodel": ("stores",),
    "alembic": ("stores",),
    "openai": (
        "agents.backends.openai_chat",
        "agents.backends.openai_failures",
        "agents.backends.openai_wire",
    ),
    "vllm": ("agents.backends.vllm_chat",),
    "textual": ("assistant.terminal",),
    "click": ("assistant.cli", "assistant.invocation", "assistant.paging", "assistant.commands"),
}


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def part_of(module: str) -> str:
    known = [part for part in MAY_IMPORT if module == part or module.startswith(f"{part}.")]
    return max(known, key=len, default="")


def is_within(module: str, parts: tuple[str, ...] | set[str]) -> bool:
    return any(module == part or module.startswith(f"{part}.") for part in parts)


@pytest.mark.parametrize(
    ("module", "path"), modules(), ids=lambda value: str(value) if isinstance(value, str) else ""
)
def test_a_module_imports_only_what_its_part_may(module: str, path: Path) -> None:
    if module in PACKAGES:
        assert not imports_of(path), f"{module} holds its map and nothing else"
        return
    part = part_of(module)
    assert part, f"{module} belongs to no part: name its arrows in MAY_IMPORT"
    ours = {name for name in imports_of(path) if is_within(name, PACKAGES)}
    allowed = MAY_IMPORT[part] | {part}
    # `from package.file import name` shows up as package.file.name too, and as package for its own maps
    upward = {
        name
        for name in ours
        if not is_within(name, allowed) and not any(is_within(a, {name}) for a in allowed)
    }
    assert not upward, f"{module} may not import {sorted(upward)}"


@pytest.mark.parametrize(
    ("module", "path"), modules(), ids=lambda value: str(value) if isinstance(value, str) else ""
)
def test_a_heavy_library_is_imported_only_at_home(module: str, path: Path) -> None:
    for library, homes in HOMES.items():
        if any(is_within(name, {library}) for name in imports_of(path)):
            assert is_within(module, homes), f"{module} imports {library}, whose home is {homes}"


def test_a_package_holds_one_docstring_and_nothing_else() -> None:
    for module, path in modules():
        if path.name == "__init__.py":
            body = ast.parse(path.read_text(encoding="utf-8")).body
            assert len(body) == 1, f"{module} holds more than its map"
            assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_no_part_of_the_table_is_stale() -> None:
    known = {module for module, _ in modules()}
    assert all(part in known for part in MAY_IMPORT)


def test_the_map_of_the_stores_names_every_module() -> None:
    folder = ROOT / "stores"
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    named = {line.split()[0] for line in docstring.splitlines()[1:] if line}
    assert named == {path.stem for path in folder.glob("*.py")} - {"__init__"} | {"migrations/"}
