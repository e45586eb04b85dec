"""What is done to a whole history at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _json, _longhaul
from ._summarizer import Asker, Summarizer


@dataclass(frozen=True)
class Compacted:
    """A history that fits its budget: valid for its provider, and never larger than what came in."""

    messages: list[Any]
    """The messages to send."""
    system: Any
    """The standing instructions, where they stand outside the messages (Anthropic, Gemini, Responses)."""
    changed: bool
    """False where the history fitted as it was."""
    tokens_before: int
    tokens_after: int
    summary: str | None
    """What stands for the messages that are gone."""
    summarized: int
    """Messages that the summary stands for."""
    digested: int
    """Messages that stay, shortened."""
    request_was_cut: bool
    """The newest request of the user does not fit whole."""
    notes: list[str] = field(default_factory=list)
    """What to tell the user: damage that was found, a model that was not used."""


def count(
    messages: Any = None,
    *,
    text: str | None = None,
    system: Any = None,
    tools: Any = None,
    model: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
) -> int:
    """Tokens of messages (with `system` and `tools`, where given), or of one `text`.

    `model` is a name from the table (`gpt-4o`, `claude-sonnet-4-5`, ...); `encoding` is `o200k_base` or `cl100k_base`.
    Raises `SettingsError` for a model that is not known, `FormatError` for what is no message.
    """
    if (messages is None) == (text is None):
        raise TypeError("give messages or text=, one of them")
    if text is not None:
        return _longhaul.count_text(text, model, encoding)
    history, format = _json.history(messages, system, tools, format)
    return _longhaul.count(history, format, model, encoding)


def context(
    messages: Any,
    *,
    system: Any = None,
    tools: Any = None,
    model: str | None = None,
    encoding: str | None = None,
    window: int | None = None,
    format: str | None = None,
) -> dict[str, Any]:
    """What fills the window: `tokens`, `window`, `ratio`, tokens `by_role`, `by_kind` and `by_tool`, and the `largest`
    messages."""
    history, format = _json.history(messages, system, tools, format)
    told: dict[str, Any] = json.loads(_longhaul.context(history, format, model, encoding, _json.size("window", window)))
    return told


def validate(messages: Any, *, system: Any = None, format: str | None = None) -> list[str]:
    """The rules of the provider that the messages break, one line each; empty where it will take them."""
    return _longhaul.validate(*_json.history(messages, system, format=format))


def compact(
    messages: Any,
    budget: int,
    *,
    system: Any = None,
    model: str | None = None,
    encoding: str | None = None,
    window: int | None = None,
    goal: str | None = None,
    keep_recent: int | None = None,
    settings: Mapping[str, Any] | None = None,
    summarizer: Summarizer | None = None,
    summarizer_window: int | None = None,
    redact: bool = True,
    format: str | None = None,
) -> Compacted:
    """A history of at most `budget` tokens: what must stay stays, tool results are shortened, a summary stands for the
    rest.

    The summary is made by rule, or with `summarizer`, a function that is given a dict (`messages`, `max_tokens`, `schema`,
    `temperature`, `model`) and returns the model's answer: Markdown, unless `settings` say otherwise. `settings` are those of `longhaul config`
    (`{"preset": "session"}`). `system` are the standing instructions, where the messages do not begin with them: they come back
    as `system`, or, as OpenAI has them, as the first of the messages. The messages passed in are left as they are, and secrets stay out of the summary unless
    `redact` is false.

    Raises `BudgetError` where what must stay is larger than the budget, `FormatError` for what is no history.
    """
    history, format = _json.history(messages, system, format=format)
    data, report = _compacted(
        history, budget, format, model, encoding, window, goal, keep_recent, settings, summarizer, summarizer_window, redact
    )
    outside, kept = _json.parts(json.loads(data))
    return Compacted(
        messages=kept,
        system=outside,
        changed=report["changed"],
        tokens_before=report["tokens_before"],
        tokens_after=report["tokens_after"],
        summary=report["summary"],
        summarized=report["summarized"],
        digested=report["digested"],
        request_was_cut=report["request_was_cut"],
        notes=report["problems"] + report["notes"],
    )


def compact_bytes(
    data: bytes,
    budget: int,
    *,
    model: str | None = None,
    encoding: str | None = None,
    window: int | None = None,
    goal: str | None = None,
    keep_recent: int | None = None,
    settings: Mapping[str, Any] | None = None,
    summarizer: Summarizer | None = None,
    summarizer_window: int | None = None,
    redact: bool = True,
    format: str | None = None,
) -> tuple[bytes, dict[str, Any]]:
    """Does what `compact` does for a file of any format that `longhaul compact` reads (a session of Claude Code or Codex,
    say), and returns the file's new bytes with a report."""
    return _compacted(
        data, budget, format, model, encoding, window, goal, keep_recent, settings, summarizer, summarizer_window, redact
    )


def _compacted(
    history: bytes,
    budget: int,
    format: str | None,
    model: str | None,
    encoding: str | None,
    window: int | None,
    goal: str | None,
    keep_recent: int | None,
    settings: Mapping[str, Any] | None,
    summarizer: Summarizer | None,
    summarizer_window: int | None,
    redact: bool,
) -> tuple[bytes, dict[str, Any]]:
    asker = None if summarizer is None else Asker(summarizer)
    tokens = _json.size("budget", budget)
    if tokens is None:
        raise _longhaul.SettingsError("budget is a whole number of tokens, not None")
    try:
        data, report = _longhaul.compact(
            history,
            tokens,
            _json.settings(settings),
            format=format,
            model=model,
            encoding=encoding,
            window=_json.size("window", window),
            goal=goal,
            keep_recent=_json.size("keep_recent", keep_recent),
            redact=redact,
            summarizer=asker,
            summarizer_window=_json.size("summarizer_window", summarizer_window),
        )
    finally:
        # Where rules may not step in, what ends the program would pass for a model that gave no answer.
        if asker is not None:
            asker.settle()
    return bytes(data), json.loads(report)
