"""What is told below an answer: its sources, and that it was cut."""

from __future__ import annotations

from agents.interfaces import CutAtLimit, Source
from assistant.one_line import one_line, short


def source_line(source: Source) -> str:
    """A source as it stands below an answer."""
    passage = source.passage
    if passage.kind == "material":
        return f"Source {source.number}, handed over: {short(passage.text)}"
    if passage.is_shared:
        return f"Source {source.number}, shared: {one_line(passage.title or passage.source)}"
    if passage.kind == "document":
        return f"Source {source.number}, yours: {one_line(passage.title or passage.source)}"
    return (
        f"Source {source.number}, yours: “{short(passage.text)}” "
        f"(your {passage.kind} of {passage.created_at.astimezone():%d %B})"
    )


def cut_line(cut: CutAtLimit) -> str:
    """What is said below an answer that reached its longest length."""
    where = f" at {cut.tokens} tokens" if cut.tokens else " at the model's longest length"
    return f"(The reply was cut{where}; model.max_tokens in settings.toml sets how long one may be.)"
