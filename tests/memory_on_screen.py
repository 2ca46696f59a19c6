"""The Memory screen as a person uses it: opened, settled, with memories to look at and no model to load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from screen_fixtures import ChatOnScreen

from agents.base.claim_interfaces import Claim, Curation, Weighed
from agents.base.interfaces import Candidate
from agents.memory.classifier import Classifier
from assistant.remembering.weighing import Agents
from assistant.terminal.memory.memory_screen import MemoryScreen
from assistant.wiring.assistant import Assistant
from stores.base.statement_links import NewLink
from stores.claims.claims import NewClaim

T = TypeVar("T")


def assistant_of(chat: ChatOnScreen) -> Assistant:
    return chat.app.chat.desk._known_assistant


async def stored(chat: ChatOnScreen, work: Callable[[Assistant, int], T]) -> T:
    """Something written or read on the assistant's own thread."""
    return await chat.app.chat.desk.do(work)


async def remembered(chat: ChatOnScreen, *texts: str, **told: Any) -> list[int]:
    def work(assistant: Assistant, user_id: int) -> list[int]:
        return [assistant.stores.knowledge.remember(user_id, text, **told)[0] for text in texts]

    return await stored(chat, work)


async def opened(chat: ChatOnScreen, *, key: str = "f3") -> MemoryScreen:
    await chat.opens(MemoryScreen, key)
    await settled(chat)
    assert isinstance(chat.screen, MemoryScreen)
    return chat.screen


async def settled(chat: ChatOnScreen) -> None:
    """The list and the box are those of what is marked."""

    def is_settled() -> bool:
        screen = chat.screen
        assert isinstance(screen, MemoryScreen)
        return screen._found is not None and not screen._loads and not screen._looks

    await chat.until(is_settled)


def texts(chat: ChatOnScreen) -> list[str]:
    screen = next(s for s in chat.app.screen_stack if isinstance(s, MemoryScreen))
    return [row.text for row in screen._rows]


async def scope(chat: ChatOnScreen, name: str) -> None:
    while f"[{name} (" not in chat.text:
        await chat.presses("tab")
        await settled(chat)


class UndecidedAgents:
    """What weighs without a model: no shared passage decides anything, and nothing known is meant."""

    async def weigh(self, _claim: Claim, _evidence: Sequence[Candidate]) -> Weighed:
        return Weighed("unknown", 1.0, by="fake")

    async def curate(self, claim: Claim, *_: object) -> Curation:
        return Curation("add", text=claim.text)

    async def relate(self, *_: object) -> list[NewLink]:
        return []


def weighs_without_a_model(chat: ChatOnScreen) -> None:
    fakes: Any = UndecidedAgents()
    agents = Agents(fakes, fakes, Classifier(shared_from=0.9), fakes)
    assistant_of(chat).turns.__dict__["_remembering_agents"] = agents


def put_claim(assistant: Assistant, user: int, *, text: str) -> int:
    return assistant.stores.claims.put_one(
        user, NewClaim(text=text, quote=text, kind="fact", about="world"), origin="share"
    )
