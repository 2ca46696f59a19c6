"""The screens in a browser: who gets in, what is painted there, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import select
import shutil
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from cli_helpers import ENDS_WITHIN_SECONDS, HANDBOOK, Vouch, read_until, tell_to_end
from scripted_server import ScriptedServer, hangs, says

aiohttp = pytest.importorskip("aiohttp", reason="aiohttp, of the extra `serve`, is not installed")
pytest.importorskip("textual_serve", reason="the extra `serve` is not installed")

from chromium_page import page_in_chromium  # noqa: E402
from textual_serve.app_service import AppService  # noqa: E402

from assistant.process.own_names import is_loopback, is_own_name  # noqa: E402
from assistant.terminal.app.serving import ScreenServer, address  # noqa: E402
from stores.database.tables import Turn, User  # noqa: E402


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path_factory.mktemp("serve"), minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    copied = library.copy_to(tmp_path)
    copied.environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    copied.environment.pop("PYTHONWARNINGS")  # of libraries that are not ours
    return copied


@pytest.fixture(scope="module")
def served_once(library: Vouch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    """One server for questions that no chat is opened for."""
    copied = library.copy_to(tmp_path_factory.mktemp("served"))
    copied.environment.pop("PYTHONWARNINGS")  # of libraries that are not ours
    with serving(copied) as served:
        yield served


@contextmanager
def serving(vouch: Vouch, *options: str) -> Iterator[tuple[str, Any]]:
    """The address that was printed, and the process."""
    process = vouch.start("serve", "--port", "0", *options)
    try:
        yield read_until(process.stdout, "\n").strip(), process
    finally:
        process.kill()
        process.communicate()


def base_of(printed: str) -> str:
    return printed.partition("/?")[0]


def browser() -> Any:
    """Keeps cookies, also of an address that is no name."""
    return aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))


class Tab:
    """One tab: what was painted there, and keys."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.painted = ""

    async def types(self, keys: str) -> None:
        await self.connection.send_str(json.dumps(["stdin", keys]))

    async def sees(self, text: str) -> None:
        async with asyncio.timeout(ENDS_WITHIN_SECONDS):
            while text not in self.painted:
                message = await self.connection.receive()
                assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), self.painted[-500:]
                if message.type == aiohttp.WSMsgType.BINARY:
                    self.painted += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", message.data.decode())


def turns(vouch: Vouch) -> list[tuple[str, str, str, str]]:
    with vouch.database() as database, database.reading() as sql:
        users = {user.id: user.name for user in sql.query(User)}
        return [(users[t.user_id], t.message, t.answer, t.state) for t in sql.query(Turn).order_by(Turn.id)]  # type: ignore[arg-type]


async def test_a_chat_in_a_browser_is_the_persons_who_serves_it(vouch: Vouch) -> None:
    with ScriptedServer([says("At ten.")]) as server:
        vouch.use_server(server.base_url)
        with serving(vouch) as (printed, process):
            async with browser() as session:
                page = await session.get(printed)
                assert page.status == 200
                assert "token" not in str(page.url)  # it has left the address
                assert base_of(printed).replace("http", "ws") + "/ws" in await page.text()
                async with session.ws_connect(base_of(printed) + "/ws?width=80&height=24") as connection:
                    tab = Tab(connection)
                    await tab.sees("1 shared")
                    await tab.types("question one\r")
                    await tab.types("\r")
                    await tab.sees("At ten.")
                    async with asyncio.timeout(ENDS_WITHIN_SECONDS):
                        while turns(vouch)[0][-1] != "done":  # noqa: ASYNC110 - of another process
                            await asyncio.sleep(0.05)
                    await tab.types("\x11")
                    while not connection.closed:
                        await connection.receive()
            assert tell_to_end(process, signal.SIGINT) == 0
    assert turns(vouch) == [("ann", "question one", "At ten.", "done")]


