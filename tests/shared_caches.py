"""What a library works out anew for each database and each app is kept for the process of the tests.

Every test opens a database, and SQLAlchemy compiled each statement for it again: a third of the CPU time of
such tests. Every app parsed the style sheets of Textual again: half of the time in which one opens.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine.base import Engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache as CompiledCache
from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet

_statements: CompiledCache[Any, Any] = CompiledCache(4000)
_rules: dict[frozenset[tuple[str, str]], LRUCache[Any, Any]] = {}  # by the variables of a theme


def keep_for_the_process() -> None:
    """Called once, before any engine or app is made."""
    new_engine, new_sheet, set_variables = Engine.__init__, Stylesheet.__init__, Stylesheet.set_variables

    def engine(self: Any, *given: Any, **how: Any) -> None:
        new_engine(self, *given, **how)
        self._compiled_cache = _statements

    def sheet(self: Any, *, variables: dict[str, str] | None = None) -> None:
        new_sheet(self, variables=variables)
        self._parse_cache = _rules_for(variables or {})

    def variables_set(self: Any, variables: dict[str, str]) -> None:
        self._parse_cache = LRUCache(1)  # which the library empties, in place of the one that is kept
        set_variables(self, variables)
        self._parse_cache = _rules_for(variables)

    Engine.__init__ = engine  # type: ignore[method-assign]
    Stylesheet.__init__ = sheet  # type: ignore[method-assign]
    Stylesheet.set_variables = variables_set  # type: ignore[method-assign]
    # A statement is kept by its dialect, of which each engine has one: those of one kind are alike.
    DefaultDialect.__hash__ = lambda self: hash(type(self))  # type: ignore[method-assign]
    DefaultDialect.__eq__ = lambda self, other: type(self) is type(other)  # type: ignore[method-assign]


def _rules_for(variables: dict[str, str]) -> LRUCache[Any, Any]:
    return _rules.setdefault(frozenset(variables.items()), LRUCache(1024))
