"""What programs send by OpenAI's protocol: a field that is not known is refused, and not passed over."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stores.base.errors import WrongUsage

_MOST_TEXTS = 256
_LONGEST_TEXT = 20_000  # characters, of which an encoder reads the beginning
_MOST_MESSAGES = 2_000
_MOST_TOOLS = 128


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")
    model: str = Field(max_length=200)


class StreamOptions(BaseModel):
    """How a stream ends."""

    include_usage: bool = False
    include_obfuscation: bool = False


class ChatBody(_Body):
    """Of /v1/chat/completions."""

    messages: list[dict[str, Any]] = Field(min_length=1, max_length=_MOST_MESSAGES)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    metadata: dict[str, Any] | None = None  # session: the number of one of this user's
    n: Literal[1] | None = None
    store: bool | None = None  # false: answered in a private session, and nothing is remembered
    response_format: Literal["text"] | dict[Literal["type"], Literal["text"]] | None = None
    modalities: list[Literal["text"]] | None = None
    logprobs: Literal[False] | None = None
    # What the settings decide, whatever a program asks for.
    temperature: Any = None
    top_p: Any = None
    max_tokens: Any = None
    max_completion_tokens: Any = None
    stop: Any = None
    presence_penalty: Any = None
    frequency_penalty: Any = None
    logit_bias: Any = None
    seed: Any = None
    reasoning_effort: Any = None
    verbosity: Any = None
    service_tier: Any = None
    parallel_tool_calls: Any = None
    prompt_cache_key: Any = None
    safety_identifier: Any = None
    user: Any = None  # never who asks: that is said by the key
    # Tools of the program: offered to the chat model, and called by the program alone.
    tools: list[dict[str, Any]] | None = Field(default=None, max_length=_MOST_TOOLS)
    tool_choice: str | dict[str, Any] | None = None

    @property
    def session(self) -> int | None:
        """The session that the program names. Raises `WrongUsage` where that is no number."""
        named = (self.metadata or {}).get("session")
        if named is None:
            return None
        text = str(named)
        if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 0 < int(text) < 2**31):
            raise WrongUsage(f"metadata.session must be the number of a session, not {text[:40]!r}")
        return int(text)


class EmbeddingsBody(_Body):
    """Of /v1/embeddings."""

    input: str | list[str]
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Any = None
    user: Any = None

    @property
    def texts(self) -> list[str]:
        """What is to be encoded. Raises `WrongUsage` where that is nothing, or too much at once."""
        texts = [self.input] if isinstance(self.input, str) else self.input
        if not texts or not all(text.strip() for text in texts):
            raise WrongUsage("input holds an empty text")
        if len(texts) > _MOST_TEXTS:
            raise WrongUsage(f"input holds {len(texts):,} texts; {_MOST_TEXTS} at once are the most")
        if max(map(len, texts)) > _LONGEST_TEXT:
            raise WrongUsage(f"input holds a text of more than {_LONGEST_TEXT:,} characters")
        return texts


def told(error: ValidationError) -> str:
    """What is wrong with a body, in a sentence."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(map(str, first["loc"])) or "the body"
    if first["type"] == "extra_forbidden":
        return f"{field} is not known here"
    return f"{field}: {first['msg'][:1].lower()}{first['msg'][1:]}"
