"""The same session for asyncio."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Union

from ._session import Call, Event, Format, Session, Synced, View
from ._summarizer import Summarizer


_log = logging.getLogger("longhaul")


class AsyncSession:
    """`Session` for asyncio: whatever may wait for the store, a model or a long count is awaited, and runs on a thread.

        session = await longhaul.AsyncSession.open("fix-the-build", store="longhaul.db", model="gpt-4o")
        await session.push({"role": "user", "content": "Hello!"})
        view = await session.prepare()

    Arguments and meaning are those of `Session`. Calls wait for one another in the order in which they were made; `name` and
    `recall_tool` wait for none. `on_event`, plain or async, is called on the event loop, and an async `summarizer` runs on it.

    A call that is cancelled while it waits for another is not done, then or later: what it was to push is not pushed. One that
    is cancelled when it has begun asks the summarizer no more and is finished all the same, by rule where it must be, before
    `CancelledError` is raised: a thread cannot be stopped. What `view` shows tells which it was.
    """

    def __init__(self, session: Session, listener: _Listener | None) -> None:
        self._session = session
        self._listener = listener
        self._settle(asyncio.get_running_loop())

    def _settle(self, loop: asyncio.AbstractEventLoop) -> None:
        """Goes over to `loop`: the one before may be closed."""
        self._loop = loop
        self._lock = asyncio.Lock()
        if self._listener is not None:
            self._listener.loop = loop

    @classmethod
    async def open(
        cls,
        name: str,
        *,
        store: str | os.PathLike[str] | None = None,
        format: Format = "openai",
        model: str | None = None,
        encoding: str | None = None,
        window: int | None = None,
        reserved_output: int | None = None,
        fixed_overhead: int = 0,
        settings: Mapping[str, Any] | None = None,
        summarizer: Summarizer | None = None,
        summarizer_window: int | None = None,
        on_event: Callable[[Event], Union[None, Awaitable[None]]] | None = None,
        save_each_push: bool = False,
        redact: bool = True,
    ) -> AsyncSession:
        """The session `name`: new, or as it was left."""
        if on_event is not None and not callable(on_event):
            raise TypeError("on_event is a function of one event")
        listener = None if on_event is None else _Listener(on_event)

        def opened() -> Session:
            return Session(
                name,
                store=store,
                format=format,
                model=model,
                encoding=encoding,
                window=window,
                reserved_output=reserved_output,
                fixed_overhead=fixed_overhead,
                settings=settings,
                summarizer=summarizer,
                summarizer_window=summarizer_window,
                on_event=listener,
                save_each_push=save_each_push,
                redact=redact,
            )

        return cls(await _on_thread(opened), listener)

    @property
    def name(self) -> str:
        """The name under which the store keeps what is said now."""
        return self._session.name

    async def push(self, *messages: Any) -> list[int]:
        return await self._run(lambda: self._session.push(*messages))

    async def prepare(self, *, cache_marks: bool = False) -> View:
        return await self._run(lambda: self._session.prepare(cache_marks=cache_marks))

    async def view(self, *, cache_marks: bool = False) -> View:
        return await self._run(lambda: self._session.view(cache_marks=cache_marks))

    async def report_usage(self, view: View, usage: Any) -> str:
        return await self._run(lambda: self._session.report_usage(view, usage))

    async def save(self) -> None:
        await self._run(self._session.save)

    async def compact(self, goal: str | None = None) -> dict[str, Any]:
        return await self._run(lambda: self._session.compact(goal))

    async def overflowed(self, limit: int | None = None) -> None:
        await self._run(lambda: self._session.overflowed(limit))

    async def undo(self) -> bool:
        return await self._run(self._session.undo)

    async def redo(self) -> bool:
        return await self._run(self._session.redo)

    async def rewind(self, message: int) -> int:
        return await self._run(lambda: self._session.rewind(message))

    async def pin(self, message: int) -> None:
        await self._run(lambda: self._session.pin(message))

    async def unpin(self, message: int) -> bool:
        return await self._run(lambda: self._session.unpin(message))

    async def set_memory(self, name: str, text: str) -> None:
        await self._run(lambda: self._session.set_memory(name, text))

    @property
    def recall_tool(self) -> Any:
        return self._session.recall_tool

    async def recall(self, arguments: str | Mapping[str, Any]) -> str:
        return await self._run(lambda: self._session.recall(arguments))

    async def sync(self, messages: Any, *, system: Any = None) -> Synced:
        return await self._run(lambda: self._session.sync(messages, system=system))

    async def open_calls(self) -> list[Call]:
        return await self._run(lambda: self._session.open_calls)

    async def status(self) -> dict[str, Any]:
        return await self._run(self._session.status)

    async def _run(self, work: Callable[[], Any]) -> Any:
        # After a fork nobody is left who would give the lock free.
        self._session._inner.of_this_process()
        asker = self._session._asker
        if asker is not None:
            asker.refuse_own_calls()
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._settle(loop)
        async with self._lock:
            if asker is not None:
                asker.loop = loop
            running = asyncio.ensure_future(_on_thread(work))
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                # A thread cannot be stopped, and the next call must not overtake it; it has no model to wait for any more.
                if asker is not None:
                    asker.stop()
                while not running.done():
                    try:
                        await asyncio.wait([running])
                    except asyncio.CancelledError:
                        continue
                if asker is not None:
                    # It may have ended before it was called off.
                    asker.settle()
                raise


class _Listener:
    """Tells events on a loop, from whichever thread they come."""

    def __init__(self, on_event: Callable[[Event], Union[None, Awaitable[None]]]) -> None:
        self.loop = asyncio.get_running_loop()
        self._on_event = on_event
        self._telling: set[asyncio.Future[None]] = set()

    def __call__(self, event: Event) -> None:
        self.loop.call_soon_threadsafe(self._tell, event)

    def _tell(self, event: Event) -> None:
        # The loop itself knows a task only weakly.
        task = asyncio.get_running_loop().create_task(self._heard(event))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _heard(self, event: Event) -> None:
        try:
            answer = self._on_event(event)
            if inspect.isawaitable(answer):
                await answer
        except Exception:
            _log.exception("on_event raised at %s", event.kind)


_MOST_THREADS = 1 << 16


def _begin() -> None:
    # A thread is begun where none is idle. The executor of the loop has a handful, and whatever a summarizer looks up or runs
    # on it would wait for the very calls that wait for the summarizer.
    global _threads
    _threads = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="longhaul")


_begin()
if hasattr(os, "register_at_fork"):
    # Threads do not come along through a fork.
    os.register_at_fork(after_in_child=_begin)


async def _on_thread(work: Callable[[], Any]) -> Any:
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_threads, context.run, work)
