"""A closed terminal stops nobody: what is written to it is written nowhere."""

from __future__ import annotations

import io
from threading import Thread

from textual.drivers import linux_driver
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread
from textual.drivers.linux_driver import LinuxDriver

from assistant.terminal.app.lasting_output import LastingWriter, lasting_output


class Closed(io.StringIO):
    def write(self, _text: str) -> int:
        raise OSError(5, "Input/output error")


def test_whoever_writes_to_a_closed_terminal_is_never_held_up() -> None:
    writer = LastingWriter(Closed())
    writer.start()

    def writes() -> None:
        for _ in range(3 * MAX_QUEUED_WRITES):
            writer.write("x")
        writer.stop()

    writing = Thread(target=writes, daemon=True)
    writing.start()
    writing.join(60)
    assert not writing.is_alive()


def test_the_library_writes_so_while_the_screens_are_open() -> None:
    with lasting_output(LinuxDriver):
        assert linux_driver.WriterThread is LastingWriter
    assert linux_driver.WriterThread is WriterThread
