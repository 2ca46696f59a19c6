"""How requests to one model of one server are put, learned from what it refused.

    a refusal that names a parameter -> the same request without it, or with what the server wants instead

OpenAI's reasoning models take `max_completion_tokens` and no `temperature`; some servers know no
`stream_options`, some templates no system message. What was learned is kept in a file, so that each is
refused once.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

MOST_ADAPTED = 6  # times that one request is put anew

PROTOCOLS = ("chat", "responses")
_LIMITS = ("max_tokens", "max_completion_tokens")
_MOST_BYTES = 1_000_000  # of the file
_MOST_TOKENS = 100_000_000
_LEAST_SHARE, _MOST_SHARE = 0.4, 2.0
_SPARE = 1.1  # by which a share is taken to be larger than it was counted
_SURE_FROM = 200  # tokens, from which on a count tells the share


@dataclass(frozen=True)
class Habits:
    """What differs from the protocol as most servers speak it. Names are those of its parameters."""

    left_out: tuple[str, ...] = ()
    limit: str = "max_tokens"  # how the length of a reply is called
    protocol: str = "chat"  # or "responses", where the server says that the model has only that
    instructions: str = "system"  # the role that they have; "user": they stand before the first message
    context_tokens: int = 0  # that it can read and write at once; 0: not known
    tokens_share: float = 1.0  # of the tokens that `estimated_tokens` gives, those that it counts

    def adapted(self, words: str, parameter: str, sent: Collection[str]) -> Habits | None:
        """What a refusal asks for; None where it names nothing that could be put otherwise.

        words: what the server said. parameter: what it named as the reason, or "". sent: names of the
        parameters of the request that it refused.
        """
        said = words.lower()
        names = sorted(sent, key=lambda name: (name != parameter, -len(name)))
        refused = next((name for name in names if name == parameter or name in said), "")
        if refused == "max_tokens" and "max_tokens" in sent:
            return replace(self, limit="max_completion_tokens")
        if refused:
            return replace(self, left_out=(*self.left_out, refused))
        if "role" in said and self.instructions in said and self.instructions != "user":
            is_developer = "developer" in said and self.instructions == "system"
            return replace(self, instructions="developer" if is_developer else "user")
        return None

    def counted(self, estimated: int, tokens: int) -> Habits | None:
        """With the share that one request tells; None where it tells nothing.

        A larger share counts at once, a smaller one by a fifth: one text has more tokens than another.
        """
        if estimated < _SURE_FROM or tokens <= 0:
            return None
        share = min(_MOST_SHARE, max(_LEAST_SHARE, _SPARE * tokens / estimated))
        if share < self.tokens_share:
            share = self.tokens_share + (share - self.tokens_share) / 5
        return replace(self, tokens_share=share)


class KnownHabits:
    """The habits of servers, in a file of one object; what cannot be read or written is learned again."""

    def __init__(self, file: Path | None) -> None:
        """file: None keeps them in this process alone."""
        self._file = file

    def of(self, server: str, model: str) -> Habits:
        """Those of one model, as far as they are known."""
        found = self._all().get(f"{server} {model}")
        with suppress(TypeError, ValueError):
            known = Habits(**found) if isinstance(found, dict) else Habits()
            is_text = all(isinstance(name, str) for name in known.left_out)
            is_known = known.limit in _LIMITS and known.protocol in PROTOCOLS
            is_known = is_known and known.instructions in ("system", "developer", "user")
            is_length = isinstance(known.context_tokens, int) and 0 <= known.context_tokens < _MOST_TOKENS
            if is_text and is_known and is_length and _LEAST_SHARE <= known.tokens_share <= _MOST_SHARE:
                return replace(known, left_out=tuple(known.left_out))
        return Habits()

    def learn(self, server: str, model: str, habits: Habits) -> None:
        """Keeps them."""
        if self._file is None:
            return
        known = self._all() | {f"{server} {model}": asdict(habits)}
        new = self._file.with_suffix(".new")
        with suppress(OSError):
            new.write_text(json.dumps(known, indent=1), encoding="utf-8")
            new.replace(self._file)

    def _all(self) -> dict[str, object]:
        if self._file is None:
            return {}
        with suppress(OSError, ValueError, RecursionError):
            if self._file.stat().st_size <= _MOST_BYTES:
                found = json.loads(self._file.read_text(encoding="utf-8"))
                return found if isinstance(found, dict) else {}
        return {}
