"""The settings in force, read from where a person set them.

    VOUCH_... variable  >  settings.toml  >  default

A file's mistakes are told all at once, each with its line and, for a name nobody knows, the nearest
one that is known.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assistant.settings.config import FILE_KEYS, SECTIONS, InvalidSection, Json, Settings, fit_to_show
from stores.base.errors import WrongUsage
from stores.base.one_line import without_controls

SETTINGS_BYTES = 100_000  # of the file; its parser takes time that grows with the square of some of them
DEEPEST_KEY = 16  # parts; the deepest that means anything has three
MOST_TOLD = 20  # mistakes told at once; a file with more of them is another file
_MOST_SHOWN = 60  # characters of a value or a part of a key


def load_settings(path: Path, *, environ: Mapping[str, str], explicit: bool) -> Settings:
    """The settings in force: those of the file and the VOUCH_... variables over the defaults.

    explicit: someone named this file, so that it has to be there. All mistakes of the file are told
    in one `WrongUsage`, a line each, up to `MOST_TOLD`.
    """
    text = _read(path, explicit=explicit)
    lines = key_lines(text)
    for key, line in lines.items():
        if len(key) > DEEPEST_KEY:
            said = f"{_shown_path(path.name)} line {line}: a key has more than {DEEPEST_KEY} parts"
            raise WrongUsage(said, hint=_which(path))
    file = _SettingsFile(_shown_path(path.name), _parse(path, text), lines)
    sections = {name: file.section(name, kind) for name, kind in SECTIONS.items()}
    sections["models"], sections["personas"] = file.models(), file.personas()
    file.refuse_unknown_sections()
    if not file.problems:
        file.check_together(sections)
    if file.problems:
        problems = [said for _, said in sorted(file.problems, key=lambda problem: problem[0])]
        if len(problems) > MOST_TOLD:
            problems[MOST_TOLD:] = [
                f"{_shown_path(path.name)}: and {len(problems) - MOST_TOLD} more mistakes"
            ]
        raise WrongUsage("\n".join(problems), hint=_which(path))

    origins = file.origins
    if environ.get("VOUCH_USER"):
        origins["user"] = "VOUCH_USER"
    if environ.get("VOUCH_PLAIN"):
        plain = says_yes(environ["VOUCH_PLAIN"])
        sections["terminal"] = dataclasses.replace(sections["terminal"], plain=plain)
        origins["terminal.plain"] = "VOUCH_PLAIN"
    return Settings(**sections, origins=origins)


def says_yes(value: str) -> bool:
    """Whether the value of a variable such as VOUCH_PLAIN turns it on."""
    return value.strip().lower() not in ("", "0", "false", "no", "off")


def _read(path: Path, *, explicit: bool) -> str:
    try:
        content = _content(path)
    except FileNotFoundError:
        if explicit:
            raise WrongUsage(
                f"There is no settings file {_shown_path(path)}",
                hint="Look at --settings and VOUCH_SETTINGS.",
            ) from None
        return ""
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WrongUsage(f"The settings file {_shown_path(path)} cannot be read: {reason}") from error
    if len(content) > SETTINGS_BYTES:
        said = f"The settings file {_shown_path(path)} is larger than {SETTINGS_BYTES // 1000} kB"
        raise WrongUsage(said, hint="Settings take a page or two. Is it another file?")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise WrongUsage(
            f"{_shown_path(path.name)} line {line}: the file is not UTF-8 text", hint=_which(path)
        ) from None


def _content(path: Path) -> bytes:
    """The file's bytes, or the first of more than `SETTINGS_BYTES`; waits for no pipe or terminal."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(mode := os.fstat(descriptor).st_mode) and not stat.S_ISCHR(mode):  # /dev/null
            raise OSError(None, "it is a pipe and no file")
        return file.read(SETTINGS_BYTES + 1) or b""


def _shown_path(path: str | Path) -> str:
    """A path fit to be shown, on one line, whatever bytes it is made of."""
    return without_controls(str(path), instead=lambda character: "\ufffd")


