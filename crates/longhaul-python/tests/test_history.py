"""Counting, looking and compacting whole histories of dicts."""

import copy
import json
import os
import pathlib
import pickle
import subprocess
import sys
import threading

import pytest

import longhaul

PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def openai_history(rounds=30):
    messages = [
        {"role": "system", "content": "You are a careful engineer. Never edit the lock file."},
        {"role": "user", "content": [{"type": "text", "text": "Fix the parser; this is the report."},
                                     {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}}]},
    ]
    for n in range(rounds):
        messages.append({
            "role": "assistant", "content": f"Reading part {n}: it decides how codec {n} is chosen.",
            "tool_calls": [{"id": f"call_{n}", "type": "function",
                            "function": {"name": "read_file", "arguments": json.dumps({"path": f"src/part_{n}.rs"})}}],
        })
        messages.append({"role": "tool", "tool_call_id": f"call_{n}", "content": f"fn part_{n}() {{ todo }}\n" * 60})
    messages.append({"role": "user", "content": "Now tell what is left to do.", "x_custom": 1e2})
    return messages


def anthropic_history(rounds=30):
    messages = [{"role": "user", "content": "Fix the parser."}]
    for n in range(rounds):
        messages.append({"role": "assistant", "content": [
            {"type": "text", "text": f"Reading part {n}."},
            {"type": "tool_use", "id": f"toolu_{n}", "name": "read_file", "input": {"path": f"src/part_{n}.rs"}}]})
        messages.append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": f"fn part_{n}() {{}}\n" * 60}]})
    messages.append({"role": "assistant", "content": [
        {"type": "thinking", "thinking": "All parts are read.", "signature": "c2lnbmVk"},
        {"type": "text", "text": "All parts are read."}]})
    messages.append({"role": "user", "content": "Now tell what is left to do."})
    return messages


def test_counting():
    assert longhaul.count(text="Hello, world!", encoding="o200k_base") == 4
    messages = [{"role": "user", "content": "Hello!"}]
    # 3 for the message, 1 for its role, 2 for its words, 3 that begin the reply: OpenAI's own recipe.
    assert longhaul.count(messages, model="gpt-4o") == 9
    tools = [{"type": "function", "function": {"name": "f", "description": "does it", "parameters": {}}}]
    assert longhaul.count(messages, tools=tools, model="gpt-4o") > 9
    with pytest.raises(longhaul.SettingsError, match="not in the table"):
        longhaul.count(messages, model="gpt-99-nonesuch")
    with pytest.raises(TypeError):
        longhaul.count()


def test_context_sums_up():
    told = longhaul.context(openai_history(), window=128_000)
    assert told["tokens"] == sum(told["by_role"].values()) == sum(told["by_kind"].values())
    assert told["by_tool"]["read_file"]["calls"] == 30
    assert told["window"] == 128_000 and 0 < told["ratio"] < 1
    assert told["largest"][0]["tokens"] >= told["largest"][-1]["tokens"]


@pytest.mark.parametrize("budget", [2_000, 4_000, 8_000])
def test_a_compacted_history_is_valid_within_budget_and_leaves_the_source_alone(budget):
    messages = openai_history()
    before = copy.deepcopy(messages)
    small = longhaul.compact(messages, budget)
    assert messages == before
    assert small.changed and small.tokens_after <= budget < small.tokens_before
    assert longhaul.count(small.messages, format="openai") == small.tokens_after
    assert longhaul.validate(small.messages, format="openai") == []
    assert small.messages[0] == messages[0]
    # Fields nobody knows, and the newest request, are as they were.
    assert small.messages[-1] == messages[-1]
    assert "Never edit the lock file" in json.dumps(small.messages)
    assert small.summary and small.summarized > 0


def test_what_fits_is_left_alone():
    messages = openai_history(2)
    small = longhaul.compact(messages, 100_000)
    assert not small.changed and small.messages == messages and small.summary is None


def test_anthropic_keeps_system_and_signatures():
    messages = anthropic_history()
    small = longhaul.compact(messages, 3_000, system="You are careful.", model="claude-sonnet-4-5")
    assert small.system == "You are careful."
    assert longhaul.validate(small.messages, system=small.system) == []
    assert small.messages[-1]["content"] == "Now tell what is left to do."
    unchanged = longhaul.compact(messages, 1_000_000, system="You are careful.")
    assert unchanged.messages == messages


RESPONSES = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"Say {n}. " + "word " * 80}]} for n in range(60)]
GEMINI = [{"role": ("user", "model")[n % 2], "parts": [{"text": f"Say {n}. " + "word " * 80}]} for n in range(61)]


