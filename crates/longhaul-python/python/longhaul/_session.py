"""A conversation that is kept within its window."""

from __future__ import annotations

import inspect
import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from . import _json, _longhaul
from ._summarizer import Asker, Summarizer
from ._usage import usage_of


Format = Literal["openai", "anthropic", "responses", "gemini"]

_log = logging.getLogger("longhaul")


class Event(NamedTuple):
    """Something that the user may be told of: a compaction, a model that gave no summary, a store that failed."""

    kind: str
    text: str


class Call(NamedTuple):
    """A tool call that has no result yet."""

    id: str
    name: str
    arguments: str


class Synced(NamedTuple):
    """What a whole history has that the session had not."""

    kind: str
    """`unchanged`, `grew`, `rewound`, `regenerated`, `edited`, `compacted_by_client`; `another` where it is another
    conversation, of which nothing was taken."""
    at: int | None
    """The first message that differs."""
    new: int
    """How many messages were pushed."""


@dataclass(frozen=True)
class View:
    """What to send to the model."""

    messages: list[Any]
    """The messages, as the session's format spells them."""
    system: Any
    """The standing instructions, where they stand outside the messages (Anthropic, Gemini, Responses)."""
    tokens: int
    ratio: float
    """`tokens` as a share of the budget."""
    stable_tokens: int
    """With how many tokens the request begins that the one before began with too: what a provider has in its cache."""
    request_was_cut: bool
    """The newest request of the user does not fit whole: tell the user."""
    losses: list[str]
    """What the format cannot carry."""
    _view: Any

    @classmethod
    def _of(cls, view: Any, cache_marks: bool) -> View:
        rendered, losses = view.render(cache_marks)
        system, messages = _json.parts(json.loads(rendered))
        return cls(messages, system, view.tokens, view.ratio, view.stable_tokens, view.request_was_cut, losses, view)


