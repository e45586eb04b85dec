"""The same session for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from ._session import Call, Event, Session, View


class AsyncSession:
    """`Session` for asyncio: whatever may wait for the store, a model or a long count is awaited, and runs on a thread.

        session = await longhaul.AsyncSession.open("fix-the-build", store="longhaul.db", model="gpt-4o")
        await session.push({"role": "user", "content": "Hello!"})
        view = await session.prepare()

    Arguments and meaning are those of `Session`. Calls wait for one another in the order in which they were made. `on_event`
    is called on the event loop.
    """

    def __init__(self, session: Session, lock: asyncio.Lock) -> None:
        self._session = session
        self._lock = lock

    @classmethod
    async def open(cls, name: str, *, on_event: Callable[[Event], None] | None = None, **options: Any) -> AsyncSession:
        """The session `name`: new, or as it was left."""
        loop = asyncio.get_running_loop()
        tell = None if on_event is None else lambda event: loop.call_soon_threadsafe(on_event, event)
        session = await asyncio.to_thread(lambda: Session(name, on_event=tell, **options))
        return cls(session, asyncio.Lock())

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

    async def rewind(self, message: int) -> None:
        await self._run(lambda: self._session.rewind(message))

    async def pin(self, message: int) -> None:
        await self._run(lambda: self._session.pin(message))

    async def unpin(self, message: int) -> bool:
        return await self._run(lambda: self._session.unpin(message))

    async def set_memory(self, name: str, text: str) -> None:
        await self._run(lambda: self._session.set_memory(name, text))

    @property
    def recall_tool(self) -> dict[str, Any]:
        return self._session.recall_tool

    async def recall(self, arguments: str | Mapping[str, Any]) -> str:
        return await self._run(lambda: self._session.recall(arguments))

    async def sync(self, messages: Any, *, system: Any = None) -> str:
        return await self._run(lambda: self._session.sync(messages, system=system))

    async def open_calls(self) -> list[Call]:
        return await self._run(lambda: self._session.open_calls)

    async def status(self) -> dict[str, Any]:
        return await self._run(self._session.status)

    async def _run(self, work: Callable[[], Any]) -> Any:
        async with self._lock:
            running = asyncio.ensure_future(asyncio.to_thread(work))
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                # A thread cannot be stopped: the next call must not overtake it.
                await asyncio.wait([running])
                raise
