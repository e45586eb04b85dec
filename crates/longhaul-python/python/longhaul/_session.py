"""A conversation that is kept within its window."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import _json, _longhaul
from ._summarizer import Summarizer, wrapped
from ._usage import usage_of


class Event(NamedTuple):
    """Something that the user may be told of: a compaction, a model that gave no summary, a store that failed."""

    kind: str
    text: str


class Call(NamedTuple):
    """A tool call that has no result yet."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class View:
    """What to send to the model."""

    messages: list[dict[str, Any]]
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
    that asks a model (`longhaul._summarizer.Summarizer`); without one, summaries are made by rule. `on_event` is told what
    happens.

    A session may be used from several threads; calls wait for one another. Raises `LonghaulError` and what is under it.
    """

    def __init__(
        self,
        name: str,
        *,
        store: str | None = None,
        format: str = "openai",
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
        self._on_event = on_event
        self._inner = _longhaul._Session(
            name,
            format,
            json.dumps(dict(settings or {})),
            store=None if store is None else str(store),
            model=model,
            encoding=encoding,
            window=window,
            reserved_output=reserved_output,
            fixed_overhead=fixed_overhead,
            redact=redact,
            save_each_push=save_each_push,
            summarizer=wrapped(summarizer),
            summarizer_window=summarizer_window,
        )
        self._tell()

    def push(self, *messages: Any) -> list[int]:
        """Adds messages (dicts or objects of the SDK, or lists of them) and returns the number of each."""
        pushed: list[int] = []
        for message in messages:
            pushed += self._inner.push(_json.to_bytes(_json.dumps(message)).decode("utf-8"))
        self._tell()
        return pushed

    def prepare(self, *, cache_marks: bool = False) -> View:
        """What to send, compacted first where it must be. Everything said is in the store when this returns.

        With `cache_marks` the messages carry Anthropic's `cache_control` where it pays.
        """
        return self._told(lambda: View._of(self._inner.prepare(), cache_marks))

    def view(self, *, cache_marks: bool = False) -> View:
        """What would be sent now."""
        return View._of(self._inner.view(), cache_marks)

    def report_usage(self, view: View, usage: Any) -> str:
        """Takes what the provider billed for `view` (its `usage`, dict or object), so that counts become exact. Returns
        `taken`, `stale` (the context was rewritten since) or `implausible`."""
        return self._told(lambda: self._inner.report_usage(view._view, usage_of(usage)))

    def save(self) -> None:
        """Writes what was said since the last `prepare`."""
        self._told(self._inner.save)

    def compact(self, goal: str | None = None) -> dict[str, Any]:
        """Compacts now, with a view to `goal`; returns `tokens_before`, `tokens_after`, `summary` and more."""
        return json.loads(self._told(lambda: self._inner.compact(goal)))

    def overflowed(self, limit: int | None = None) -> None:
        """Makes room after the provider refused a request as too large; `limit` is the window it told of."""
        self._told(lambda: self._inner.overflowed(limit))

    def undo(self) -> bool:
        """Puts the context back as it was before the last compaction; False where there was none."""
        return self._told(self._inner.undo)

    def redo(self) -> bool:
        """Takes an undo back; False where there was none."""
        return self._told(self._inner.redo)

    def rewind(self, message: int) -> None:
        """Goes on from behind `message`, on a branch; what was said after it stays in the store."""
        self._told(lambda: self._inner.rewind(message))

    def pin(self, message: int) -> None:
        """Keeps a message whole, whatever is compacted."""
        self._told(lambda: self._inner.pin(message))

    def unpin(self, message: int) -> bool:
        return self._told(lambda: self._inner.unpin(message))

    def set_memory(self, name: str, text: str) -> None:
        """Sets a named block that is always shown; an empty text takes it out."""
        self._inner.set_memory(name, text)
        self._tell()

    @property
    def recall_tool(self) -> dict[str, Any]:
        """The definition of a tool with which the model fetches what a summary stands for."""
        return json.loads(self._inner.recall_tool())

    def recall(self, arguments: str | Mapping[str, Any]) -> str:
        """Answers a call of the recall tool, in at most about 2,000 tokens."""
        return self._inner.recall(arguments if isinstance(arguments, str) else json.dumps(dict(arguments)))

    def sync(self, messages: Any, *, system: Any = None) -> str:
        """Follows a whole history, as a client without memory sends it: what is new is pushed, an edit is a branch. Returns
        what it found."""
        return self._told(lambda: self._inner.sync(_json.history(messages, system)))

    @property
    def open_calls(self) -> list[Call]:
        """Calls without a result: after a resume, run them first and push their results."""
        return [Call(**call) for call in json.loads(self._inner.open_calls())]

    def status(self) -> dict[str, Any]:
        """The context in a few numbers: `total_tokens`, `budget`, `ratio`, `decision` and more."""
        return json.loads(self._inner.status())

    def __len__(self) -> int:
        """How many messages were ever said."""
        return len(self._inner)

    def _told(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        finally:
            self._tell()

    def _tell(self) -> None:
        # Not from within a call: what is told may ask the session something.
        for event in self._inner.take_events():
            if self._on_event is not None:
                self._on_event(Event(*event))
