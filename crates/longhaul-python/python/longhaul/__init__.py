"""Keeps an LLM agent's conversation inside the model's context window, without losing what the work still needs.

>>> import longhaul
>>> longhaul.count([{"role": "user", "content": "Hello!"}], model="gpt-4o")
9

`count` and `context` look at messages, `compact` makes a valid smaller history of them in one call, and `Session` keeps
a conversation that goes on: push what is said, send what `prepare` returns. Messages are the plain dicts (or objects) of
the OpenAI and Anthropic SDKs; images, signatures and fields that longhaul does not know go out as they came in.

Sizes are in tokens of the model that is named, of `o200k_base` where none is.
"""

from ._aio import AsyncSession
from ._history import Compacted, compact, compact_bytes, context, count, validate
from ._longhaul import (
    BudgetError,
    FormatError,
    LonghaulError,
    SettingsError,
    StoreError,
    SummarizeError,
    __version__,
)
from ._session import Call, Event, Session, Synced, View

__all__ = [
    "AsyncSession",
    "BudgetError",
    "Call",
    "Compacted",
    "Event",
    "FormatError",
    "LonghaulError",
    "Session",
    "SettingsError",
    "StoreError",
    "SummarizeError",
    "Synced",
    "View",
    "__version__",
    "compact",
    "compact_bytes",
    "context",
    "count",
    "validate",
]
