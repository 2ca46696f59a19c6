"""What a turn has come to know so far, so that it can be kept, told and logged however it ends."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from agents.base.chat_interfaces import CutAtLimit, DialogueState, Image, ReplyRequest, Source, Tokens
from agents.base.citations import Citations
from agents.retrieval.reranker import Reranked
from agents.retrieval.retriever import Retrieved
from assistant.turns.conversation import noted
from assistant.turns.events import Finished
from assistant.turns.images import noted as noted_images
from stores.base.errors import VouchError
from stores.conversation.journal import FoundPassage, Judged, Outcome
from stores.conversation.summaries import GONE_TO

_EXPLAINED = 12  # candidates of which is kept what moved them: as many as are shown


class TurnInProgress:
    """A turn between its message and its end; each step notes what came of it."""

    def __init__(self, turn_id: int, images: Sequence[Image] = ()) -> None:
        """images: that go with its message."""
        self.turn_id, self._images = turn_id, images
        self.citations = Citations(())
        self._began = self._last = time.monotonic()
        self._milliseconds: dict[str, float] = {}
        self._pieces: list[str] = []
        self._known: dict[str, Any] = {}

    def note(self, step: str, **known: Any) -> None:
        """A step is done; how long it took, and what came of it."""
        moment = time.monotonic()
        self._milliseconds[step] = round((moment - self._last) * 1000, 2)
        self._last = moment
        self._known.update(known)
        if "request" in known:
            request: ReplyRequest = known["request"]
            self.citations = Citations((*request.sources, *request.earlier))

    def heard(self, piece: str) -> None:
        """A piece of the reply has arrived."""
        if not self._pieces:
            self._milliseconds["first word"] = round((time.monotonic() - self._began) * 1000, 2)
        self._pieces.append(piece)

    @property
    def written(self) -> str:
        """What of the reply has arrived."""
        return "".join(self._pieces)

    @property
    def has_written(self) -> bool:
        """Whether any of the reply has arrived."""
        return bool(self._pieces)

    @property
    def counted(self) -> Tokens:
        """What the model's server counted."""
        tokens: Tokens = self._known.get("tokens", Tokens())
        return tokens

    def begin_anew(self) -> None:
        """What was taken for the reply so far was thinking."""
        self._pieces.clear()

    def quoted_nothing(self) -> None:
        """Nothing was found to be quoted in place of a model that cannot be reached."""
        self._pieces.clear()
        self._known["model"] = self._known.pop("in_place_of")[0]
        self.citations = Citations(())

    def was_cut(self, cut: CutAtLimit) -> None:
        """The reply ended at the model's limit."""
        self._known["cut"] = cut

    def outcome(self, state: str, failure: str = "") -> Outcome:
        """What the journal keeps of it. failure: why it failed, if it did."""
        retrieved: Retrieved | None = self._known.get("retrieved")
        reranked: Reranked | None = self._known.get("reranked")
        request: ReplyRequest | None = self._known.get("request")
        return Outcome(
            state=state,
            answer="".join(self._pieces),
            failure=failure,
            model=self._known.get("model", ""),
            standalone=self._known.get("standalone", ""),
            query=self._known.get("query", "") if retrieved else "",
            strategy=self._known.get("strategy", "original"),
            encoder_version=retrieved.encoder_version if retrieved else "",
            found=_found(retrieved, reranked, self.citations.numbered, request.seen if request else ()),
            judged=_judged(reranked),
            details={
                "milliseconds": self._milliseconds,
                "cited": self.citations.cited_as_shown,
                **_given(retrieved),
                **_moved(reranked),
                "invented_citations": self.citations.invented,
                "left_out": [asdict(left_out) for left_out in (request.left_out if request else ())],
                **noted_images(self._images),
                **(noted(request.sources) if request and request.is_written else {}),
                **({GONE_TO: request.gone_to} if request and request.gone_to else {}),
                **({"sent_of": request.sent_of} if request and request.sent_of else {}),
                "is_cut": "cut" in self._known,
                **self._asked(),
                **self._talked_over(),
                **self._quoted_instead(),
                **({"tokens": asdict(self.counted)} if self.counted else {}),
                **({"sent_to": self._known["server"]} if "server" in self._known else {}),
                **({"trained": dict(trained)} if (trained := self._known.get("trained")) else {}),
            },
        )

    def _asked(self) -> dict[str, bool]:
        """That its message asked nothing and was answered from nothing; mostly nothing."""
        is_answered = bool(self.citations.cited)
        return {"asks_nothing": True} if self._known.get("tells") and not is_answered else {}

    def _talked_over(self) -> dict[str, dict[str, Any]]:
        """Which knowledge base it is about, and what is wanted of it; mostly nothing."""
        state: DialogueState | None = self._known.get("state")
        if state is None:
            return {}
        told: dict[str, Any] = {
            "name": state.base,
            "entities": state.entities,
            "meeting": state.meeting,
            "wanted": state.told,
        }
        told |= {"constraints": dict(state.constraints), "is_generated": self.citations.is_generated}
        told |= {"read": dict(state.read)} if state.read else {}
        return {"knowledge_base": told}

    def _quoted_instead(self) -> dict[str, dict[str, str]]:
        """Which chat model could not be reached, and why; mostly nothing."""
        if "in_place_of" not in self._known:
            return {}
        model, error = self._known["in_place_of"]
        return {"in_place_of": {"model": model, "failure": error.message}}

    def told_to_the_log(self, state: str) -> dict[str, object]:
        """How it ended, how long the steps took and how much was found; no text."""
        retrieved: Retrieved | None = self._known.get("retrieved")
        return {
            "state": state,
            "model": self._known.get("model", ""),
            "tokens": asdict(self.counted),
            "candidates": len(retrieved.candidates) if retrieved else 0,
            "left_out": len(self._known["request"].left_out) if "request" in self._known else 0,
            "is_cut": "cut" in self._known,
            "milliseconds": dict(self._milliseconds),
        }

    def finished(self, state: str, error: VouchError | None = None) -> Finished:
        """What is told of its end to those who watch it."""
        sources = {source.number: source for source in self.citations.numbered}
        return Finished(
            self.turn_id,
            state,
            "".join(self._pieces),
            tuple(sources[number] for number in self.citations.cited_as_shown),
            tuple(self.citations.invented),
            time.monotonic() - self._began,
            error,
            self._known.get("cut"),
            self._known.get("in_place_of", ("", None))[1],
            tuple(sources.values()),
            self.citations.command,
            request.sent_of if (request := self._known.get("request")) else None,
        )