def _which(path: Path) -> str:
    return f"The file is {_shown_path(path)}."


def _parse(path: Path, text: str) -> dict[str, Any]:
    import tomllib

    name = _shown_path(path.name)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise WrongUsage(f"{name}: lists or tables are nested too deeply", hint=_which(path)) from None
    except ValueError as error:  # tomllib's own is one, and int() has others
        place = re.fullmatch(
            r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", str(error), re.DOTALL
        )
        what, line, column = place.groups() if place else (str(error), None, None)
        if "integer string conversion" in what:
            what = "a number has too many digits"
        where = f" line {line}, column {column}" if line else f" line {len(text.splitlines()) or 1}"
        said = f"{name}{where if place else ''}: {what[:1].lower()}{_shortened(what[1:], 200)}"
        raise WrongUsage(said, hint=_which(path)) from None


class _SettingsFile:
    """One file being read: its values become sections, its mistakes are gathered."""

    def __init__(self, name: str, document: dict[str, Any], lines: Mapping[tuple[str, ...], int]) -> None:
        self.problems: list[tuple[int, str]] = []  # line, what is wrong
        self.origins: dict[str, str] = {}
        self._name, self._document, self._lines = name, document, lines

    def models(self) -> dict[str, Any]:
        """The sections [models.NAME], each by its name; they ask servers where they name no other backend."""
        tables = self._document.get("models", {})
        if not isinstance(tables, dict):
            self._complain(("models",), f"models is {_shown(tables)}, but must be sections: [models.NAME]")
            return {}
        return {
            name: self._section(("models", name), table, SECTIONS["model"], {"backend": "openai"})
            for name, table in tables.items()
        }

    def personas(self) -> dict[str, str]:
        """The texts of [personas], each by its name."""
        found = self._document.get("personas", {})
        if not isinstance(found, dict):
            self._complain(("personas",), f"personas is {_shown(found)}, but must be a section: [personas]")
            return {}
        for name, text in found.items():
            if not isinstance(text, str) or not text.strip():
                path = ("personas", name)
                self._complain(path, f"{_dotted(path)} is {_shown(text)}, but must be text in quotes")
        return found

    def section(self, name: str, kind: type[Any]) -> Any:
        """One section; what cannot be used is left at its default, as the problems are told anyway."""
        return self._section((name,), self._document.get(name, {}), kind, {})

    def _section(
        self, path: tuple[str, ...], table: object, kind: type[Any], otherwise: Mapping[str, object]
    ) -> Any:
        """A section at a path. otherwise: values in place of defaults."""
        name, of_kind = _dotted(path), "model" if path[0] == "models" else path[0]
        if not isinstance(table, dict):
            self._complain(path, f"{name} is {_shown(table)}, but must be a section: [{name}]")
            return kind()
        defaults = {f.name: f.default for f in dataclasses.fields(kind)}
        values: dict[str, object] = {}
        refused = set()
        for key, found in table.items():
            if key not in defaults:
                self._unknown((*path, key))
                continue
            try:
                if (*path, key) == ("terminal", "keys"):
                    values[key] = self._bindings(found)
                else:
                    values[key] = _typed(found, defaults[key])
            except TypeError as error:
                refused.add(f"{of_kind}.{key}")
                shown = _shown(fit_to_show(f"{of_kind}.{key}", found))
                self._complain((*path, key), f"{name}.{key} is {shown}, but must be {error}")
            else:
                self.origins[f"{'.'.join(path)}.{key}"] = self._place((*path, key))
        try:
            return kind(**{**otherwise, **values})
        except InvalidSection as invalid:
            for problem in invalid.problems:
                if problem.key not in refused:
                    key = problem.key.partition(".")[2]
                    said = f"{name}.{key} is {_shown(problem.found)}, but must be {problem.expected}"
                    self._complain((*path, *key.split(".")), said)
            return kind()

    def check_together(self, sections: Mapping[str, Any]) -> None:
        """Complains of values that will do, but not beside one another."""
        try:
            Settings(**sections)
        except InvalidSection as invalid:
            for problem in invalid.problems:
                said = f"{problem.key} is {_shown(problem.found)}, but must be {problem.expected}"
                self._complain(tuple(problem.key.split(".")), said)

    def refuse_unknown_sections(self) -> None:
        """Complains of everything at the top of the file that is no section."""
        for name in self._document:
            if name not in SECTIONS and name not in ("models", "personas"):
                self._unknown((name,))

    def _bindings(self, found: object) -> dict[str, str]:
        from assistant.terminal.input.keys import key_ids

        if not isinstance(found, dict):
            raise TypeError("a section: [terminal.keys]")
        known = key_ids()
        bindings = {}
        for binding, pressed in found.items():
            if binding not in known:
                self._unknown_key(binding)
            elif isinstance(pressed, str):
                bindings[binding] = pressed
                self.origins[f"terminal.keys.{binding}"] = self._place(("terminal", "keys", binding))
            else:
                path = ("terminal", "keys", binding)
                said = f'{_dotted(path)} is {_shown(pressed)}, but must be text such as "f2, ctrl+w"'
                self._complain(path, said)
        return bindings

    def _unknown_key(self, binding: str) -> None:
        """Complains of an id in [terminal.keys] that is of no key."""
        from assistant.terminal.input.keys import nearest_id

        path = ("terminal", "keys", binding)
        nearest = nearest_id(binding[:_MOST_SHOWN]) if len(self.problems) < MOST_TOLD else ""
        meant = f"; did you mean terminal.keys.{nearest}?" if nearest else ""
        self._complain(path, f"{_dotted(path)} is the id of no key{meant}")

    def _unknown(self, path: tuple[str, ...]) -> None:
        is_section = len(path) == 1 and isinstance(self._document[path[0]], dict)
        looks = len(self.problems) < MOST_TOLD  # for each of thousands it would take minutes
        nearest = _nearest(path, is_table=is_section) if looks else ""
        meant = f"; did you mean {nearest}?" if nearest else ""
        self._complain(path, f"{_dotted(path)} is not a {'section' if is_section else 'setting'}{meant}")

    def _complain(self, path: tuple[str, ...], said: str) -> None:
        self.problems.append((self._line(path), f"{self._place(path)}: {said}"))

    def _place(self, path: tuple[str, ...]) -> str:
        return f"{self._name} line {self._line(path)}"

    def _line(self, path: tuple[str, ...]) -> int:
        """Of the key, or when it is missing from the file, of the section that lacks it."""
        return self._lines.get(path) or self._lines.get(path[:1]) or 1