class Session:
    """A conversation in a window: new, or as it was left.

        session = longhaul.Session("fix-the-build", store="longhaul.db", model="gpt-4o")
        while True:
            session.push({"role": "user", "content": input("> ")})
            view = session.prepare()                # compacted where it must be
            answer = client.chat.completions.create(model="gpt-4o", messages=view.messages)
            session.report_usage(view, answer.usage)
            session.push(answer.choices[0].message)
            session.save()

    `format` says how messages are spelled: `openai`, `anthropic`, `responses` or `gemini`. `store` is a file, which is
    made where it is missing, or None to keep nothing. `window` and `reserved_output` are in tokens; the model's, and a tenth
    of it, where they are not given. `fixed_overhead` is what each request costs beside its messages: tool definitions, a
    system prompt that is not pushed (`count` tells). `settings` are those of `longhaul config`. `summarizer` is a function
    that asks a model (see `compact`); it cannot use the session itself. Without one, summaries are made by rule. `on_event`
    is a plain function that is told what happens, when the call in which it did is over. What it raises is logged (by the
    logger `longhaul`), and the call returns what it would have returned.

    A session may be used from several threads; calls wait for one another, but for `name` and `recall_tool`. After a fork the
    child opens it anew: calls raise `StoreError` there, and the parent's goes on. Raises `LonghaulError` and what is under it.
    """

    def __init__(
        self,
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
        on_event: Callable[[Event], None] | None = None,
        save_each_push: bool = False,
        redact: bool = True,
    ) -> None:
        if on_event is not None and (not callable(on_event) or is_async(on_event)):
            raise TypeError("on_event is a plain function of one event")
        self._format = format
        self._on_event = on_event
        self._asker = None if summarizer is None else Asker(summarizer)
        place = None if store is None else os.fspath(store)
        if isinstance(place, bytes):
            raise TypeError("store is a path or a URL as text, not bytes")
        self._inner = _longhaul._Session(
            name,
            format,
            _json.settings(settings),
            store=place,
            model=model,
            encoding=encoding,
            window=_json.size("window", window),
            reserved_output=_json.size("reserved_output", reserved_output),
            fixed_overhead=_json.size("fixed_overhead", fixed_overhead) or 0,
            redact=redact,
            save_each_push=save_each_push,
            summarizer=self._asker,
            summarizer_window=_json.size("summarizer_window", summarizer_window),
        )
        self._tell()

    @property
    def name(self) -> str:
        """The name under which the store keeps what is said now: the session's own, or that of a branch, where somebody else
        went on with the session meanwhile. It waits for no call."""
        return self._inner.line()

    def push(self, *messages: Any) -> list[int]:
        """Adds messages (dicts or objects of the SDK, or lists of them) and returns the number of each."""
        spelled = [_json.message(message) for message in messages]
        return self._told(lambda: self._inner.push(spelled))

    def prepare(self, *, cache_marks: bool = False) -> View:
        """What to send, compacted first where it must be. Everything said is in the store when this returns.

        With `cache_marks` the messages carry Anthropic's `cache_control` where it pays.
        """
        return self._told(lambda: View._of(self._inner.prepare(), cache_marks))

    def view(self, *, cache_marks: bool = False) -> View:
        """What would be sent now."""
        return self._told(lambda: View._of(self._inner.view(), cache_marks))

    def report_usage(self, view: View, usage: Any) -> str:
        """Takes what the provider billed for `view` (its `usage`, dict or object), so that counts become exact. Returns
        `taken`, `stale` (the context was rewritten since), `implausible`, `too_low` (cached tokens are left out of it, most
        often), or `none` where there is none, as in a stream that was not asked for it."""
        if not isinstance(view, View):
            raise TypeError(f"view is what prepare returned, not {type(view).__name__}")
        if usage is None:
            return "none"
        return self._told(lambda: self._inner.report_usage(view._view, usage_of(usage)))

    def save(self) -> None:
        """Writes what was said since the last `prepare`."""
        self._told(self._inner.save)

    def compact(self, goal: str | None = None) -> dict[str, Any]:
        """Compacts now, with a view to `goal`; returns `tokens_before`, `tokens_after`, `summary` and more."""
        return json.loads(self._told(lambda: self._inner.compact(goal)))

    def overflowed(self, limit: int | None = None) -> None:
        """Makes room after the provider refused a request as too large; `limit` is the window it told of. BudgetError
        where nothing is left to give, or the request was too small to be refused for its size: the session goes on."""
        self._told(lambda: self._inner.overflowed(limit))

    def undo(self) -> bool:
        """Puts the context back as it was before the last compaction; False where there was none."""
        return self._told(self._inner.undo)

    def redo(self) -> bool:
        """Takes an undo back; False where there was none."""
        return self._told(self._inner.redo)

    def rewind(self, message: int) -> int:
        """Goes on from behind `message`, on a branch, and returns how many messages are left: a call whose results would be
        missing goes too. What was said after it stays in the store."""
        number = _number(message)
        self._told(lambda: self._inner.rewind(number))
        return len(self)

    def pin(self, message: int) -> None:
        """Keeps a message whole, whatever is compacted."""
        number = _number(message)
        self._told(lambda: self._inner.pin(number))

    def unpin(self, message: int) -> bool:
        number = _number(message)
        return self._told(lambda: self._inner.unpin(number))

    def set_memory(self, name: str, text: str) -> None:
        """Sets a named block that is always shown; an empty text takes it out."""
        self._told(lambda: self._inner.set_memory(name, text))

    @property
    def recall_tool(self) -> Any:
        """The definition of a tool with which the model fetches what a summary stands for. It waits for no call."""
        return json.loads(self._inner.recall_tool())

    def recall(self, arguments: str | Mapping[str, Any]) -> str:
        """Answers a call of the recall tool, in at most about 2,000 tokens."""
        asked = arguments if isinstance(arguments, str) else json.dumps(dict(arguments))
        return self._told(lambda: self._inner.recall(asked))

    def sync(self, messages: Any, *, system: Any = None) -> Synced:
        """Follows a whole history, as a client without memory sends it: what is new is pushed, an edit is a branch."""
        history, _ = _json.history(messages, system, format=self._format)
        return Synced(**json.loads(self._told(lambda: self._inner.sync(history))))

    @property
    def open_calls(self) -> list[Call]:
        """Calls without a result: after a resume, run them first and push their results."""
        return [Call(**call) for call in json.loads(self._told(self._inner.open_calls))]

    def status(self) -> dict[str, Any]:
        """The context in a few numbers: `total_tokens`, `budget`, `ratio`, `decision` and more."""
        return json.loads(self._told(self._inner.status))

    def __len__(self) -> int:
        """How many messages were ever said."""
        return self._told(lambda: len(self._inner))

    def __bool__(self) -> bool:
        return True

    def _told(self, work: Callable[[], Any]) -> Any:
        if self._asker is not None:
            self._asker.refuse_own_calls()
        try:
            return work()
        finally:
            try:
                self._tell()
            finally:
                if self._asker is not None:
                    self._asker.settle()

    def _tell(self) -> None:
        # Not from within a call: what is told may ask the session something.
        for event in self._inner.take_events():
            if self._on_event is None:
                continue
            try:
                self._on_event(Event(*event))
            except Exception:
                # The call did what it was to do, and its view is not lost for the sake of a listener.
                _log.exception("on_event raised at %s", event[0])


def is_async(function: Any) -> bool:
    """Whether calling it makes a coroutine: an async function, or an object whose `__call__` is one."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


def _number(message: Any) -> int:
    number = _json.size("message", message)
    if number is None:
        raise _longhaul.SettingsError("message is the number that push returned, not None")
    return number
