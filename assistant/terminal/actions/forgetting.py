"""Forgetting for good, with what is asked before and told after it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from assistant.terminal.actions.undoing import models_taken_back
from assistant.terminal.input.menus import asked_number, is_yes
from assistant.terminal.input.typed_ids import typed_id
from stores.base.errors import NotFound, StoreUnavailable, VouchError, WrongUsage
from stores.base.one_line import one_line, short
from stores.database.working_copies import sweep_copies

if TYPE_CHECKING:
    from assistant.terminal.actions.drafts import Drafts
    from assistant.wiring.assistant import Assistant
    from stores.forgetting.forgetting import Forgetting, Forgotten, Mentions
    from stores.memory.passage_history import History
    from stores.versions.passage_lines import PassageLine

_OPTIONS = ("--yes", "--shared", "--everywhere")  # behind /forget, as behind `vouch memory forget`
_MOST_SHOWN = 10  # of what else holds a number or a name


class OthersPassage(WrongUsage):
    """A shared passage that somebody else brought, which only they can forget."""

    def __init__(self, message: str, *, hint: str, passage_id: int) -> None:
        super().__init__(message, hint=hint)
        self.passage_id = passage_id


def to_be_forgotten(
    assistant: Assistant, user_id: int, passage_ids: Sequence[int], *, shared: bool
) -> list[PassageLine]:
    """The passages as a person is shown them before anything is asked; nothing is changed.

    shared: the person has said that what every user relies on is meant too. Raises `NotFound` for what is
    not there or was forgotten, and `WrongUsage` for a shared passage where that was not said.
    """
    histories = [assistant.stores.catalogue.history(user_id, passage_id) for passage_id in passage_ids]
    for history in histories:
        if not any(version.erased_at is None for version in history.versions):
            raise NotFound(f"passage {history.passage.passage_id} was forgotten before")
        if history.passage.scope == "shared" and not shared:
            raise _is_shared(history)
    return [history.passage for history in histories]


def named_lines(passages: Sequence[PassageLine]) -> Iterator[str]:
    """A line for each passage that would go."""
    for passage in passages:
        whose = "shared with every user: " if passage.scope == "shared" else ""
        yield f"{passage.passage_id:>5}  {passage.kind:<10}  {whose}{short(passage.text)}"


def sure_to_forget(assistant: Assistant, user_id: int, passages: Sequence[PassageLine]) -> str:
    """What is asked before passages are forgotten."""
    from stores.forgetting.forgetting import Forgetting

    count = Forgetting(assistant.stores.database).answers(user_id, [each.passage_id for each in passages])
    answers = f"{count} answer{'s' if count > 1 else ''}"
    made = f"What was made from it goes too: {answers}. " if count else ""
    what = "this passage" if len(passages) == 1 else f"these {len(passages)} passages"
    whom = ", for every user" if any(passage.scope == "shared" for passage in passages) else ""
    return f"Forget {what} for good{whom}? {made}This cannot be undone. [y/N]"


def mentions_of(assistant: Assistant, user_id: int, passage_ids: Sequence[int]) -> Mentions:
    """What else of the user's own holds a number, a code or a name of these passages."""
    from stores.forgetting.forgetting import Forgetting

    return Forgetting(assistant.stores.database).mentions(user_id, passage_ids)


def mention_lines(mentions: Mentions) -> Iterator[str]:
    """What is shown before it is asked whether that goes too."""
    yield f"{_quoted(mentions.values)} {'stands' if len(mentions.values) == 1 else 'stand'} elsewhere, too:"
    turns = (f"{'turn':>5}  {turn_id:<10}  {short(message)}" for turn_id, message in mentions.turns)
    lines = [*named_lines(mentions.lines), *turns]
    yield from lines[:_MOST_SHOWN]
    if len(lines) > _MOST_SHOWN:
        yield f"... and {len(lines) - _MOST_SHOWN} more"


def sure_of_mentions(mentions: Mentions) -> str:
    """What is asked of what else holds it, behind its lines."""
    count = len(mentions.lines) + len(mentions.turns)
    return f"Forget {'that' if count == 1 else f'these {count}'} for good, too? [y/N]"


def mentions_stay(mentions: Mentions) -> str:
    """What is told where it was not asked, or denied."""
    ids = " ".join(str(line.passage_id) for line in mentions.lines)
    where = [f"passage{'s' if len(mentions.lines) > 1 else ''} {ids}"] if mentions.lines else []
    where += [_turns([turn_id for turn_id, _ in mentions.turns])] if mentions.turns else []
    also = f"; `/forget {ids}` forgets the passages too" if mentions.lines else ""
    return f"{_quoted(mentions.values)} still stands in your {' and in '.join(where)}{also}."


