"""A model that writes summaries, as a function."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any, Union

Answer = Union[str, dict[str, Any]]
"""What the model said; or a dict with `text` and, where known, `input_tokens`, `output_tokens` and `truncated`."""

Summarizer = Callable[[dict[str, Any]], Union[Answer, Awaitable[Answer]]]
"""A function, plain or async, that is given `model`, `messages`, `max_tokens`, `temperature` and `schema` (`name` and a
JSON `schema`, or None where the answer is prose). It is called on a thread of its own. What it raises is a model that gave
no answer: rules write the summary then, unless the settings say otherwise."""


def wrapped(summarizer: Summarizer | None) -> Callable[[str], str] | None:
    if summarizer is None:
        return None

    def ask(request: str) -> str:
        answer = summarizer(json.loads(request))
        if inspect.isawaitable(answer):
            answer = asyncio.run(_awaited(answer))
        if isinstance(answer, str):
            answer = {"text": answer}
        if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
            raise TypeError("a summarizer returns a str, or a dict with the model's words as text")
        return json.dumps(answer)

    return ask


async def _awaited(answer: Awaitable[Answer]) -> Answer:
    return await answer
