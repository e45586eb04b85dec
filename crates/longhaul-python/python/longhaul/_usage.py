"""What providers bill, as disjoint numbers."""

from __future__ import annotations

from typing import Any

from . import _json


def usage_of(usage: Any) -> tuple[int, int, int, int, int]:
    """Input that no cache was used for, read from the cache, written to it, output without reasoning, reasoning."""
    told = usage if isinstance(usage, dict) else _json.plain(usage)
    if not isinstance(told, dict):
        raise TypeError(f"a usage is a dict or an object of the SDK, not {type(usage).__name__}")

    def number(*path: str) -> int:
        value: Any = told
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value if isinstance(value, int) and 0 <= value < 2**63 else 0

    if "promptTokenCount" in told:  # Gemini: the cache is within the prompt, thoughts are beside the candidates.
        cached = number("cachedContentTokenCount")
        return (
            max(number("promptTokenCount") - cached, 0),
            cached,
            0,
            number("candidatesTokenCount"),
            number("thoughtsTokenCount"),
        )
    if "prompt_tokens" in told:  # OpenAI: the cache is within the prompt, reasoning within the completion.
        cached = number("prompt_tokens_details", "cached_tokens")
        reasoning = number("completion_tokens_details", "reasoning_tokens")
        output = number("completion_tokens")
        return max(number("prompt_tokens") - cached, 0), cached, 0, max(output - reasoning, 0), reasoning
    if "input_tokens_details" in told or "output_tokens_details" in told:  # OpenAI Responses, likewise.
        cached = number("input_tokens_details", "cached_tokens")
        reasoning = number("output_tokens_details", "reasoning_tokens")
        output = number("output_tokens")
        return max(number("input_tokens") - cached, 0), cached, 0, max(output - reasoning, 0), reasoning
    if "input_tokens" in told:  # Anthropic: three numbers beside each other.
        return (
            number("input_tokens"),
            number("cache_read_input_tokens"),
            number("cache_creation_input_tokens"),
            number("output_tokens"),
            0,
        )
    raise ValueError("a usage holds prompt_tokens (OpenAI), input_tokens (Anthropic, Responses) or promptTokenCount (Gemini)")
