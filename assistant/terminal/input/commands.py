"""Every command that is typed with a slash, in one table, which help, completion and palette read.

A command is carried out by the method of its name, `_forget` for /forget: of `SlashCommands`, or of
`PlainCommands` where the screen does it another way. What opens something on the screen stands in
`ChatActions._doors` too; a key that does the same names it in `keys.py`. Nothing of the screen library is
imported here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

CarriedOutBy = Literal["both", "plain", "screen"]


@dataclass(frozen=True)
class Command:
    """One command."""

    name: str
    arguments: str  # as help shows them: what may be left out stands in brackets
    about: str
    by: CarriedOutBy = "both"  # plain: in plain mode by lines, on the screen by a door
    instead: str = ""  # of one of the screen alone: what to do in plain mode

    @property
    def told(self) -> str:
        """What help says of it."""
        return f"{self.arguments}: {self.about}" if self.arguments else self.about

    @property
    def needs_words(self) -> bool:
        """Without arguments it does nothing."""
        return self.arguments[:1].isupper()


FIND = "find"  # behind /model: looks for servers on this machine
COMMANDS = (
    Command("/help", "[WORDS]", "keys and commands, or those with these words"),
    Command("/remember", "TEXT", "keep a note in your own memory"),
    Command(
        "/forget", "ID or WORDS", "forget a passage for good, --yes without being asked; words find its ID"
    ),
    Command("/undo", "[RECEIPT]", "take back the latest write of this session, or that one; p3: proposal 3"),
    Command("/instead", "ID TEXT", "the text takes the place of that memory"),
    Command("/both", "ID", "a memory and what it took the place of both hold"),
    Command(
        "/memory", "[WORDS or ID]", "list what is remembered of you, with words also what you said; one whole"
    ),
    Command(
        "/profile", "[TEXT or pin ID or unpin ID]", "what always holds of you and goes with each question"
    ),
    Command("/why", "[TURN]", "what the last answer was made from"),
    Command("/learned", "[TURN]", "what was learned from the last message, or that turn's"),
    Command("/good", "[TURN]", "the last answer, or that turn's, helped"),
    Command("/bad", "[TURN or WHY]", "it did not help"),
    Command("/teach", "TEXT", "what the last answer should have said"),
    Command("/share", "ID", "offer a memory of yours to every user, through the check"),
    Command("/privacy", "", "what is kept about you, who can read it, what left this machine"),
    Command("/ingest", "PATH", "read a document into your own memory"),
    Command("/attach", "[PATH]", "an image that goes with your next message; off: none"),
    Command(
        "/docs", "[WORDS]", "the documents that were read, by words of their names; @NAME asks only that one"
    ),
    Command("/train", "[start, stop, pause, continue or back]", "how training goes, and steering it"),
    Command("/sessions", "[WORDS]", "list your sessions, by words of their titles"),
    Command("/rename", "TITLE", "give this session another title"),
    Command("/archive", "[SESSION]", "archive this session or that one, or bring it back"),
    Command("/replay", "[SESSION]", "this session, or that one, by the live model and the one before"),
    Command("/model", "[NAME or find]", "the chat model that answers here, another one, or look for servers"),
    Command("/kb", "[NAME]", "talk over a knowledge base here; off: no more"),
    Command(
        "/system",
        "[TEXT or @NAME]",
        "asked of all answers of a chat model here; @NAME: a persona, off: nothing, back: the settings'",
    ),
    Command("/plain", "", "continue this session in plain mode"),
    Command("/export", "[PATH]", "write this session to a new file, Markdown or .json"),
    Command("/new", "[TITLE]", "begin a new session"),
    Command("/private", "", "begin a private session: nothing is remembered"),
    Command("/find", "[WORDS]", "find them in this session, and in all others", by="plain"),
    Command(
        "/retry",
        "[TURN]",
        "answer your last message again, or that turn's; the earlier answer is kept",
        by="plain",
    ),
    Command(
        "/change",
        "[TURN] [TEXT]",
        "change your last message, or that turn's; the old one is kept",
        by="plain",
    ),
    Command("/branch", "[NUMBER]", "the next branch of this session, or that one", by="plain"),
    Command("/compare", "[TURN]", "answers by the live model and the one before", by="plain"),
    Command("/edit", "[TEXT]", "write a message in your editor", by="plain"),
    Command("/training", "", "how training goes, and steering it", by="plain"),
    Command("/notices", "", "every notice of this chat", by="plain"),
    Command("/log", "[WORDS]", "the last lines of the log, or those with these words", by="plain"),
    Command(
        "/copy",
        "[code]",
        "copy the last answer, or its next block of code",
        by="screen",
        instead="Plain mode copies nothing: select the text in your terminal, or /export writes a file.",
    ),
    Command(
        "/suspend",
        "",
        "back to the shell until `fg`",
        by="screen",
        instead="Ctrl+Z goes back to the shell, and fg comes back here.",
    ),
    Command(
        "/theme",
        "[NAME]",
        "change the colours",
        by="screen",
        instead="Plain mode has no colours: the screen has themes, which vouch chat opens without --plain.",
    ),
    Command("/quit", "", "leave (also Ctrl+D)"),
)
NAMED = {command.name: command for command in COMMANDS}


def told_of(*by: CarriedOutBy) -> dict[str, str]:
    """What help says of the commands that these carry out, by name, in the order of the table."""
    return {command.name: command.told for command in COMMANDS if command.by in by}


OF_BOTH = told_of("both")
IN_PLAIN = told_of("both", "plain")
OF_SCREEN = told_of("plain", "screen")  # those that the screen does itself, also before it is ready


def with_words(lines: Iterable[str], words: str) -> list[str]:
    """Those lines of help that have all of these words; all lines where none is given."""
    wanted = words.casefold().split()
    return [line for line in lines if all(word in line.casefold() for word in wanted)]