def _dotted(path: tuple[str, ...]) -> str:
    """A key fit to be shown: what a bare key cannot hold is quoted, and control characters escaped."""
    return ".".join(
        _shortened(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else repr(part), _MOST_SHOWN)
        for part in path
    )


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}..."


def _typed(found: object, default: object) -> object:
    """The value as the type of its default; raises TypeError saying what it must be."""
    kind = type(default)
    if isinstance(default, Json):
        wanted = type(default.read())
        if not isinstance(found, wanted):
            raise TypeError("a list" if wanted is list else "a section")
        try:
            return Json(json.dumps(found, ensure_ascii=False))
        except TypeError:
            raise TypeError("without dates and times") from None
    if kind is bool and isinstance(found, bool):
        return found
    if kind is str and isinstance(found, str):
        return found
    if isinstance(found, int) and not isinstance(found, bool) and abs(found) < 2**63:
        if kind is int:
            return found
        if kind is float:
            return float(found)
    if kind is float and isinstance(found, float):
        return found
    raise TypeError(
        {bool: "true or false", str: "text in quotes", int: "a whole number"}.get(kind, "a number")
    )


def _shown(value: object) -> str:
    """A value of the file, as short as it takes to recognise it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= 2**63:
        return "too large a number"  # and Python may refuse to write it out
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    return _shortened(repr(value) if isinstance(value, str) else str(value), _MOST_SHOWN)


def _nearest(path: tuple[str, ...], *, is_table: bool) -> str:
    """The known key, or for a table the known section, that was probably meant; empty when none is near."""
    from difflib import get_close_matches

    if is_table:
        return next((f"[{near}]" for near in get_close_matches(path[0].lower(), SECTIONS, n=1)), "")
    name = path[-1].lower()
    elsewhere = [known for known in FILE_KEYS if known.partition(".")[2] == name]
    if elsewhere:
        return elsewhere[0]
    if path[0] in SECTIONS:
        by_name = {f.name: f"{path[0]}.{f.name}" for f in dataclasses.fields(SECTIONS[path[0]])}
    else:
        by_name = {known.partition(".")[2]: known for known in FILE_KEYS}
    return next((by_name[near] for near in get_close_matches(name, by_name, n=1)), "")


# Lines of keys

_TOKEN = r'''
      (?P<string> """ (?: \\. | [^\\] )*? "{3,5}   # up to two quotes may stand before the closing three
                | \'\'\' .*? \'{3,5}
                | " (?: \\. | [^"\\\n] )* "
                | ' [^'\n]* '
                | """ .* | \'\'\' .* )   # never closed: no TOML; it ends the search
    | (?P<comment> \# [^\n]* )
    | (?P<word> [A-Za-z0-9_-]+ )
    | (?P<sign> [\[\]{}=,\n] )
    | (?P<other> . )                               # blanks, dots, and whatever numbers and dates are made of
'''


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line that each key and table of a TOML document first appears on.

    `tomllib` tells values but not where they are. This finds the same keys and skips the values;
    tables in a list count as tables of that list's name. Of a key with more parts than `DEEPEST_KEY` the
    first are given, and one more. Text that is no TOML gives some keys and no error. text: with line
    ends as "\\n".
    """
    lines: dict[tuple[str, ...], int] = {}
    line = 1
    table: tuple[str, ...] = ()  # of the last [header]
    around: list[tuple[str, tuple[str, ...]]] = []  # open brackets of a value, and the key of that value
    prefix: tuple[str, ...] = ()  # where the key that is being read belongs
    key: tuple[str, ...] = ()  # as far as it is read
    reading = "key"  # or header, value, nothing: the rest of a header's line

    def note(table: tuple[str, ...], key: tuple[str, ...]) -> tuple[str, ...]:
        whole = (table + key)[: DEEPEST_KEY + 1]
        for length in range(len(table) + 1, len(whole) + 1):
            lines.setdefault(whole[:length], line)
        return whole

    for token in re.finditer(_TOKEN, text, re.VERBOSE | re.DOTALL):
        kind, found = token.lastgroup, token.group()
        if found == "\n" and not around:
            reading, prefix, key = "key", table, ()
        elif reading == "header":
            if kind in ("word", "string"):
                key = _extended(key, found)
            elif found == "]":
                table = note((), key)
                reading = "nothing"
        elif reading == "key":
            if kind in ("word", "string"):
                key = _extended(key, found)
            elif found == "=":
                prefix, key, reading = note(prefix, key), (), "value"
            elif found == "[" and not around and not key:
                reading = "header"
            elif found == "}" and around:  # of an empty table
                around.pop()
                reading = "value"
        elif reading == "value":
            if found in ("[", "{"):
                around.append((found, prefix))
                reading = "key" if found == "{" else "value"
            elif found in ("]", "}") and around:
                around.pop()
            elif found == "," and around:
                bracket, prefix = around[-1]
                key, reading = (), "key" if bracket == "{" else "value"
        line += found.count("\n")
    return lines


def _extended(key: tuple[str, ...], part: str) -> tuple[str, ...]:
    return (*key, _unquoted(part)) if len(key) <= DEEPEST_KEY else key


def _unquoted(key: str) -> str:
    if key[0] not in "\"'":
        return key
    import tomllib

    try:
        return str(tomllib.loads(f"key = {key}")["key"])
    except ValueError:
        return key
