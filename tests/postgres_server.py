"""A PostgreSQL server of the tests' own, on loopback, from the programs that the machine has.

As root it runs as the user `postgres`, since the server refuses root. Where there are no such programs
`find_programs` says None, and the tests that want a server skip with that reason.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.free_ports import free_port

MISSING = "no PostgreSQL programs here (on Debian: apt-get install postgresql)"


def find_programs() -> Path | None:
    """The folder that holds initdb and pg_ctl, of the newest version there is."""
    named = shutil.which("initdb")
    if named:
        return Path(named).resolve().parent
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]))
    if not found or (os.getuid() == 0 and not _has_user("postgres")):
        return None
    return found[-1].parent


class PostgresServer:
    """A running server; each test makes databases of its own in it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._made = 0

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://vouch@127.0.0.1:{self.port}/{database}"

    def new_database(self, *, template: str = "template0") -> str:
        """The URL of a new database, like the template."""
        self._made += 1
        name = f"test_{os.getpid()}_{self._made}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def drop(self, url: str) -> None:
        self.execute(f"DROP DATABASE IF EXISTS {url.rpartition('/')[2]} WITH (FORCE)")

    def execute(self, statement: str) -> None:
        with psycopg.connect(
            f"postgresql://vouch@127.0.0.1:{self.port}/postgres", autocommit=True
        ) as connection:
            connection.execute(statement)


@contextmanager
def running_server(programs: Path) -> Iterator[PostgresServer]:
    """Starts a server with an empty cluster and ends it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="vouch-postgres-"))
    port = free_port()
    try:
        if os.getuid() == 0:
            shutil.chown(folder, "postgres")
        data = str(folder / "data")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        _run(
            (
                *(str(programs / "initdb"), "-D", data, "-A", "trust", "-U", "vouch"),
                *("-E", "UTF8", "--locale=C.UTF-8", "--no-sync"),
            ),
            folder,
        )
        start = [
            str(programs / "pg_ctl"),
            "-D",
            data,
            "-w",
            "-o",
            options,
            "-l",
            str(folder / "log"),
            "start",
        ]
        _run(start, folder)
        try:
            yield PostgresServer(port)
        finally:
            _run([str(programs / "pg_ctl"), "-D", data, "-m", "immediate", "stop"], folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: Sequence[str], folder: Path) -> None:
    subprocess.run(
        command,
        check=True,
        cwd=folder,
        user="postgres" if os.getuid() == 0 else None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
    )


def _has_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
