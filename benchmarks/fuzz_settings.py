"""The settings file, fed with what nobody would write; each case is read in a process of its own."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from assistant.settings.config import SECTIONS, Settings
from assistant.settings.settings_file import load_settings
from benchmarks.fuzz_bytes import MOST_BYTES, mutated, tokens_of
from benchmarks.fuzz_limits import MOST_MEGABYTES, MOST_SECONDS, MOST_WALL_SECONDS, problem_of_message
from stores.base.errors import VouchError


def problem_of_settings_error(error: VouchError, name: str) -> str:
    """What is wrong with what is said of a settings file, or nothing: a line for each mistake."""
    lines = error.message.split("\n")
    if len(lines) > 50:
        return f"{len(lines)} lines"
    for line in lines:
        if name not in line:
            return f"the file is not named: {line}"
        if problem := problem_of_message(line):
            return problem
    return "" if not error.hint else problem_of_message(error.hint)


_GOOD_SETTINGS = "\n".join(
    [
        "# mine",
        "[model]",
        'backend = "openai"',
        'base_url = "http://localhost:8000/v1"',
        'name = "tiny"',
        "timeout_seconds = 12.5",
        "",
        "[retrieval]",
        "pool = 70",
        "dense_weight = 0.25",
        "[terminal]",
        "plain = true",
        "[terminal.keys]",
        'why = "f2, ctrl+w"',
        '"app.quit" = "f10"',
        "[log]",
        "days = 3",
        "",
    ]
).encode()

_TOML_TOKENS = tokens_of(
    "[ ] [[ ]] { } = , . # \" ' \"\"\" ''' a.b.c [model] [terminal.keys] pool name true inf -nan 1e400 "
    "0x 0o 1_0 1979-05-27T07:32:00Z 99:99 \\u0000 \\ud800 \\U00110000 \\ \u202e \u2028 model.name "
    "9223372036854775808 -0.0"
)


class SettingsFuzzer:
    """Settings files, each read in a process of its own."""

    def __init__(self, folder: Path, corpus: Path | None) -> None:
        self._folder = folder
        self._seeds = [_GOOD_SETTINGS, b"\xef\xbb\xbf" + _GOOD_SETTINGS.replace(b"\n", b"\r\n"), b"a = 1"]
        for path in sorted(corpus.rglob("*.toml")) if corpus else []:
            self._seeds.append(path.read_bytes()[:MOST_BYTES])

    def close(self) -> None:
        """Nothing to let go of."""

    @staticmethod
    def kind(name: str) -> str:
        """How the case was made."""
        return f".{name.partition('.')[2]}"

    def case(self, rng: random.Random, case: str) -> tuple[str, bytes]:
        """How the case is made, after a dot, and the file's bytes."""
        making = rng.choice(["mutated", "typed", "typed", "tokens", "large", "place"])
        if making == "typed":
            return f"{case}.typed", _typed_settings(rng).encode("utf-8", "replace")
        if making == "tokens":
            return f"{case}.tokens", b"".join(rng.choices(_TOML_TOKENS, k=rng.choice([3, 30, 300, 9000])))
        if making == "large":
            return f"{case}.large", _large_settings(rng)
        if making == "place":
            return f"{case}.place", rng.choice(_PLACES).encode()
        return f"{case}.mutated", mutated(rng, rng.choice(self._seeds), _TOML_TOKENS, others=self._seeds)

    def run(self, name: str, data: bytes) -> tuple[str, str, float, float]:
        """The outcome, what is wrong with it, processor seconds, and the peak in megabytes."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        path = folder / "settings.toml"
        if self.kind(name) == ".place":
            path = _place(folder, data.decode())
        else:
            path.write_bytes(data)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _read_settings_and_exit(path, writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            told = pipe.read()
        _, status, usage = os.wait4(child, 0)
        shutil.rmtree(folder)
        seconds, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        code = os.waitstatus_to_exitcode(status)
        if code in (-signal.SIGALRM, -signal.SIGPROF):
            return "hang", f"not done after {MOST_SECONDS:.0f} s", seconds, megabytes
        if code or not told:
            return "crash", f"ended with {code}: {told.decode(errors='replace')[-300:]}", seconds, megabytes
        outcome, problem = json.loads(told)
        if megabytes > MOST_MEGABYTES:
            problem = f"{megabytes:.0f} MB"
        return "defect" if problem else outcome, problem, seconds, megabytes


def _read_settings_and_exit(path: Path, writing: int) -> None:
    """In the child: what was made of the settings, told over the pipe."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, MOST_WALL_SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
    try:
        environ = {"VOUCH_USER": "ada", "VOUCH_PLAIN": "\x00maybe"}
        settings = load_settings(path, environ=environ, explicit=True)
        outcome = ["settings", _problem_of_settings(settings)]
    except VouchError as error:
        named = "".join(c if c.isprintable() else "\ufffd" for c in path.name)
        outcome = ["error", problem_of_settings_error(error, named)]
    except BaseException as error:  # noqa: BLE001 - whatever comes out is the finding
        outcome = ["crash", f"{type(error).__name__}: {str(error)[:300]}"]
    os.write(writing, json.dumps(outcome).encode())
    os._exit(0)


