"""The settings: what can be set, what each value may be, and where the values in force came from.

    option  >  VOUCH_... variable  >  settings.toml  >  default

Sections are checked where they are declared, and a file's mistakes are told all at once, each with
its line and, for a name nobody knows, the nearest one that is known. Nothing here is heavy: `vouch
--help` may import this file, so what only some calls need is imported inside them.
"""

from __future__ import annotations

import dataclasses
import re
import stat
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from stores.errors import InvalidSetting, StoreUnavailable, WrongUsage

DEFAULT = "default"  # the origin of what nobody set

_SCHEDULES = ("single", "multi", "every_5", "every_20")
_LEVELS = ("debug", "info", "warning", "error")


# Sections ---------------------------------------------------------------------------------------


class InvalidSection(InvalidSetting):
    """Values of one section that Vouch cannot run with: reads as the first of them, and holds all."""

    def __init__(self, problems: Sequence[InvalidSetting]) -> None:
        first = problems[0]
        super().__init__(first.key, first.found, first.expected)
        self.problems = tuple(problems)


def _require(*rules: tuple[str, object, bool, str]) -> None:
    """Each rule is a key, the value found, whether it will do, and what would."""
    broken = [InvalidSetting(key, found, expected) for key, found, holds, expected in rules if not holds]
    if broken:
        raise InvalidSection(broken)


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Which model writes the replies: [model]."""

    backend: Literal["extractive", "openai"] = "extractive"  # quotes passages, or asks a server
    base_url: str = ""  # of a server that speaks OpenAI's protocol, up to and with /v1
    name: str = ""  # what that server calls the model
    key_file: str = ""  # holds the server's key and nothing else; mode 0600
    timeout_seconds: float = 60.0  # without a word from the server
    retries: int = 4  # after the first try
    max_tokens: int = 1024  # of one reply
    temperature: float = 0.2  # 0 always takes the likeliest word

    def __post_init__(self) -> None:
        if self.base_url:
            address = "an address that starts with http:// or https:// and holds no user or password"
        else:
            address = "the server's address when model.backend is 'openai'"
        asks_server = self.backend == "openai"
        absolute = self.key_file.startswith(("/", "~/"))
        _require(
            ("model.backend", self.backend, self.backend in ("extractive", "openai"), "extractive or openai"),
            (
                "model.base_url",
                without_password(self.base_url),
                _is_web_address(self.base_url) if self.base_url else not asks_server,
                address,
            ),
            (
                "model.name",
                self.name,
                bool(self.name) or not asks_server,
                "set when model.backend is 'openai'",
            ),
            ("model.key_file", self.key_file, absolute or not self.key_file, "a path from / or ~/"),
            ("model.timeout_seconds", self.timeout_seconds, 0 < self.timeout_seconds < 1e6, "above 0"),
            ("model.retries", self.retries, 0 <= self.retries <= 100, "between 0 and 100"),
            ("model.max_tokens", self.max_tokens, self.max_tokens >= 1, "1 or more"),
            ("model.temperature", self.temperature, 0 <= self.temperature <= 2, "between 0 and 2"),
        )


@dataclass(frozen=True, kw_only=True)
class EncoderSettings:
    """What turns text into vectors: [encoder]."""

    source: str = ""  # a folder, or a name on the hub; empty is the MiniLM that comes with Vouch
    threads: int = 0  # 0 takes all cores

    def __post_init__(self) -> None:
        _require(("encoder.threads", self.threads, self.threads >= 0, "0 (all cores) or more"))


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings:
    """How passages are found: [retrieval]."""

    candidates: int = 40  # how many go on to the reranker
    pool: int = 100  # how many each signal contributes
    dense_weight: float = 0.5  # the dense signal's share of the mix; the lexical one has the rest
    neighbour_lift: float = 0.4  # the share of the better neighbour's score that is added
    exact_up_to: int = 50_000  # shared passages; with more, the search of them is approximate

    def __post_init__(self) -> None:
        _require(
            ("retrieval.candidates", self.candidates, self.candidates >= 1, "1 or more"),
            ("retrieval.pool", self.pool, self.pool >= 1, "1 or more"),
            ("retrieval.dense_weight", self.dense_weight, 0 <= self.dense_weight <= 1, "between 0 and 1"),
            (
                "retrieval.neighbour_lift",
                self.neighbour_lift,
                0 <= self.neighbour_lift <= 1,
                "between 0 and 1",
            ),
            ("retrieval.exact_up_to", self.exact_up_to, self.exact_up_to >= 0, "0 or more"),
        )


@dataclass(frozen=True, kw_only=True)
class RerankingSettings:
    """How candidates are judged: [reranking]."""

    schedule: Literal["single", "multi", "every_5", "every_20"] = "multi"  # how many go in one call
    budget: int = 40  # candidates judged for one question, at most
    min_judged: int = 1  # candidates judged before judging may stop early

    def __post_init__(self) -> None:
        _require(
            ("reranking.schedule", self.schedule, self.schedule in _SCHEDULES, _one_of(_SCHEDULES)),
            ("reranking.budget", self.budget, self.budget >= 1, "1 or more"),
            ("reranking.min_judged", self.min_judged, self.min_judged >= 0, "0 or more"),
        )


@dataclass(frozen=True, kw_only=True)
class AnswerSettings:
    """What an answer is made of: [answer]."""

    passages: int = 5  # put before the model
    history_turns: int = 6  # earlier turns put before the model
    sentences: int = 3  # quoted by the extractive backend, at most
    threshold: float = 0.5  # best score below it: the extractive backend says that it found nothing

    def __post_init__(self) -> None:
        _require(
            ("answer.passages", self.passages, self.passages >= 1, "1 or more"),
            ("answer.history_turns", self.history_turns, self.history_turns >= 0, "0 or more"),
            ("answer.sentences", self.sentences, self.sentences >= 1, "1 or more"),
            ("answer.threshold", self.threshold, 0 <= self.threshold <= 1, "between 0 and 1"),
        )


@dataclass(frozen=True, kw_only=True)
class StoreSettings:
    """Where records are kept: [store]."""

    url: str = field(default="", repr=False)  # may hold a password; empty is SQLite in the data directory

    def __post_init__(self) -> None:
        is_address = not self.url or "://" in self.url
        expected = "empty, or an address such as postgresql://localhost/vouch"
        _require(("store.url", without_password(self.url), is_address, expected))


@dataclass(frozen=True, kw_only=True)
class TerminalSettings:
    """How the screens look and listen: [terminal]."""

    theme: str = "textual-dark"  # or ansi-dark, ansi-light: the terminal's own sixteen colours
    send_with: Literal["enter", "ctrl+j"] = "enter"  # with ctrl+j, Enter is the new line
    follow: bool = True  # keep the newest line in view
    mouse: bool = True  # False leaves selection to the terminal
    plain: bool = False  # no screens at all
    keys: Mapping[str, str] = field(default_factory=dict)  # binding id: "key, key"

    def __post_init__(self) -> None:
        _require(
            ("terminal.theme", self.theme, bool(self.theme), "the name of a theme"),
            ("terminal.send_with", self.send_with, self.send_with in ("enter", "ctrl+j"), "enter or ctrl+j"),
        )


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    """What the log tells, and for how long: [log]."""

    level: Literal["debug", "info", "warning", "error"] = "info"  # this and what is worse
    log_text: bool = False  # with the text of messages and passages
    days: int = 14  # files kept, one a day

    def __post_init__(self) -> None:
        _require(
            ("log.level", self.level, self.level in _LEVELS, _one_of(_LEVELS)),
            ("log.days", self.days, 1 <= self.days <= 36_500, "between 1 and 36500"),
        )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All sections, and where each value came from."""

    model: ModelSettings = field(default_factory=ModelSettings)
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    reranking: RerankingSettings = field(default_factory=RerankingSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    terminal: TerminalSettings = field(default_factory=TerminalSettings)
    log: LogSettings = field(default_factory=LogSettings)
    origins: Mapping[str, str] = field(default_factory=dict)  # of what is not by default

    def origin(self, key: str) -> str:
        """Where a value came from: `default`, `settings.toml line 12`, `VOUCH_USER` or `--user`.

        key: as in `retrieval.pool` or `terminal.keys.why`, or `user`, which is no part of the file.
        Raises KeyError for a key that does not exist.
        """
        if key not in KNOWN_KEYS and not key.startswith("terminal.keys."):
            raise KeyError(key)
        return self.origins.get(key, DEFAULT)

    def with_origin(self, key: str, origin: str) -> Settings:
        """The same settings, with another account of where one value came from."""
        self.origin(key)  # a key that does not exist is refused here too
        return dataclasses.replace(self, origins={**self.origins, key: origin})

    def in_force(self) -> Iterator[tuple[str, object, str]]:
        """Every setting as key, value and origin, fit to be shown: a password in an address is left out."""
        for key in FILE_KEYS:
            section, _, name = key.partition(".")
            value = getattr(getattr(self, section), name)
            if key == "terminal.keys":
                for binding, pressed in value.items():
                    yield f"{key}.{binding}", pressed, self.origin(f"{key}.{binding}")
            else:
                yield key, without_password(value) if key == "store.url" else value, self.origin(key)


SECTIONS: dict[str, type[Any]] = {
    "model": ModelSettings,
    "encoder": EncoderSettings,
    "retrieval": RetrievalSettings,
    "reranking": RerankingSettings,
    "answer": AnswerSettings,
    "store": StoreSettings,
    "terminal": TerminalSettings,
    "log": LogSettings,
}
FILE_KEYS = tuple(f"{name}.{f.name}" for name, kind in SECTIONS.items() for f in dataclasses.fields(kind))
KNOWN_KEYS = frozenset((*FILE_KEYS, "user"))


def without_password(url: str) -> str:
    """An address fit to be shown: without the user and password that it may hold."""
    url = re.sub(r"://.*@", "://...@", url, flags=re.DOTALL)
    return re.sub(r"([?&]password=)[^&]*", r"\1...", url, flags=re.IGNORECASE)


def _one_of(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _is_web_address(url: str) -> bool:
    from urllib.parse import urlsplit

    # Backslashes, blanks and users are what two parsers of addresses disagree about, and the one
    # that decides who is sent a key is not the one that opens the connection.
    if re.search(r"[\s\\@\x00-\x1f\x7f]", url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


# Places -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Locations:
    """Where the files are; all paths are absolute."""

    data: Path  # records, vectors, models' checkpoints
    settings: Path  # the settings file
    cache: Path  # downloaded models
    state: Path  # log, draft, socket
    data_origin: str = DEFAULT  # or --data, or VOUCH_DATA
    settings_origin: str = DEFAULT  # or --settings, or VOUCH_SETTINGS

    @property
    def settings_are_named(self) -> bool:
        """Someone named the settings file, so it has to be there."""
        return self.settings_origin != DEFAULT

    def create_directories(self) -> None:
        """Makes the directories that are missing, for this user alone (mode 0700).

        Raises `WrongUsage` when something else is in the way, `StoreUnavailable` when it cannot be done now.
        """
        for path, change in (
            (self.data, "Name another directory with --data or VOUCH_DATA."),
            (self.cache, "Name another place with XDG_CACHE_HOME."),
            (self.state, "Name another place with XDG_STATE_HOME."),
        ):
            try:
                make_private_directory(path)
            except (FileExistsError, NotADirectoryError) as error:
                raise WrongUsage(
                    f"{path} cannot be a directory: {error.filename} is a file", hint=change
                ) from error
            except OSError as error:
                raise StoreUnavailable(f"{path} cannot be made: {error.strerror}", hint=change) from error


def find_locations(
    environ: Mapping[str, str], *, data: str | None = None, settings: str | None = None
) -> Locations:
    """Where the files are, by the options --data and --settings, VOUCH_... and XDG_... variables."""
    home = _home(environ)

    def base(variable: str, otherwise: str) -> Path:
        named = Path(environ.get(variable, ""))
        return (named if named.is_absolute() else home / otherwise) / "vouch"  # XDG ignores relative ones

    def chosen(option: str, value: str | None, variable: str, default: Path) -> tuple[Path, str]:
        if value is not None:
            if not value:  # most likely a script's unset variable, which must not reach the real data
                raise WrongUsage(f"{option} is empty", hint="Give a path, or leave the option out.")
            return _expanded(value, home), option
        if environ.get(variable):
            return _expanded(environ[variable], home), variable
        return default, DEFAULT

    data_path, data_origin = chosen("--data", data, "VOUCH_DATA", base("XDG_DATA_HOME", ".local/share"))
    settings_path, settings_origin = chosen(
        "--settings", settings, "VOUCH_SETTINGS", base("XDG_CONFIG_HOME", ".config") / "settings.toml"
    )
    return Locations(
        data=data_path,
        settings=settings_path,
        cache=base("XDG_CACHE_HOME", ".cache"),
        state=base("XDG_STATE_HOME", ".local/state"),
        data_origin=data_origin,
        settings_origin=settings_origin,
    )


def make_private_directory(path: Path) -> None:
    """Makes a directory, and those above it that are missing, with mode 0700. Raises OSError."""
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)  # `parents=True` would give those the usual mode


def _home(environ: Mapping[str, str]) -> Path:
    named = Path(environ.get("HOME", ""))
    if named.is_absolute():
        return named
    try:
        return Path.home()
    except RuntimeError:
        raise WrongUsage("There is no home directory", hint="Set HOME.") from None


def _expanded(path: str, home: Path) -> Path:
    if path == "~" or path.startswith("~/"):
        return home / path[2:]
    return Path(path).absolute()


# The settings file ------------------------------------------------------------------------------


def load_settings(path: Path, *, environ: Mapping[str, str], explicit: bool) -> Settings:
    """The settings in force: those of the file and the VOUCH_... variables over the defaults.

    explicit: someone named this file, so that it has to be there. All mistakes of the file are told
    in one `WrongUsage`, a line each.
    """
    text = _read(path, explicit=explicit)
    file = _SettingsFile(path.name, _parse(path, text), key_lines(text))
    sections = {name: file.section(name, kind) for name, kind in SECTIONS.items()}
    file.refuse_unknown_sections()
    if file.problems:
        problems = sorted(file.problems, key=lambda problem: problem[0])
        raise WrongUsage("\n".join(said for _, said in problems), hint=f"The file is {path}.")

    origins = file.origins
    if environ.get("VOUCH_USER"):
        origins["user"] = "VOUCH_USER"
    if environ.get("VOUCH_PLAIN"):
        plain = _says_yes(environ["VOUCH_PLAIN"])
        sections["terminal"] = dataclasses.replace(sections["terminal"], plain=plain)
        origins["terminal.plain"] = "VOUCH_PLAIN"
    return Settings(**sections, origins=origins)


def _read(path: Path, *, explicit: bool) -> str:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        if explicit:
            raise WrongUsage(
                f"There is no settings file {path}", hint="Look at --settings and VOUCH_SETTINGS."
            ) from None
        return ""
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WrongUsage(f"The settings file {path} cannot be read: {reason}") from error
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise WrongUsage(
            f"{path.name} line {line}: the file is not UTF-8 text", hint=f"The file is {path}."
        ) from None


def _parse(path: Path, text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise WrongUsage(f"{path.name}: lists or tables are nested too deeply") from None
    except ValueError as error:  # tomllib's own is one, and int() has others
        place = re.fullmatch(
            r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", str(error), re.DOTALL
        )
        what, line, column = place.groups() if place else (str(error), None, None)
        where = f" line {line}, column {column}" if line else f" line {len(text.splitlines()) or 1}"
        said = f"{path.name}{where if place else ''}: {what[:1].lower()}{what[1:]}"
        raise WrongUsage(said, hint=f"The file is {path}.") from None


class _SettingsFile:
    """One file being read: its values become sections, its mistakes are gathered."""

    def __init__(self, name: str, document: dict[str, Any], lines: Mapping[tuple[str, ...], int]) -> None:
        self.problems: list[tuple[int, str]] = []  # line, what is wrong
        self.origins: dict[str, str] = {}
        self._name, self._document, self._lines = name, document, lines

    def section(self, name: str, kind: type[Any]) -> Any:
        """One section; what cannot be used is left at its default, as the problems are told anyway."""
        table = self._document.get(name, {})
        if not isinstance(table, dict):
            self._complain((name,), f"{name} is {_shown(table)}, but must be a section: [{name}]")
            return kind()
        defaults = {f.name: f.default for f in dataclasses.fields(kind)}
        values: dict[str, object] = {}
        refused = set()
        for key, found in table.items():
            if key not in defaults:
                self._unknown((name, key))
                continue
            try:
                if (name, key) == ("terminal", "keys"):
                    values[key] = self._bindings(found)
                else:
                    values[key] = _typed(found, type(defaults[key]))
            except TypeError as error:
                refused.add(f"{name}.{key}")
                self._complain((name, key), f"{name}.{key} is {_shown(found)}, but must be {error}")
            else:
                self.origins[f"{name}.{key}"] = self._place((name, key))
        try:
            return kind(**values)
        except InvalidSection as invalid:
            for problem in invalid.problems:
                if problem.key not in refused:
                    self._complain(tuple(problem.key.split(".")), problem.message)
            return kind()

    def refuse_unknown_sections(self) -> None:
        """Complains of everything at the top of the file that is no section."""
        for name in self._document:
            if name not in SECTIONS:
                self._unknown((name,))

    def _bindings(self, found: object) -> dict[str, str]:
        if not isinstance(found, dict):
            raise TypeError("a section: [terminal.keys]")
        bindings = {}
        for binding, pressed in found.items():
            if isinstance(pressed, str):
                bindings[binding] = pressed
                self.origins[f"terminal.keys.{binding}"] = self._place(("terminal", "keys", binding))
            else:
                path = ("terminal", "keys", binding)
                said = f'{_dotted(path)} is {_shown(pressed)}, but must be text such as "f2, ctrl+w"'
                self._complain(path, said)
        return bindings

    def _unknown(self, path: tuple[str, ...]) -> None:
        is_section = len(path) == 1 and isinstance(self._document[path[0]], dict)
        nearest = _nearest(path, is_table=is_section)
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
    return ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else repr(part) for part in path)


def _typed(found: object, kind: type) -> object:
    """The value as the type of its default; raises TypeError saying what it must be."""
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
    shown = repr(value) if isinstance(value, str) else str(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."


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


# Lines of keys ----------------------------------------------------------------------------------

_TOKEN = r'''
      (?P<string> """ (?: \\. | [^\\] )*? "{3,5}   # up to two quotes may stand before the closing three
                | \'\'\' .*? \'{3,5}
                | " (?: \\. | [^"\\\n] )* "
                | ' [^'\n]* ' )
    | (?P<comment> \# [^\n]* )
    | (?P<word> [A-Za-z0-9_-]+ )
    | (?P<sign> [\[\]{}=,\n] )
    | (?P<other> . )                               # blanks, dots, and whatever numbers and dates are made of
'''


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line that each key and table of a TOML document first appears on.

    `tomllib` tells values but not where they are. This finds the same keys and skips the values;
    tables in a list count as tables of that list's name. Text that is no TOML gives some keys and
    no error. text: with line ends as "\\n".
    """
    lines: dict[tuple[str, ...], int] = {}
    line = 1
    table: tuple[str, ...] = ()  # of the last [header]
    around: list[tuple[str, tuple[str, ...]]] = []  # open brackets of a value, and the key of that value
    prefix: tuple[str, ...] = ()  # where the key that is being read belongs
    key: tuple[str, ...] = ()  # as far as it is read
    reading = "key"  # or header, value, nothing: the rest of a header's line

    def note(table: tuple[str, ...], key: tuple[str, ...]) -> tuple[str, ...]:
        for length in range(len(table) + 1, len(table) + len(key) + 1):
            lines.setdefault((table + key)[:length], line)
        return table + key

    for token in re.finditer(_TOKEN, text, re.VERBOSE | re.DOTALL):
        kind, found = token.lastgroup, token.group()
        if found == "\n" and not around:
            reading, prefix, key = "key", table, ()
        elif reading == "header":
            if kind in ("word", "string"):
                key += (_unquoted(found),)
            elif found == "]":
                table = note((), key)
                reading = "nothing"
        elif reading == "key":
            if kind in ("word", "string"):
                key += (_unquoted(found),)
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


def _unquoted(key: str) -> str:
    if key[0] not in "\"'":
        return key
    import tomllib

    try:
        return str(tomllib.loads(f"key = {key}")["key"])
    except ValueError:
        return key


# Who, with which key, and how it looks ----------------------------------------------------------


def user_name(option: str | None, environ: Mapping[str, str]) -> str:
    """Whose memory it is: --user, then VOUCH_USER, then the login name."""
    if option is not None:
        given, origin = option, "--user"
    elif environ.get("VOUCH_USER"):
        given, origin = environ["VOUCH_USER"], "VOUCH_USER"
    else:
        given, origin = _login_name(), "the login name"

    name = unicodedata.normalize("NFC", given).strip()
    hint = "Give another with --user or VOUCH_USER."
    if not 1 <= len(name) <= 64:
        raise WrongUsage(f"{origin} has {len(name)} characters, but must have 1 to 64", hint=hint)
    # Controls, formats, lone surrogates and line ends can make two names look alike or break a screen.
    unfit = [c for c in name if c in "/\\" or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    if unfit:
        raise WrongUsage(f"{origin} is {name!r}, but must not hold {unfit[0]!r}", hint=hint)
    if name in (".", ".."):
        raise WrongUsage(f"{origin} is {name!r}, which is no name", hint=hint)
    return name


def _login_name() -> str:
    import getpass

    try:
        return getpass.getuser() or "me"
    except (OSError, KeyError, ImportError):
        return "me"


def api_key(model: ModelSettings, environ: Mapping[str, str]) -> str:
    """The key for the model's server; empty when there is none.

    VOUCH_API_KEY, then OPENAI_API_KEY if the server is OpenAI's own, then `model.key_file`. OpenAI's
    key is not shown to any other server, nor sent in the clear.
    """
    from urllib.parse import urlsplit

    server = urlsplit(model.base_url)
    if environ.get("VOUCH_API_KEY"):
        return _checked_key(environ["VOUCH_API_KEY"], "VOUCH_API_KEY")
    if environ.get("OPENAI_API_KEY") and (server.scheme, server.hostname) == ("https", "api.openai.com"):
        return _checked_key(environ["OPENAI_API_KEY"], "OPENAI_API_KEY")
    if model.key_file:
        return _key_in_file(_expanded(model.key_file, _home(environ)))
    return ""


def _key_in_file(path: Path) -> str:
    try:
        if not path.is_file():
            raise WrongUsage(
                f"model.key_file names {path}, which is no file", hint="Change it in settings.toml."
            )
        mode = path.stat().st_mode
        if stat.S_IMODE(mode) & ~0o600 or not mode & stat.S_IRUSR:
            raise WrongUsage(
                f"The key file {path} has mode {stat.S_IMODE(mode):04o}, but must be its owner's alone",
                hint=f"Run: chmod 600 {path}",
            )
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise WrongUsage(f"The key file {path} cannot be read: {reason}") from None
    return _checked_key(content.decode("latin-1"), f"The key file {path}")


def _checked_key(key: str, origin: str) -> str:
    """The key without blanks around it; an error never shows it."""
    key = key.strip()
    if not re.fullmatch(r"[!-~]+", key):
        raise WrongUsage(f"{origin} does not hold a key: one word of printable ASCII characters")
    return key


def should_be_plain(
    option: bool, environ: Mapping[str, str], settings: Settings, stdout_is_terminal: bool
) -> str | None:
    """Why there are to be no screens, or None when there may be."""
    reasons = (
        ("--plain", option),
        ("VOUCH_PLAIN", _says_yes(environ.get("VOUCH_PLAIN", ""))),
        ("ACCESSIBLE", bool(environ.get("ACCESSIBLE"))),
        ("TERM=dumb", environ.get("TERM") == "dumb"),
        ("the settings", settings.terminal.plain),
        ("no terminal", not stdout_is_terminal),
    )
    return next((reason for reason, holds in reasons if holds), None)


def wants_colour(option_no_color: bool, environ: Mapping[str, str], is_terminal: bool) -> bool:
    """Colour only on a terminal that has it, for someone who did not turn it off."""
    refused = option_no_color or bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
    return is_terminal and not refused


def _says_yes(value: str) -> bool:
    return value.strip().lower() not in ("", "0", "false", "no", "off")