async def test_without_the_token_nothing_is_shown_and_nothing_starts(served_once: tuple[str, Any]) -> None:
    base, _, token = served_once[0].partition("/?token=")
    assert len(token) >= 32
    async with browser() as session:
        for path in (
            "/",
            "/?token=wrong",
            f"/ws?token={token}",
            "/ws",
            "/static/js/textual.js",
            "/download/x",
        ):
            answered = await session.get(base + path)
            assert answered.status == 403, path
            assert token not in await answered.text()


async def test_another_site_gets_in_neither_by_a_name_of_its_own_nor_by_the_cookie(
    served_once: tuple[str, Any],
) -> None:
    printed, base, port = served_once[0], base_of(served_once[0]), urlsplit(served_once[0]).port or 0
    async with browser() as session:
        assert (await session.get(printed)).status == 200  # it has the cookie now
        rebound = await session.get(base + "/", headers={"Host": f"evil.example:{port}"})
        assert rebound.status == 403
        for origin in ("http://evil.example", f"http://127.0.0.1:{port + 1}"):
            with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                await session.ws_connect(base + "/ws", origin=origin)


async def test_only_this_server_s_pages_get_the_token_and_they_are_kept_nowhere(
    served_once: tuple[str, Any],
) -> None:
    printed, port = served_once[0], urlsplit(served_once[0]).port
    async with browser() as session:
        let_in = await session.get(printed, allow_redirects=False)
        cookie = let_in.cookies[f"vouch_token_{port}"]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", "/")
        assert let_in.headers["Location"] == "/"
        page = await session.get(base_of(printed))
        assert page.status == 200
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert page.headers["X-Frame-Options"] == "DENY"


async def test_two_servers_of_two_names_of_one_machine_let_the_same_browser_in(
    served_once: tuple[str, Any], vouch: Vouch
) -> None:
    first = served_once[0]
    with serving(vouch) as (second, _), serving(vouch, "--host", "127.0.0.2") as (third, _):
        assert third.startswith("http://127.0.0.2:")
        async with browser() as session:
            for printed in (first, second, base_of(first), base_of(second), third):
                assert (await session.get(printed)).status == 200, printed


ODD_HEADERS = [
    ("Host", b"["),
    ("Host", b"127.0.0.1:port"),
    ("Host", b"127.0.0.1:99999"),
    ("Host", b"\xff"),
    ("Origin", b"http://["),
    ("Origin", b"null"),
    ("Cookie", b"vouch_token_%(port)d=\xff"),
    ("Cookie", b"\xff=\xff"),
]


def test_what_is_no_request_of_a_browser_is_refused(served_once: tuple[str, Any]) -> None:
    printed, process = served_once
    port, token = urlsplit(printed).port or 0, printed.partition("token=")[2]
    headers = {"Host": b"127.0.0.1:%d" % port, "Cookie": b"vouch_token_%d=%s" % (port, token.encode())}
    assert answered_with(port, headers) == 200
    for name, value in ODD_HEADERS:
        odd = headers | {name: value.replace(b"%(port)d", b"%d" % port)}
        assert answered_with(port, odd) == 403, (name, value)
    assert not select.select([process.stderr], [], [], 0)[0], os.read(process.stderr.fileno(), 9_999)


def answered_with(port: int, headers: dict[str, bytes]) -> int:
    """The status that a request with these headers, byte for byte, is answered with."""
    with socket.create_connection(("127.0.0.1", port), timeout=ENDS_WITHIN_SECONDS) as connection:
        lines = [b"GET / HTTP/1.1", *(name.encode() + b": " + value for name, value in headers.items())]
        connection.sendall(b"\r\n".join([*lines, b"Connection: close", b"", b""]))
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    return int(answer.split()[1])


async def test_a_folder_of_the_persons_own_is_not_searched_for_modules(vouch: Vouch) -> None:
    opened = vouch.folder / "opened"
    for name in ("assistant/__init__.py", "textual.py", "sqlite3.py"):
        vouch.write(name, f"open({str(opened)!r}, 'w')\n")
    with serving(vouch) as (printed, _process):
        async with browser() as session:
            await session.get(printed)
            async with session.ws_connect(base_of(printed) + "/ws?width=80&height=24") as connection:
                await Tab(connection).sees("1 shared")
    assert not opened.exists()