@pytest.mark.parametrize("budget", [3_000, 1_000_000])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("format, messages, spelled", [
    ("openai", openai_history()[1:], None),
    ("anthropic", anthropic_history(), "Never touch codec 77."),
    ("responses", RESPONSES, "Never touch codec 77."),
    ("gemini", GEMINI, {"parts": [{"text": "Never touch codec 77."}]}),
])
def test_instructions_are_carried_in_every_format(format, messages, spelled, named, budget):
    told = {"format": format} if named else {}
    small = longhaul.compact(messages, budget, system="Never touch codec 77.", **told)
    assert small.changed == (budget == 3_000)
    assert small.system == spelled
    if spelled is None:
        assert small.messages[0] == {"role": "system", "content": "Never touch codec 77."}
        assert longhaul.validate(small.messages, format=format) == []
    else:
        assert "codec 77" not in json.dumps(small.messages)
        assert longhaul.validate(small.messages, system=small.system, format=format) == []
    with_it = longhaul.count(messages, system="Never touch codec 77.", **told)
    assert with_it > longhaul.count(messages, format=format)
    tool = [{"type": "function", "name": "f", "description": "does it", "parameters": {}}]
    if format != "gemini":
        assert longhaul.count(messages, system="Never touch codec 77.", tools=tool, **told) > with_it


CALLS = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
ASKED = {"role": "user", "content": "Fix the parser."}