def _problem_of_settings(settings: Settings) -> str:
    """What is wrong with settings that were accepted, or nothing."""
    for key, value, origin in settings.in_force():
        section, _, name = key.partition(".")
        if not key.startswith("terminal.keys."):
            default = getattr(SECTIONS[section](), name)
            if type(value) is not type(default) and key != "terminal.keys":
                return f"{key} is a {type(value).__name__}"
        if isinstance(value, float) and not abs(value) < 1e9:
            return f"{key} is {value}"
        if not origin.isprintable():
            return f"the origin of {key} is {origin!r}"
    return ""


def _typed_settings(rng: random.Random) -> str:
    """TOML that is mostly right, with values of every type under known and unknown keys."""
    lines = []
    for name in rng.sample([*SECTIONS, "modle", "", "x y"], k=rng.randrange(1, 6)):
        lines.append(f"[{name}]" if re.fullmatch(r"\w+", name) else f'["{name}"]')
        keys = [*vars(SECTIONS[name]())] if name in SECTIONS else ["pool"]
        for key in rng.sample([*keys, "xyzzy", '"\\u001b"', "a.b"], k=rng.randrange(len(keys) + 1)):
            lines.append(f"{key} = {_value(rng)}")
    return "\n".join(lines)


def _value(rng: random.Random, depth: int = 0) -> str:
    kind = rng.randrange(10 if depth < 4 else 8)
    if kind == 8:
        return "[" + ", ".join(_value(rng, depth + 1) for _ in range(rng.randrange(4))) + "]"
    if kind == 9:
        inner = ", ".join(f"k{n} = {_value(rng, depth + 1)}" for n in range(rng.randrange(4)))
        return f"{{{inner}}}"
    text = "".join(
        rng.choice(["a", "\\u0000", "\\u001B", "\u202e", "\U0001f600", "@", "://", " "]) for _ in range(9)
    )
    whole = str(rng.choice([0, -1, 1, 2**31, 2**63, -(2**63), 2**64, 10**400, 10**4000]))
    special = rng.choice(["inf", "-inf", "nan", "1e308", "1e400", "-0.0", "5e-324"])
    scalar = ["true", "false", whole, special, "1979-05-27", "07:32:00"]
    words = rng.choice(["openai", "extractive", "http://[::1", "https://a@b/", "/x", "~/x", "multi", "debug"])
    return [*scalar, f'"{text}"', f'"{words}"'][kind]


def _large_settings(rng: random.Random) -> bytes:
    """What a parser takes long over: much of one thing."""
    much = rng.choice([300, 3_000, 30_000, 60_000])
    shapes: list[Callable[[], str]] = [
        lambda: ".".join(["a"] * much) + " = 1",
        lambda: "[" + ".".join(["a"] * much) + "]",
        lambda: ".".join(['""'] * much) + " = 1",
        lambda: "a = " + "[" * much,
        lambda: "a = " + "[" * much + "]" * much,
        lambda: "a = " + "{a = " * much + "1" + "}" * much,
        lambda: "".join(f"k{n} = 1\n" for n in range(much)),
        lambda: "[model]\n" + "".join(f"bakend{n} = 1\n" for n in range(much)),
        lambda: "".join(f"[s{n}]\n" for n in range(much)),
        lambda: "[[a]]\n" * much,
        lambda: '"""\n' * much,
        lambda: '"' * much,
        lambda: "'''" * much,
        lambda: "a = " + "9" * much,
        lambda: "a = 0x" + "f" * much,
        lambda: "a = 1." + "0" * much,
        lambda: f'[model]\nbase_url = "{"://" * much}"',
        lambda: f'[model]\nbase_url = "{"http://a@" * (much // 3)}"',
        lambda: f'[store]\nurl = "{"?password=" * (much // 4)}"',
        lambda: f'[model]\nbackend = "{"é" * much}"',
        lambda: f"{'k' * much} = 1",
        lambda: "[terminal.keys]\n" + "".join(f"k{n} = 1\n" for n in range(much)),
        lambda: "#" * much * 3,
        lambda: "\n" * much * 3,
        lambda: "a = [" + "1," * much + "]",
        lambda: "x = 1\n" * 2 + "y" * much,
    ]
    return rng.choice(shapes)().encode()[: rng.choice([99_000, 300_000])]


_PLACES = (
    "missing folder fifo socket link loop dangling unreadable null zero random huge name under_file long"
).split()


def _place(folder: Path, place: str) -> Path:
    """A settings file that is no ordinary one."""
    path = folder / "settings.toml"
    if place == "folder":
        path.mkdir()
    elif place == "fifo":
        os.mkfifo(path)
    elif place == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    elif place == "link":
        (folder / "other").write_bytes(_GOOD_SETTINGS)
        path.symlink_to("other")
    elif place == "loop":
        path.symlink_to(path)
    elif place == "dangling":
        path.symlink_to("nowhere")
    elif place == "unreadable":  # to anyone but root
        path.write_bytes(_GOOD_SETTINGS)
        path.chmod(0)
    elif place in ("null", "zero", "random"):
        path.symlink_to(f"/dev/{'urandom' if place == 'random' else place}")
    elif place == "huge":
        path.touch()
        os.truncate(path, 100_000_000)
    elif place == "name":
        path = folder / os.fsdecode(b"set\x1b[31m\n\xff\xe2\x80\xae.toml")
        path.write_bytes(b"[modle]\n")
    elif place == "under_file":
        path.touch()
        path = path / "settings.toml"
    elif place == "long":
        path = folder / ("x" * 300)
    return path
