"""Messages as JSON, and back: what the SDKs call a message is a dict, or an object that knows how to become one."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from ._longhaul import FormatError, SettingsError, format_of

_BODIES = {
    "openai": ("messages", None),
    "anthropic": ("messages", "system"),
    "responses": ("input", "instructions"),
    "gemini": ("contents", "systemInstruction"),
}
"""Where a request of each format has its messages and its standing instructions; OpenAI's are a message."""

_OUTSIDE = ("system", "instructions", "systemInstruction", "system_instruction")


def plain(value: Any) -> Any:
    """What `json` cannot write: objects of the SDKs (pydantic models), other mappings and sequences."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        # What was not set was not sent by the provider, and is refused when it is sent back.
        return dump(mode="json", exclude_unset=True)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return list(value)
    raise TypeError(f"{type(value).__name__} is neither a message nor a part of one")


def dumps(value: Any) -> str:
    """Writes messages without changing a letter of them."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=plain, allow_nan=False)


def message(value: Any) -> str:
    """Writes a message, a list of them or an answer of the SDK."""
    try:
        return to_bytes(dumps(value)).decode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"what was pushed is no message: {error}") from error


def to_bytes(text: str) -> bytes:
    """Half of a surrogate pair, which JSON may hold and UTF-8 may not, is written as an escape."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), separators=(",", ":")).encode("ascii")


def history(
    messages: Any, system: Any = None, tools: Any = None, format: str | None = None
) -> tuple[bytes, str | None]:
    """A list of messages, with what stands outside of it, as the body of a request; and its format, where it is known."""
    if isinstance(messages, (str, bytes, bytearray)) or messages is None:
        raise TypeError("messages are a list of dicts; for a text use count(text=...), for a file compact_bytes")
    if isinstance(messages, Mapping) and "role" in messages:
        raise TypeError("messages are a list of dicts; this is a single message")
    body: Any = messages if isinstance(messages, Mapping) else list(messages)
    if system is None and tools is None:
        return _written(body, messages), format
    name = format_of(_written(body, messages), format, system is not None)
    if name not in _BODIES:
        raise FormatError(f"system= and tools= stand beside messages of {', '.join(_BODIES)}, not in those of {name}")
    listed = _BODIES[name][0]
    body = {**body} if isinstance(body, Mapping) else {listed: body}
    if system is not None:
        body, format = _with_system(body, system, name), name
    if tools is not None:
        body["tools"] = _tools(tools)
    return _written(body, messages), format


def _with_system(body: dict[str, Any], system: Any, format: str) -> dict[str, Any]:
    listed, outside = _BODIES[format]
    messages = body.get(listed, [])
    if any(name in body for name in _OUTSIDE) or outside is None and _is_instructed(messages):
        raise TypeError("system= is given, and the messages come with standing instructions of their own: give one")
    if outside is None:
        return {**body, listed: [{"role": "system", "content": system}, *messages]}
    if format == "gemini" and isinstance(system, str):
        system = {"parts": [{"text": system}]}
    return {outside: system, **body}


def _is_instructed(messages: Any) -> bool:
    """Whether they begin with standing instructions."""
    first = json.loads(dumps(next(iter(messages), None)))
    return isinstance(first, dict) and first.get("role") in ("system", "developer")


def _written(body: Any, messages: Any) -> bytes:
    try:
        return to_bytes(dumps(body))
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"{_place(messages)}{error}") from error


def _tools(tools: Any) -> list[Any]:
    if isinstance(tools, (str, bytes, Mapping)):
        raise TypeError("tools are a list of definitions, as the provider takes them")
    return list(tools)


def _place(messages: Any) -> str:
    """Which message cannot be written."""
    for at, one in enumerate([] if isinstance(messages, Mapping) else messages):
        try:
            dumps(one)
        except (TypeError, ValueError, RecursionError):
            return f"message {at}: "
    return ""


def parts(body: Any) -> tuple[Any, list[Any]]:
    """The standing instructions that stand outside the messages, and the messages."""
    if isinstance(body, list):
        return None, body
    for name in ("messages", "input", "contents"):
        if name in body:
            return next((body[key] for key in _OUTSIDE if key in body), None), body[name]
    return None, [body]


def size(name: str, value: Any) -> int | None:
    """A number of tokens or messages."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        raise SettingsError(f"{name} is a whole number, not {value!r}") from None
    if isinstance(value, bool) or not 0 <= number < 2**63:
        raise SettingsError(f"{name} is a whole number from 0 on, not {value!r}")
    return number


def settings(value: Any) -> str:
    """Settings by their names."""
    if value is None:
        return "{}"
    if not isinstance(value, Mapping):
        raise SettingsError(f"settings are a dict of names and values, not {value!r}")
    try:
        return json.dumps(dict(value), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"settings: {error}") from error
