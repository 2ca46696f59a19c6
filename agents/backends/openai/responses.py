"""The protocol of responses, put in terms of chat completions, which is what is read everywhere else.

    messages, parameters  -> instructions, input, and the parameters by their names there
    events of a stream    -> chunks
    a whole response      -> a whole reply

A server is asked to store nothing, and no tool is offered to a model or run for it.
Source: platform.openai.com/docs/api-reference/responses and /responses-streaming.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_NAMES = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
_DELTAS = {
    "response.output_text.delta": "content",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
}
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_FINISHES = {"max_output_tokens": "length", "content_filter": "content_filter"}  # why it is incomplete
_NO_TOOLS = ("message", "reasoning")  # kinds of output
_FAILED = "the response failed"  # where the server says no more


def renamed(parameters: Mapping[str, object]) -> dict[str, object]:
    """Parameters of a chat completion by the names they have here."""
    put: dict[str, object] = {}
    for name, value in parameters.items():
        if name == "reasoning_effort":
            put["reasoning"] = {"effort": value}
        elif name == "response_format" and isinstance(value, Mapping):
            put["text"] = {"format": {"type": value["type"], **value["json_schema"]}}
        elif name != "stream_options":  # tokens are always counted
            put[_NAMES.get(name, name)] = value
    return put


def request(
    model: str, messages: Sequence[Mapping[str, Any]], parameters: Mapping[str, object], *, stream: bool
) -> dict[str, object]:
    """The body. messages: of a chat completion. parameters: as `renamed` gives them."""
    first = messages[0] if messages else {}
    has_instructions = first.get("role") in ("system", "developer")
    return {
        **parameters,
        "model": model,
        **({"instructions": first["content"]} if has_instructions else {}),
        "input": [_input(message) for message in messages[1 if has_instructions else 0 :]],
        "store": False,
        "stream": stream,
    }


def _input(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message; one with images has them by the names of this protocol."""
    if isinstance(message["content"], str):
        return message
    text, *images = message["content"]
    put = [{"type": "input_image", "image_url": image["image_url"]["url"]} for image in images]
    return {**message, "content": [{"type": "input_text", "text": text["text"]}, *put]}


class ResponseEvents:
    """Reads the events of one response."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def chunk(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """An event as a chunk; one without a choice where it says nothing."""
        kind, response = event["type"], event.get("response")
        if kind in _DELTAS:
            self._said.add(_DELTAS[kind])
            return _chunk({_DELTAS[kind]: event.get("delta")}, None)
        if kind not in _ENDS or not isinstance(response, Mapping):
            return {"choices": []}
        if (error := _error(response)) is not None:
            return error
        whole = _message(response)  # some servers tell all of it at the end
        delta = {name: text for name, text in whole.items() if name not in self._said}
        return {**_chunk({**delta, **_tools(response)}, _finish(response)), "usage": _usage(response)}


def completion(response: Mapping[str, Any]) -> dict[str, Any]:
    """A whole response as a whole reply, or as an error."""
    message = {**_message(response), **_tools(response)}
    choice = {"index": 0, "message": message, "finish_reason": _finish(response)}
    return _error(response) or {"choices": [choice], "usage": _usage(response)}


def _chunk(delta: Mapping[str, object], finish: str | None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish}]}


def _error(response: Mapping[str, Any]) -> dict[str, Any] | None:
    if response.get("status") != "failed" and not response.get("error"):
        return None
    return {"error": response.get("error") or {"message": _FAILED}}


def _finish(response: Mapping[str, Any]) -> str | None:
    """Why the model ended, as a chat completion says it; None where it did not."""
    if response.get("status") == "incomplete":
        details = response.get("incomplete_details")
        return _FINISHES.get(str(details.get("reason"))) if isinstance(details, Mapping) else None
    return "tool_calls" if _tools(response) else "stop"


def _tools(response: Mapping[str, Any]) -> dict[str, object]:
    """What it asks for beside text, as a chat completion says it."""
    asked = [item for item in _mappings(response.get("output")) if item.get("type") not in _NO_TOOLS]
    calls = [
        {
            "index": index,
            "function": {
                "name": str(item.get("name") or item.get("type") or "a tool"),
                "arguments": item.get("arguments"),
            },
        }
        for index, item in enumerate(asked)
    ]
    return {"tool_calls": calls} if calls else {}


def _message(response: Mapping[str, Any]) -> dict[str, str]:
    said = {"content": "", "refusal": "", "reasoning": ""}
    for item in _mappings(response.get("output")):
        for part in [*_mappings(item.get("content")), *_mappings(item.get("summary"))]:
            name = "reasoning" if item.get("type") == "reasoning" else "content"
            text = part.get("text")
            if part.get("type") == "refusal":
                name, text = "refusal", part.get("refusal")
            said[name] += text if isinstance(text, str) else ""
    return {name: text for name, text in said.items() if text}


def _usage(response: Mapping[str, Any]) -> dict[str, object]:
    usage = response.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    return {"prompt_tokens": usage.get("input_tokens"), "completion_tokens": usage.get("output_tokens")}


def _mappings(items: object) -> Iterator[Mapping[str, Any]]:
    yield from (item for item in (items if isinstance(items, list) else ()) if isinstance(item, Mapping))