_FAKE_CHAT = """
import sys
print("__GANGLION__", flush=True)
while (read := sys.stdin.buffer.read1()) and b'"quit"' not in read:
    pass
open(sys.argv[1], "w").write("kept")
"""


async def test_tabs_that_are_open_when_the_server_ends_are_closed_and_keep_what_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chats = []

    async def opened(service: AppService, width: int = 80, height: int = 24) -> Any:
        chats.append(await open_chat(service, width, height))
        return chats[-1]

    open_chat = AppService._open_app_process
    monkeypatch.setattr(AppService, "_open_app_process", opened)
    kept = tmp_path / "kept"
    command = [sys.executable, "-c", _FAKE_CHAT, str(kept)]
    server = ScreenServer(command, host="127.0.0.1", port=0, token="0123456789abcdef")
    runner = aiohttp.web.AppRunner(await server._make_app())
    await runner.setup()
    try:
        await aiohttp.web.TCPSite(runner, "127.0.0.1", 0).start()
        base = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with browser() as session, asyncio.timeout(ENDS_WITHIN_SECONDS):
            await session.get(f"{base}/?token=0123456789abcdef")
            async with session.ws_connect(f"{base}/ws") as connection:
                await connection.send_json(["ping", ""])
                assert await connection.receive_json() == ["pong", ""]  # the tab is open
                [ending, closed] = await asyncio.gather(runner.shutdown(), connection.receive())
                assert ending is None
                assert closed.type == aiohttp.WSMsgType.CLOSE
    finally:
        await runner.cleanup()
        await asyncio.gather(*(chat.wait() for chat in chats))
    assert kept.read_text() == "kept"


async def test_a_tab_that_is_closed_keeps_the_part_of_a_reply(vouch: Vouch) -> None:
    with ScriptedServer([hangs(["Half of it"])]) as server:
        vouch.use_server(server.base_url)
        with serving(vouch) as (printed, process):
            async with browser() as session:
                await session.get(printed)
                async with session.ws_connect(base_of(printed) + "/ws?width=80&height=24") as connection:
                    tab = Tab(connection)
                    await tab.sees("1 shared")
                    await tab.types("question one\r")
                    await tab.types("\r")
                    await tab.sees("Half of it")
            assert tell_to_end(process, signal.SIGTERM) == 143
    assert turns(vouch) == [("ann", "question one", "Half of it", "stopped")]