@pytest.mark.parametrize("messages, is_openais", [
    ([ASKED, {"role": "assistant", "content": "Done."}], False),
    ([{"role": "user", "content": [{"type": "text", "text": "What is it?"}, {"type": "image", "source": {
        "type": "base64", "media_type": "image/png", "data": PNG.partition(",")[2]}}]}], False),
    ([{"role": "user", "content": [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": PNG}}]}], True),
    ([{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}]}], True),
    ([ASKED, {"role": "assistant", "content": None, "tool_calls": CALLS}], True),
    ([ASKED, {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}], True),
    ([ASKED, {"role": "assistant", "content": "Done.", "reasoning_content": "It is easy."}], True),
    ([{"role": "user", "name": "ann", "content": "Fix the parser."}], True),
])
def test_what_only_openai_has_tells_its_messages(messages, is_openais):
    told = longhaul.context(messages, system="Be careful.")
    assert told["format"] == ("openai" if is_openais else "anthropic")
    small = longhaul.compact(messages, 100_000, system="Be careful.")
    assert small.system == (None if is_openais else "Be careful.")
    assert small.messages[is_openais:] == messages


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("is_body", [False, True])
def test_instructions_are_given_once(role, is_body):
    messages = [{"role": role, "content": "Be quick."}, ASKED]
    messages = {"messages": messages} if is_body else messages
    for call in (longhaul.count, longhaul.validate, longhaul.context, lambda given, **of: longhaul.compact(given, 4_000, **of)):
        with pytest.raises(TypeError, match="give one"):
            call(messages, system="Be careful.")
    # A note in passing is none.
    assert longhaul.count([ASKED, {"role": role, "content": "It is Monday."}, ASKED], system="Be careful.") > 0


def test_a_preset_says_how_many_messages_stay():
    """Document 000 keeps ten, and whole exchanges; where nobody says so, a budget is spent on what serves best."""
    messages = openai_history()

    def kept(**how):
        small = longhaul.compact(messages, 6_000, **how)
        return next(n for n in range(len(messages)) if small.messages[-1 - n] != messages[-1 - n])

    assert kept() < 10
    assert kept(settings={"preset": "context-manager"}) == 11


def test_errors_say_where_and_what():
    with pytest.raises(longhaul.BudgetError, match="10"):
        longhaul.compact(openai_history(), 10)
    with pytest.raises(longhaul.FormatError):
        longhaul.compact([{"hello": [1, 2]}], 100)
    with pytest.raises(longhaul.SettingsError, match="nonesuch"):
        longhaul.compact(openai_history(), 4_000, settings={"nonesuch": 1})
    with pytest.raises(TypeError, match="compact_bytes"):
        longhaul.compact("a text", 100)
    assert issubclass(longhaul.BudgetError, longhaul.LonghaulError)


def test_secrets_stay_out_of_the_summary():
    messages = openai_history()
    messages[1]["content"] = "Fix the parser. The key is sk-ant-api03-" + "A1b2C3d4" * 11 + "AA, remember it."
    small = longhaul.compact(messages, 2_000)
    assert "A1b2C3d4A1b2C3d4" not in small.summary


def test_a_summarizer_of_ones_own():
    asked = []

    def summarizer(request):
        asked.append(request)
        return {"text": "## Decisions\n- The parser of part 3 chooses codec 3 (m8).\n", "input_tokens": 100, "output_tokens": 20}

    small = longhaul.compact(openai_history(), 4_000, summarizer=summarizer, summarizer_window=128_000)
    assert len(asked) == 1 and asked[0]["schema"] is None
    assert [m["role"] for m in asked[0]["messages"]] == ["system", "user"] and asked[0]["max_tokens"] > 0
    assert "codec 3" in small.summary and small.tokens_after <= 4_000

    async def slow(request):
        return "## Decisions\n- The parser of part 4 chooses codec 4 (m10).\n"

    small = longhaul.compact(openai_history(), 4_000, summarizer=slow, summarizer_window=128_000)
    assert "codec 4" in small.summary


def test_a_summarizer_that_fails_is_told_and_rules_step_in():
    def broken(request):
        raise ConnectionError("the server is away")

    small = longhaul.compact(openai_history(), 4_000, summarizer=broken, settings={"transport_retries": 0})
    assert small.changed and small.tokens_after <= 4_000
    assert any("ConnectionError: the server is away" in note for note in small.notes), small.notes


def test_a_summarizer_that_ends_the_program_ends_it():
    asked = []

    def leaving(request):
        asked.append(request)
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        longhaul.compact(openai_history(), 4_000, summarizer=leaving)
    assert len(asked) == 1


@pytest.mark.parametrize("ends", [SystemExit, KeyboardInterrupt])
def test_what_ends_the_program_is_not_lost_where_rules_may_not_step_in(ends):
    def leaving(request):
        raise ends

    settings = {"mode": "llm", "abort_on_failure": True}
    with pytest.raises(ends):
        longhaul.compact(openai_history(), 4_000, summarizer=leaving, settings=settings)


def test_arguments_are_refused_by_name():
    for argument in ("budget", "window", "keep_recent"):
        given = {"budget": 4_000, argument: -1}
        with pytest.raises(longhaul.SettingsError, match=argument):
            longhaul.compact(openai_history(), **given)
    with pytest.raises(longhaul.SettingsError, match="budget"):
        longhaul.compact(openai_history(), 3.5)
    with pytest.raises(TypeError, match="function"):
        longhaul.compact(openai_history(), 4_000, summarizer=5)
    with pytest.raises(TypeError, match="tools"):
        longhaul.count(openai_history(), tools="x")
    broken = openai_history()
    broken[7]["content"] = b"bytes"
    with pytest.raises(longhaul.FormatError, match="message 7"):
        longhaul.compact(broken, 4_000)
    broken[7]["content"] = float("nan")
    with pytest.raises(longhaul.FormatError, match="message 7"):
        longhaul.count(broken)
    with pytest.raises(TypeError, match="give one"):
        longhaul.count({"system": "Be quick.", "messages": anthropic_history()}, system="Be careful.")
    with pytest.raises(longhaul.FormatError, match="not in those of chat"):
        longhaul.count([{"from": "human", "value": "Hello!"}], system="Be careful.")
    with pytest.raises(TypeError, match="single message"):
        longhaul.count({"role": "user", "content": "Hello!"})


def test_errors_can_be_pickled():
    for kind in (longhaul.StoreError, longhaul.BudgetError, longhaul.LonghaulError):
        assert str(pickle.loads(pickle.dumps(kind("words")))) == "words"


def test_threads_run_beside_each_other():
    messages = openai_history(60)
    alone = longhaul.compact(messages, 4_000).messages
    results = [None] * 8

    def work(at):
        results[at] = longhaul.compact(messages, 4_000).messages

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert all(result == alone for result in results)


def test_half_a_surrogate_pair_comes_through():
    messages = openai_history(2)
    messages[-1]["content"] = "half of a pair: \ud83d"
    assert longhaul.count(messages) > 0


def test_the_command_comes_along():
    command = pathlib.Path(sys.executable).parent / "longhaul"
    if not command.exists():
        pytest.skip("this wheel was built without the command")
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert longhaul.__version__ in said


def test_the_same_bytes_as_the_command(tmp_path):
    """Over every recording that is named, the module and the command agree."""
    command = pathlib.Path(sys.executable).parent / "longhaul"
    folder = os.environ.get("LONGHAUL_RECORDINGS_DIR")
    example = pathlib.Path(__file__).parents[3] / "examples" / "session.jsonl"
    files = sorted(pathlib.Path(folder).rglob("*.json*")) if folder else [example] if example.exists() else []
    if not command.exists() or not files:
        pytest.skip("no command, or no recordings")
    compared = 0
    for file in files:
        out = tmp_path / "out"
        out.unlink(missing_ok=True)
        home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
        ran = subprocess.run([command, "compact", file, "--budget", "4000", "--no-store", "-o", out],
                             capture_output=True, text=True, env=home)
        try:
            data, _ = longhaul.compact_bytes(file.read_bytes(), 4_000)
        except longhaul.LonghaulError as error:
            assert ran.returncode != 0, (file, error)
            continue
        assert ran.returncode == 0, (file, ran.stderr)
        assert data == out.read_bytes(), file
        compared += 1
    assert compared > 0
