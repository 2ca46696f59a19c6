"""What a session over a knowledge base has come to: wishes, what is talked about, what the message asks.

each message, read by the parser -> changes -> wishes that hold -> entities that meet them -> `DialogueState`
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.base.chat_interfaces import DialogueState
from agents.dialogue.chat_wish_parser import noted
from agents.dialogue.knowledge_table import NAME, KnowledgeTable
from agents.dialogue.wish_parser import Meant, WishParser, wishes_after
from stores.base.wishes import Wish

UNCLEAR = "unclear"  # what a message does that wants something, none of which was understood


def state_of(
    table: KnowledgeTable,
    parser: WishParser | None,
    messages: Sequence[str],
    shown: Sequence[str],
    by_model: Sequence[Meant | None] = (),
) -> DialogueState:
    """messages: of the user, oldest first. shown: the answers before the last message.

    by_model: of the messages, what a chat model read in them, if it did; in place of the parser's reading.

    Talked about are the entities that the last message names, the best ones that it asks for, else those of
    the last answer that names any, unless the message wants something else. parser: None where nothing is
    read, see `KnowledgeTable.state`.
    """
    if parser is None or not messages:
        return table.state(messages, shown)
    read = [*by_model, *[None] * (len(messages) - len(by_model))]
    meant = [own or parser.meant(message, table) for own, message in zip(read, messages, strict=True)]
    talked = [table.focus(message, shown[:at])[:1] for at, message in enumerate(messages)]
    wishes = wishes_after(table, meant, talked)
    last, meeting = meant[-1], table.meeting(wishes)
    names = any(one.column == NAME for one in table.named_in(messages[-1]))
    focus: list[int] = []
    if last.best and (meeting or not wishes):
        column, end = last.best
        focus = table.best(column, highest=end == "highest", of=meeting if wishes else None)
    elif names or not (last.best or last.changes or last.act == "count"):
        focus = table.focus(messages[-1], shown)
    values = {wish.column: wish.values[0] for wish in wishes if _is_one_value(wish)}
    return DialogueState(
        base=table.name,
        entities=table.size,
        constraints=values,
        limits=tuple(wish for wish in wishes if not _is_one_value(wish)),
        meeting=len(meeting),
        focus=tuple(focus),
        asks_for_more=not focus,
        asked=last.asks,
        best=last.best,
        act=UNCLEAR if _is_unclear(last) and not names else last.act,
        unsure=last.unsure,
        read=noted(last) if read[-1] else None,
        alone=_alone(table, last, wishes),
    )


def _alone(table: KnowledgeTable, last: Meant, wishes: Sequence[Wish]) -> str:
    """What a message that counts wants by itself, where more is wanted from before."""
    own = wishes_after(table, [last], [[]]) if last.act == "count" else []
    if not own or len(own) >= len(wishes):
        return ""
    return f"{', '.join(wish.told for wish in own)} alone: {len(table.meeting(own))}"


def _is_one_value(wish: Wish) -> bool:
    return wish.operator == "is" and len(wish.values) == 1


def _is_unclear(meant: Meant) -> bool:
    return meant.act == "find" and not (meant.changes or meant.asks or meant.best)