def _quoted(values: Sequence[str]) -> str:
    return " and ".join(f"“{short(value)}”" for value in values[:3]) + (" ..." if len(values) > 3 else "")


def not_sure(how: str) -> WrongUsage:
    """Nobody was there to be asked, and it was not said beforehand. how: the command that says it."""
    return WrongUsage(
        "forgetting is final and needs a confirmation, which cannot be asked for here; nothing was forgotten",
        hint=f"To mean it: {how}",
    )


def forget_when_sure(
    assistant: Assistant,
    user_id: int,
    text: str,
    *,
    ask: Callable[[], str | None] | None,
    menu: Callable[[], str | None] | None = None,
) -> Iterator[str]:
    """What `/forget` does with what is typed behind it, line by line.

    ask: reads the answer to what was just said; None where nobody is there. Raises `WrongUsage` then, unless
    --yes is typed too. menu: reads which of those that words may mean, where that can be asked; else None.
    """
    words = text.split()
    options = {word for word in words if word in _OPTIONS}
    meant = [word for word in words if word not in _OPTIONS]
    ids = [typed_id(word) for word in meant]
    if not ids or None in ids:
        number = yield from _could_be_meant(assistant, user_id, " ".join(meant), menu)
        if number is None:
            return
        ids = [number]
    named = list(dict.fromkeys(number for number in ids if number is not None))
    passages = to_be_forgotten(assistant, user_id, named, shared="--shared" in options)
    if "--yes" not in options:
        if ask is None:
            also = " --shared" if "--shared" in options else ""
            raise not_sure(f"/forget {' '.join(map(str, named))}{also} --yes")
        yield from named_lines(passages)
        yield sure_to_forget(assistant, user_id, passages)
        if not is_yes(ask()):
            yield "Nothing was forgotten."
            return
    mentions = mentions_of(assistant, user_id, named)
    everywhere = "--everywhere" in options
    if mentions and not everywhere and "--yes" not in options and ask is not None:
        yield from mention_lines(mentions)
        yield sure_of_mentions(mentions)
        everywhere = is_yes(ask())
    forgotten, told = forget_for_good(assistant, user_id, named, everywhere=everywhere)
    for passage in forgotten.lines:
        yield f"Forgotten: “{short(passage.text)}”."
    for passage in forgotten.with_them:
        yield f"Forgotten with it: “{short(passage.text)}”."
    if mentions and not everywhere:
        yield mentions_stay(mentions)
    yield from told


def _could_be_meant(
    assistant: Assistant, user_id: int, words: str, menu: Callable[[], str | None] | None
) -> Generator[str, None, int | None]:
    """What the words may mean, and which of it is chosen: nothing is forgotten by words alone."""
    lines = assistant.stores.catalogue.lines(user_id, scope="yours", query=words, limit=20)
    if not words or not lines:
        if words:
            yield f"You have nothing that says {one_line(words)}."
        yield "Name the passage by its number: /forget 12. /memory lists them."
        return None
    yield from named_lines(lines)
    if menu is None:
        yield f"Say which one: /forget {lines[0].passage_id}"
        return None
    yield "Which one? Type its number, or Enter for none."
    number = asked_number(menu, [line.passage_id for line in lines])
    if number is None:
        yield "Nothing was forgotten."
    return number


def forget_for_good(
    assistant: Assistant, user_id: int, passage_ids: Sequence[int] | None, *, everywhere: bool = False
) -> tuple[Forgotten, list[str]]:
    """Forgets and says what went and what still holds it. passage_ids: None for everything of the user's.

    everywhere: also what else of the user's own holds a number, a code or a name of them.
    """
    from stores.forgetting.forgetting import Forgetting

    forgetting = Forgetting(assistant.stores.database)
    forgotten = (
        forgetting.forget_everything(user_id)
        if passage_ids is None
        else forgetting.forget(user_id, passage_ids, with_mentions=everywhere)
    )
    if passage_ids is None:
        _drafts(assistant, user_id).clear()
    return forgotten, _told(assistant, forgetting, forgotten)