async def test_begun_by_nohup_it_outlasts_the_terminal_that_it_was_begun_in(vouch: Vouch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as `nohup` does, and what we begin inherits
    try:
        with serving(vouch) as (printed, process):
            process.send_signal(signal.SIGHUP)
            await asyncio.sleep(0.5)
            async with browser() as session, asyncio.timeout(ENDS_WITHIN_SECONDS):
                assert (await session.get(printed)).status == 200
            assert tell_to_end(process, signal.SIGTERM) == 143
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_token_of_a_file_is_used_and_one_that_others_can_read_is_not(vouch: Vouch) -> None:
    file = Path(vouch.write("token", "0123456789abcdef\n"))
    file.chmod(0o600)
    with serving(vouch, "--token-file", str(file)) as (printed, _process):
        assert printed.endswith("/?token=0123456789abcdef")
    file.chmod(0o644)
    assert "can be read by others" in vouch.run("serve", "--token-file", str(file), code=2).err
    file.chmod(0o600)
    assert "--host is empty" in vouch.run("serve", "--host", "", code=2).err
    assert "no name of a machine" in vouch.run("serve", "--host", "..", "--port", "0", code=3).err
    file.write_text("short")
    assert "16 characters" in vouch.run("serve", "--token-file", str(file), code=2).err


def test_a_port_that_is_taken_is_named_with_3(served_once: tuple[str, Any], vouch: Vouch) -> None:
    port = str(urlsplit(served_once[0]).port)
    assert f"127.0.0.1:{port}" in vouch.run("serve", "--port", port, code=3).err


@pytest.mark.parametrize(
    ("asked", "host", "is_ours"),
    [
        ("127.0.0.1:8484", "127.0.0.1", True),
        ("localhost:8484", "127.0.0.1", True),
        ("[::1]:8484", "::1", True),
        ("evil.example:8484", "127.0.0.1", False),
        ("192.168.0.7:8484", "127.0.0.1", False),
        ("", "127.0.0.1", False),
        ("192.168.0.7:8484", "0.0.0.0", True),
        ("evil.example:8484", "0.0.0.0", False),
        ("home.example:8484", "home.example", True),
        ("HOME.example", "home.EXAMPLE", True),
        ("127.0.0.2:8484", "127.0.0.2", True),
        ("127.0.0.1:8484", "LOCALHOST", True),
        ("[0:0:0:0:0:0:0:1]:8484", "::1", True),
        ("[::1]:8484", "0:0::1", True),
        ("evil.example:8484", "127.0.0.2", False),
        ("192.168.0.7:8484", "127.0.0.2", False),
        ("[", "127.0.0.1", False),
        ("127.0.0.1:port", "127.0.0.1", False),
        ("127.0.0.1:99999", "127.0.0.1", False),
        ("\udcff", "127.0.0.1", False),
    ],
)
def test_a_request_names_this_server_by_a_name_of_its_own(asked: str, host: str, is_ours: bool) -> None:
    assert is_own_name(asked, host) is is_ours


def test_an_address_is_one_that_a_browser_takes() -> None:
    assert address("::1", 80, "a b") == "http://[::1]:80/?token=a+b"
    for everywhere in ("0.0.0.0", "::", "0:0::0"):
        assert address(everywhere, 80, "a") == f"http://{socket.gethostname()}:80/?token=a"
    assert is_loopback("127.3.2.1")
    assert is_loopback("LocalHost")
    assert is_loopback("0:0::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("home.example")


# How many colours the terminal's canvas has, and how many dots of each of its 24 or more rows are not of the
# commonest colour; nothing where there is no canvas.
_INK = """(() => {
    const layer = document.querySelector("canvas.xterm-text-layer");
    if (layer === null) return null;
    const dots = new Uint32Array(
        layer.getContext("2d").getImageData(0, 0, layer.width, layer.height).data.buffer);
    const counts = new Map();
    for (const dot of dots) counts.set(dot, (counts.get(dot) ?? 0) + 1);
    const ground = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
    const rows = Array(35).fill(0);
    dots.forEach((dot, place) => {
        if (dot !== ground) rows[Math.floor((place * 35) / dots.length)] += 1;
    });
    return {colours: counts.size, rows};
})()"""
_PAINTED = f"({_INK})?.rows.filter((dots) => dots > 50).length > 5"  # header, prompt and keys at least
_IS_CLOSED = """getComputedStyle(document.querySelector(".closed-dialog")).display !== "none" """


@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
async def test_chromium_paints_the_chat_and_hands_it_keys(vouch: Vouch) -> None:
    with ScriptedServer([says("At ten.")]) as server:
        vouch.use_server(server.base_url)
        with serving(vouch) as (printed, process):
            async with page_in_chromium(vouch.folder) as page:
                await page.opens(printed)
                await page.until(_PAINTED)
                assert (await page.evaluates(_INK))["colours"] > 20  # letters have soft edges
                assert await page.evaluates("location.search") == ""  # the token has left the address
                assert not await page.evaluates(_IS_CLOSED)
                await page.evaluates("document.querySelector('.xterm-helper-textarea').focus()")
                await page.types("question one")
                await asyncio.sleep(0.2)  # or Enter might be taken for a part of a paste
                await page.types("\n")
                assert await asyncio.to_thread(server.wait_for_requests, 1, ENDS_WITHIN_SECONDS)
                await page.types("/quit")
                await asyncio.sleep(0.2)
                await page.types("\n")
                await page.until(_IS_CLOSED)
            assert tell_to_end(process, signal.SIGINT) == 0
    [(user, message, _, _)] = turns(vouch)
    assert (user, message) == ("ann", "question one")
