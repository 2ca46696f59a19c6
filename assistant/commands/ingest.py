"""vouch ingest: documents into the user's memory, or the shared one."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, Words
from stores.base.errors import UnreadableDocument, WrongUsage
from stores.base.one_line import json_line, one_line

if TYPE_CHECKING:
    from assistant.library.documents import Readable
    from assistant.settings.config import ScaleSettings


_KINDS = (
    "Reads text (.txt .md .rst .org .html), office files (.pdf .docx .pptx .xlsx .epub), tables (.csv .tsv), "
    "e-mails (.eml), notebooks (.ipynb), source code, records (.jsonl .jsonl.gz), and folders of them."
)


@click.command("ingest", epilog=_KINDS)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--shared", is_flag=True, help="For every user; without it, for you alone.")
@click.option(
    "--name", type=Words(), metavar="NAME", help="What to call the text on standard input (PATH is -)."
)
@click.option(
    "--into",
    type=Words(),
    metavar="NAME",
    help="The collection that it comes into, asked alone by `--in NAME` and @NAME; else a folder is one.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be read.")
@common_options
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    shared: bool,
    name: str | None,
    into: str | None,
    dry_run: bool,
) -> int:
    """Read documents, cut them into passages, and make these findable.

    The same content twice is one document; a changed document replaces its passages. Interrupt it
    when you like: what is done is kept, and the same command goes on with the rest. A terminal is told of
    the records of a .jsonl file in one line; a pipe, or who asks with -v, of each in its own.

    \b
    Examples:
      vouch ingest notes/ report.pdf
      vouch ingest --shared handbook.docx
      vouch ingest laws/*.pdf --into laws
      curl -s https://example.org/rules.txt | vouch ingest - --name rules
    """
    call = Invocation(ctx)
    if not paths:
        raise WrongUsage("nothing to read: name a file or a folder", hint="`vouch ingest --help` shows how.")
    from assistant.library import documents
    from assistant.library.ingest import count_documents

    reads_stdin = "-" in paths
    if reads_stdin and not name:
        raise WrongUsage("text from standard input needs a name", hint="Add --name NAME.")
    if name and re.fullmatch(r"\s*session \d+\s*", name):
        raise WrongUsage(f"{name!r} is what a conversation is called", hint="Choose another --name.")
    found = documents.find_documents(path for path in paths if path != "-")
    total = count_documents(found.files) + reads_stdin
    errors = Errors(call)
    for unreadable in found.unreadable:
        errors.tell(unreadable)
    if found.skipped:
        call.tell(f"Passed over {found.skipped} hidden or unreadable kinds of files in folders.")
    to_read = read(found.files, name if reads_stdin else None, call.settings.scale)
    is_brief = sys.stdout.isatty() and not call.is_verbose
    told_as_one = documents.record_files(found.files) if is_brief else []
    if dry_run:
        _dry_run(call, to_read, errors, told_as_one)
    else:
        summary = f"ingested {_summary(paths, name)}"
        store(
            call, to_read, total, errors, told_as_one,
            shared=shared, summary=summary, into=into, paths=[Path(path) for path in paths if path != "-"],
            stream=name if reads_stdin else None,
        )  # fmt: skip
    return 1 if errors.count else 0


class Errors:
    """Files that cannot be read, each told when it comes."""

    def __init__(self, call: Invocation) -> None:
        self._call = call
        self.count = 0

    def tell(self, error: UnreadableDocument) -> None:
        """Tells of one."""
        self.count += 1
        if self._call.as_json:
            told = {"schema": 1, "error": error.reason, "code": error.exit_code, "source": error.source}
            click.echo(json_line(told), err=True)
        else:
            click.echo(f"vouch: {one_line(error.message)}", err=True)


def read(files: Iterable[Path], stdin_name: str | None, scale: ScaleSettings) -> Iterator[Readable]:
    """The documents of files, what these were like, and standard input where it has a name."""
    from assistant.library.reading import read_files
    from assistant.library.reading_process import ReadingProcess

    yield from read_files(files, scale)
    if stdin_name:
        with ReadingProcess() as reading:
            yield from reading.read_standard_input(stdin_name)


class _Lines:
    """What became of each document, a line each; of a file of records, one line for all."""

    def __init__(self, say: Callable[[str, int, str, str], None], record_files: Iterable[str]) -> None:
        """say: which document or how many records, passages, what became of them, source.

        record_files: those whose records are told as one.
        """
        self._say = say
        self._record_files = frozenset(record_files)
        self._file = ""  # of the records that are read
        self._became: Counter[str] = Counter()  # its records
        self._passages = 0

    def tell(self, document: str, passages: int, became: str, source: str) -> None:
        """A document is done; it is told of at once unless it is a record."""
        file = self._file_of(source)
        if file != self._file:
            self.end()
        if not file:
            self._say(document, passages, became, source)
            return
        self._file = file
        self._became[became] += 1
        self._passages += passages

    def end(self) -> None:
        """Tells of the file whose records were read last, as far as it was read."""
        file, counted, passages = self._file, self._became, self._passages
        self._file, self._became, self._passages = "", Counter(), 0
        if file:
            records = f"{counted.total()} record{'s' if counted.total() != 1 else ''}"
            self._say(records, passages, ", ".join(f"{n} {became}" for became, n in counted.items()), file)

    def _file_of(self, source: str) -> str:
        """The file of a record, which is named path#id; empty for any other document."""
        ends = (place for place, character in enumerate(source) if character == "#")
        return next((source[:end] for end in ends if source[:end] in self._record_files), "")


def _dry_run(
    call: Invocation,
    to_read: Iterable[Readable],
    errors: Errors,
    record_files: Iterable[str],
) -> None:
    def say(_document: str, passages: int, became: str, source: str) -> None:
        click.echo(f"{one_line(source)}\t{counted(passages)}\t{became}")

    from assistant.library.documents import ReadFile

    lines = _Lines(say, record_files)
    for document in to_read:
        if isinstance(document, UnreadableDocument):
            errors.tell(document)
        elif isinstance(document, ReadFile):
            pass
        elif call.as_json:
            call.give(
                {"source": document.source, "title": document.title, "passages": len(document.passages)}
            )
        else:
            lines.tell("", len(document.passages), "would be read", document.source)
    lines.end()


def store(
    call: Invocation,
    to_read: Iterable[Readable],
    total: int,
    errors: Errors,
    record_files: Iterable[str],
    *,
    shared: bool,
    summary: str,
    into: str | Mapping[str, str] | None = None,
    paths: Sequence[Path] = (),
    stream: str | None = None,
) -> None:
    """Stores what is read and tells what became of each. total: documents, for telling how many are left.

    into: the collection it comes into, or by file the one that it stands in; else each folder of `paths` is
    one. stream: what standard input is called.
    """
    from assistant.library import shelf
    from assistant.library.ingest import Encoding
    from stores.base.passages import SHARED, own_space
    from stores.memory.collections import require_name

    began = time.monotonic()
    counts = {"new": 0, "same": 0, "replaced": 0}
    passages = 0
    line = call.progress_line()

    def say(document: str, passages: int, became: str, source: str) -> None:
        if not call.is_quiet:
            line.clear()
            click.echo(f"{document}\t{counted(passages)}\t{became}\t{one_line(source)}")

    lines = _Lines(say, record_files)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.user_id(call.user)
        assistant.catch_up()
        hindered_before = assistant.search.indexer.hindrance
        is_named = isinstance(into, str) or bool(stream) or any(path.is_dir() for path in paths)
        known = assistant.stores.library.all(user_id) if is_named else []
        if isinstance(into, str):
            require_name(into, known, shared=shared)
        if stream and any(each.collection == stream for each in known):
            raise WrongUsage(f"{stream!r} is what a collection is called", hint="Choose another --name.")
        try:
            for step in assistant.turns.ingest.run(
                user_id, SHARED if shared else own_space(user_id), to_read, summary=summary,
                into=shelf.folders(paths, known, shared=shared) if into is None else into,
            ):  # fmt: skip
                if isinstance(step, UnreadableDocument):
                    line.clear()
                    errors.tell(step)
                elif isinstance(step, Encoding):
                    done = sum(counts.values())
                    line.show(_progress(done, total, step.passages, time.monotonic() - began))
                else:
                    counts[step.change] += 1
                    passages += step.passages if step.change != "same" else 0
                    if call.as_json:
                        call.give(
                            {
                                "document": step.document_id,
                                "source": step.source,
                                "passages": step.passages,
                                "change": step.change,
                            }
                        )
                    else:
                        lines.tell(str(step.document_id), step.passages, step.change, step.source)
        except KeyboardInterrupt:
            line.clear()
            call.tell("Interrupted. What is done is kept; the same command goes on with the rest.")
            raise
        finally:
            lines.end()
            line.clear()
            seconds = time.monotonic() - began
            call.tell(
                f"{counts['new']} new, {counts['replaced']} replaced, {counts['same']} the same, "
                f"{errors.count} not readable; {counted(passages)} in {seconds:.1f} s"
            )
            hindrance = assistant.search.indexer.hindrance
            if hindrance is not None and hindered_before is None:  # else it was told already
                call.tell(f"The shared index waits: {hindrance.message}. {hindrance.hint}")
        assistant.search.encode_adapted()


def _progress(done: int, total: int, passages: int, seconds: float) -> str:
    rate = passages / seconds if seconds else 0.0
    left = f", about {_duration((total - done) * seconds / done)} left" if done else ""
    return f"{done} of {total} documents, {counted(passages)}, {rate:.0f} passages/s{left}"


def counted(count: int) -> str:
    return f"{count} passage{'s' if count != 1 else ''}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _summary(paths: tuple[str, ...], name: str | None) -> str:
    named = [name or "standard input" if path == "-" else path for path in paths]
    return ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
