"""A model that writes summaries, as a function."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, Union

from ._longhaul import LonghaulError

Answer = Union[str, dict[str, Any]]
"""What the model said; or a dict with `text` and, where known, `input_tokens`, `output_tokens` and `truncated`."""

Summarizer = Callable[[dict[str, Any]], Union[Answer, Awaitable[Answer]]]
"""A function, plain or async, that is given `model`, `messages`, `max_tokens`, `temperature` and `schema` (`name` and a
JSON `schema`, or None where the answer is Markdown). It is called on a thread of its own; an async one runs on the loop of
the `AsyncSession`, or on a loop of its own. What it raises is a model that gave no answer: it may be asked again, and
rules write the summary in the end, unless the settings say otherwise."""

_asking: ContextVar[frozenset[int]] = ContextVar("longhaul_asking", default=frozenset())


class Asker:
    """Asks a summarizer, from the threads on which Rust waits for it."""

    def __init__(self, summarizer: Summarizer) -> None:
        if not callable(summarizer):
            raise TypeError(f"a summarizer is a function, not {type(summarizer).__name__}")
        self._summarizer = summarizer
        self._pending: Future[Answer] | None = None
        self._is_stopped = False
        self._raised: BaseException | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        """Where an async summarizer runs, while somebody waits on it."""

    def __call__(self, request: str) -> str:
        if self._is_stopped:
            raise LonghaulError("the caller does not wait for an answer any more")
        token = _asking.set(_asking.get() | {id(self)})
        try:
            answer = self._answer(self._summarizer(json.loads(request)))
        except Exception as error:
            raise LonghaulError(f"the summarizer raised {type(error).__name__}: {error}") from error
        except BaseException as error:
            # Whoever ends the program ends it: it is raised again by the call that asked.
            self._raised, self._is_stopped = error, True
            raise LonghaulError("the program ends") from error
        finally:
            _asking.reset(token)
        if isinstance(answer, str):
            answer = {"text": answer}
        if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
            raise LonghaulError("a summarizer returns a str, or a dict with the model's words as text")
        return json.dumps(answer)

    def _answer(self, answer: Any) -> Any:
        if not inspect.isawaitable(answer):
            return answer
        loop = self.loop
        if loop is None or not loop.is_running():
            return asyncio.run(_awaited(answer))
        # Clients of the SDKs belong to the loop on which they are used.
        self._pending = asyncio.run_coroutine_threadsafe(_awaited(answer), loop)
        return self._pending.result()

    def stop(self) -> None:
        """Makes no further request, and calls the one under way off where it can be."""
        self._is_stopped = True
        if self._pending is not None:
            self._pending.cancel()

    def settle(self) -> None:
        """Is ready for the next call; raises what ends the program, where the summarizer did."""
        raised, self._raised = self._raised, None
        self._pending, self._is_stopped = None, False
        if raised is not None:
            raise raised

    def refuse_own_calls(self) -> None:
        if id(self) in _asking.get():
            raise LonghaulError("a summarizer cannot use the session that waits for its answer")


async def _awaited(answer: Awaitable[Answer]) -> Answer:
    return await answer
