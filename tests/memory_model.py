"""A chat model behind a scripted server that fills the forms of memory's agents as a test says.

model = MemoryModel(claims=[fact("The mill is old.")], verdict=verdict("correct", 0.95))
with model.serving() as server:
    ...
model.kinds            # what it was asked, in order: answer, claims, prior, verdict, change
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from scripted_server import Behaviour, Call, Request, ScriptedServer, computes

from agents.prompts import claims, curating, weighing

Kind: TypeAlias = Literal["answer", "claims", "prior", "verdict", "change"]

_OPENINGS: dict[Kind, str] = {
    "claims": claims.INSTRUCTIONS,
    "prior": weighing.PRIOR_INSTRUCTIONS,
    "verdict": weighing.VERDICT_INSTRUCTIONS,
    "change": curating.INSTRUCTIONS,
}
ADD = {"can_both_be_true": True, "action": "add", "number": 0}
NO_IDEA = {"knows_topic": False, "paragraph": ""}


def stated(quote: str, **other: object) -> dict[str, object]:
    """A claim as the form wants it: a fact of the world, unless said otherwise."""
    fact = {"kind": "fact", "about": "world", "is_hearsay": False}
    return {"quote": quote, **fact, **other}


def verdict(
    status: str = "unknown", confidence: float = 0.9, decided_by: str = "nothing"
) -> dict[str, object]:
    return {"status": status, "confidence": confidence, "decided_by": decided_by}


def decided_by(passage: str, status: str) -> Callable[[str], dict[str, object]]:
    """A sure verdict by the passage that reads so, whatever its number is."""

    def reply(asked: str) -> dict[str, object]:
        found = re.search(rf"\[(\d)\][^\[]*> {re.escape(passage)}", asked)
        assert found, f"{passage!r} was not shown: {asked}"
        return verdict(status, 0.95, found[1])

    return reply


def kind_of(request: Request) -> Kind:
    """What a request is for, by what it opens with."""
    if request.wants_stream:
        return "answer"
    opening = str(request.body["messages"][0]["content"])
    return next(kind for kind, instructions in _OPENINGS.items() if opening.startswith(instructions))


@dataclass
class Asked:
    """One request, as the server saw it."""

    kind: Kind
    text: str  # of all its messages
    began: float  # on the clock of time.monotonic
    ended: float = 0.0  # when its last word was sent; 0: the client did not wait for it

    def sends(self, pieces: Iterable[str]) -> Iterator[str]:
        """These pieces; the end is noted before the client can know of it."""
        yield from pieces
        self.ended = time.monotonic()


@dataclass
class MemoryModel:
    """What the model replies to each kind of request: a text as it is, all else as JSON.

    A function makes its reply from the text of the request.
    """

    answer: Sequence[str] = ("I ", "see.")
    claims: Any = field(default_factory=list)  # of every message; or a text in place of the whole reply
    prior: Any = field(default_factory=lambda: dict(NO_IDEA))
    verdict: Any = field(default_factory=verdict)
    change: Any = field(default_factory=lambda: dict(ADD))
    memory_behaves: Behaviour | None = None  # in place of every reply but answers
    pause_seconds: float = 0.0  # before each piece of an answer
    asked: list[Asked] = field(default_factory=list)

    @property
    def kinds(self) -> list[Kind]:
        return [one.kind for one in self.asked]

    def texts(self, *kinds: Kind) -> str:
        """All that was sent with requests of these kinds."""
        return "\n".join(one.text for one in self.asked if one.kind in kinds)

    def serving(self) -> ScriptedServer:
        """A server of this model."""
        return ScriptedServer(then=self._behave)

    def _behave(self, call: Call) -> None:
        kind = kind_of(call.request)
        text = "\n".join(str(message["content"]) for message in call.request.body["messages"])
        one = Asked(kind, text, call.request.at_seconds)
        self.asked.append(one)
        if kind == "answer":
            computes(lambda _: one.sends(self.answer), pause_seconds=self.pause_seconds)(call)
        elif self.memory_behaves is not None:
            self.memory_behaves(call)
        else:
            reply = getattr(self, kind)
            if callable(reply):
                reply = reply(text)
            if kind == "claims" and isinstance(reply, list):
                reply = {"claims": [each for each in reply if str(each.get("quote")) in text]}
            said = reply if isinstance(reply, str) else json.dumps(reply)
            computes(lambda _: one.sends([said]))(call)