def forget_sessions(assistant: Assistant, user_id: int, session_ids: Sequence[int]) -> list[str]:
    """Forgets all that was said in sessions, for good; tells what went and what still holds it."""
    from stores.forgetting.forgetting import Forgetting

    forgetting = Forgetting(assistant.stores.database)
    forgotten = forgetting.forget_sessions(user_id, session_ids)
    for session_id in session_ids:
        _drafts(assistant, user_id).write(session_id, "")
    went = replace(forgotten, turns=())  # told as sessions
    learned = [line for line in forgotten.with_them if line.kind != "message"]
    sessions = f"{len(session_ids)} session{'s' if len(session_ids) != 1 else ''}"
    turns = f"{len(forgotten.turns)} turn{'s' if len(forgotten.turns) != 1 else ''}"
    return [
        f"Erased for good: {sessions} with {turns}.",
        *(f"Forgotten with it: “{short(line.text)}”." for line in learned),
        *_told(assistant, forgetting, went),
    ]


def _told(assistant: Assistant, forgetting: Forgetting, forgotten: Forgotten) -> list[str]:
    """Has the bytes go too; what went, and what still holds it."""
    sweep_copies(assistant.given.locations.data, in_use=True)
    try:
        forgetting.compact()
        bytes_told = ["Its bytes are gone from the files of the database."]
    except StoreUnavailable as error:  # a job waits
        bytes_told = [f"{error.message[0].upper()}{error.message[1:]}. {error.hint}"]
    if forgotten.indexes:
        with suppress(VouchError):  # the job waits for the next occasion
            assistant.search.indexer.catch_up()
    return [*_went(forgotten), *bytes_told, *_still_holds(forgotten, assistant)]


def _drafts(assistant: Assistant, user_id: int) -> Drafts:
    """What was typed and not sent lies in files, not in the database."""
    from assistant.terminal.actions.drafts import Drafts
    from stores.memory.memory_uses import MemoryUses

    place, name = assistant.given.locations, MemoryUses(assistant.stores.database).user_name(user_id)
    return Drafts(place.state, place.data, name)


def _went(forgotten: Forgotten) -> Iterator[str]:
    if forgotten.turns:
        yield f"Erased: the transcript of {_turns(forgotten.turns)}."
    if forgotten.answers:
        yield f"Also erased, since it was made from it: the answer of {_turns(forgotten.answers)}."
    if forgotten.answers_of_others:
        some = "1 answer" if forgotten.answers_of_others == 1 else f"{forgotten.answers_of_others} answers"
        yield f"Also erased, for the same reason: {some} of other users."
    if forgotten.marked:
        yield f"Removed word for word: {_turns(forgotten.marked)}."


def _still_holds(forgotten: Forgotten, assistant: Assistant) -> Iterator[str]:
    if forgotten.still_in:
        ids = " ".join(str(passage_id) for passage_id in forgotten.still_in)
        yield f"Other passages still say it: {ids}. `vouch memory show ID` shows one."
    if forgotten.rounds:
        yield f"Rounds of training that saw it: {', '.join(map(str, forgotten.rounds))}."
    if forgotten.models:
        yield models_taken_back(forgotten.models)
    if forgotten.indexes:
        yield "Files of the shared index keep numbers made from it, no text, until the index is built again."
    file = assistant.stores.database.file
    for kept in sorted(file.parent.glob(f"{file.stem}-before-restore-*")) if file is not None else ():
        yield f"A database from before a restore may hold it: {kept}"
    if file is None:
        yield "The database server's own log of changes (pg_wal) and its backups may hold it."
    if assistant.given.settings.log.log_text:
        yield f"The log may hold it, as log.log_text has it keep texts: {assistant.given.locations.state}"
    yield (
        "Out of reach: backups and exports made before, what was sent to a model server, what other "
        "processes show on their screens, and the same told in other words."
    )


def _turns(ids: Sequence[int]) -> str:
    return f"turn{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"


def _is_shared(history: History) -> WrongUsage:
    passage = history.passage
    own = {receipt.id for receipt in history.receipts if receipt.undone_at is None}
    writes = [version.added_by for version in history.versions if version.added_by in own]
    where = f" and stands in {one_line(passage.source)}" if passage.source else ""
    told = f"passage {passage.passage_id} is shared with every user{where}; nothing was forgotten"
    if not writes:
        hint = "Only who added it can take it back or forget it."
        return OthersPassage(told, hint=hint, passage_id=passage.passage_id)
    hint = (
        f"`vouch memory undo {writes[-1]}` takes back the write that brought it; "
        "--shared behind its number forgets it for all of them."
    )
    return WrongUsage(told, hint=hint)
