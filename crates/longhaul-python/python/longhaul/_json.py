"""Messages as JSON, and back: what the SDKs call a message is a dict, or an object that knows how to become one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Message = Mapping[str, Any]


def plain(value: Any) -> Any:
    """What `json` cannot write: objects of the SDKs (pydantic models), dataclasses of ours never."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        # What was not set was not sent by the provider, and is refused when it is sent back.
        return dump(mode="json", exclude_unset=True)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return list(value)
    raise TypeError(f"{type(value).__name__} is neither a message nor a part of one")


def dumps(value: Any) -> str:
    """Writes messages without changing a letter of them."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=plain, allow_nan=False)


def to_bytes(text: str) -> bytes:
    """Half of a surrogate pair, which JSON may hold and UTF-8 may not, is written as an escape."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), separators=(",", ":")).encode("ascii")


def history(messages: Any, system: Any = None, tools: Any = None) -> bytes:
    """A list of messages, with what stands outside of it, as the body of a request."""
    if isinstance(messages, (str, bytes)):
        raise TypeError("messages are a list of dicts; for a text use count(text=...), for a file compact_bytes")
    if isinstance(messages, Mapping):
        return to_bytes(dumps(messages))
    if system is None and tools is None:
        return to_bytes(dumps(list(messages)))
    body: dict[str, Any] = {}
    if system is not None:
        body["system"] = system
    body["messages"] = list(messages)
    if tools is not None:
        body["tools"] = list(tools)
    return to_bytes(dumps(body))


def parts(body: Any) -> tuple[Any, list[dict[str, Any]]]:
    """The standing instructions that stand outside the messages, and the messages."""
    if isinstance(body, list):
        return None, body
    for name in ("messages", "input", "contents"):
        if name in body:
            outside = next((body[key] for key in ("system", "instructions", "systemInstruction", "system_instruction") if key in body), None)
            return outside, body[name]
    return None, [body]