def _found(
    retrieved: Retrieved | None, reranked: Reranked | None, sources: Sequence[Source], seen: Iterable[int]
) -> list[FoundPassage]:
    """What was found, and what the model saw besides. seen: versions that it saw under no number."""
    if retrieved is None:
        return []
    order = reranked.order if reranked else retrieved.candidates
    numbers = dict.fromkeys(seen, 0) | {
        source.passage.version_id: source.number for source in sources if source.passage.version_id > 0
    }
    beside = numbers.keys() - {candidate.passage.version_id for candidate in order}
    return [
        FoundPassage(
            version_id=candidate.passage.version_id,
            found_rank=candidate.found_rank,
            dense=candidate.dense,
            lexical=candidate.lexical,
            lift=candidate.lift,
            score=candidate.score,
            final_rank=rank,
            citation=numbers.get(candidate.passage.version_id),
        )
        for rank, candidate in enumerate(order, start=1)
    ] + [
        FoundPassage(  # not found for this message: the conversation or what always holds brought it
            version_id=version_id,
            found_rank=0,
            dense=0.0,
            lexical=0.0,
            lift=0.0,
            score=0.0,
            final_rank=rank,
            citation=numbers[version_id],
        )
        for rank, version_id in enumerate(sorted(beside), start=len(order) + 1)
    ]


def _given(retrieved: Retrieved | None) -> dict[str, dict[str, float]]:
    """What candidates gained as statements that give what was asked for, by version id; mostly nothing."""
    candidates = retrieved.candidates if retrieved else ()
    given = {str(c.passage.version_id): c.given for c in candidates if c.given}
    return {"given": given} if given else {}


def _moved(reranked: Reranked | None) -> dict[str, dict[str, list[tuple[str, float]]]]:
    """Which features of relevance moved the first candidates, and how far, by version id."""
    if reranked is None or not reranked.moved:
        return {}
    first = [candidate.passage.version_id for candidate in reranked.order][:_EXPLAINED]
    return {
        "moved": {str(i): [(m.feature, round(m.by, 3)) for m in reranked.moved.get(i, ())] for i in first}
    }


def _judged(reranked: Reranked | None) -> list[Judged]:
    return [
        Judged(
            version_id=judgement.candidate.passage.version_id,
            judge=judgement.judge,
            label=judgement.verdict.label,
            score=judgement.verdict.score,
            found_rank=judgement.candidate.found_rank,
            tokens_in=judgement.tokens_in,
            tokens_out=judgement.tokens_out,
        )
        for judgement in (reranked.judgements if reranked else ())
    ]
