"""Sessions: the loop, resume, branches, threads and asyncio."""

import asyncio
import json
import os

import pytest

import longhaul


def turn(n):
    return [
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": json.dumps({"path": f"src/{n}.rs"})}}]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": f"fn part_{n}() {{ value }}\n" * 40},
    ]


def grown(session, rounds=30, start=0):
    views = []
    for n in range(start, start + rounds):
        session.push(*turn(n))
        view = session.prepare()
        assert longhaul.validate(view.messages, format="openai") == []
        views.append(view)
    return views


def opened(**options):
    session = longhaul.Session("work", window=6_000, **options)
    session.push({"role": "system", "content": "Be careful."}, {"role": "user", "content": "Fix it. Never touch the lock file."})
    return session


def test_the_window_holds_and_what_was_said_is_there():
    told = []
    session = opened(on_event=told.append)
    views = grown(session)
    assert max(view.tokens for view in views) <= 6_000
    assert len(session) == 62
    assert any(event.kind == "summarized" or "summar" in event.text for event in told), told
    shown = json.dumps(views[-1].messages)
    assert "Never touch the lock file" in shown
    assert "part_3" in session.recall({"query": "part_3"})
    assert session.recall_tool["function"]["name"] == "recall"
    assert session.status()["full_message_count"] == 62


def test_usage_is_taken():
    session = opened()
    view = session.prepare()
    assert session.report_usage(view, {"prompt_tokens": view.tokens + 5, "completion_tokens": 3}) == "taken"
    with pytest.raises(ValueError, match="prompt_tokens"):
        session.report_usage(view, {"words": 3})
    assert session.report_usage(view, None) == "none"
    with pytest.raises(TypeError, match="prepare"):
        session.report_usage(None, {"prompt_tokens": 3})


def test_a_session_goes_on_as_it_was_left(tmp_path):
    store = tmp_path / "longhaul.db"
    session = opened(store=store)
    last = grown(session)[-1]
    session.save()
    del session
    again = longhaul.Session("work", window=6_000, store=store)
    assert len(again) == 62
    assert again.view().messages == last.messages
    grown(again, rounds=5, start=30)
    assert len(again) == 72


def test_calls_that_are_open_after_a_kill(tmp_path):
    session = opened(store=tmp_path / "s.db", save_each_push=True)
    session.push(turn(0)[0])
    del session
    again = longhaul.Session("work", window=6_000, store=tmp_path / "s.db")
    assert [call.name for call in again.open_calls] == ["read"]


def test_undo_redo_rewind_and_pins():
    session = opened()
    pinned = session.push({"role": "user", "content": "Remember: the port is 8443."})
    session.pin(pinned[0])
    grown(session)
    assert "the port is 8443" in json.dumps(session.view().messages)
    before = session.view().messages
    assert session.undo() and session.view().messages != before
    assert session.redo() and session.view().messages == before
    assert session.rewind(pinned[0]) == len(session) == pinned[0] + 1
    with pytest.raises(longhaul.LonghaulError, match="m999"):
        session.pin(999)
    session.set_memory("plan", "Ship on Friday.")
    assert "Ship on Friday." in json.dumps(session.view().messages)


def test_a_whole_history_is_followed():
    history = [{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "How?"}]
    session = longhaul.Session("followed", window=6_000)
    assert session.sync(history) == longhaul.Synced("grew", None, 2)
    assert session.sync(history).kind == "unchanged"
    history.append({"role": "user", "content": "With care."})
    assert session.sync(history).new == 1
    assert len(session) == 3
    assert session.sync([{"role": "user", "content": "Something else."}]).kind == "another"


def test_anthropic_with_cache_marks():
    session = longhaul.Session("claude", format="anthropic", window=8_000, model="claude-sonnet-4-5")
    session.push({"role": "user", "content": "Fix it."})
    for n in range(12):
        session.push({"role": "assistant", "content": [
            {"type": "thinking", "thinking": f"Part {n}.", "signature": "c2ln"},
            {"type": "tool_use", "id": f"t{n}", "name": "read", "input": {"path": f"{n}.rs"}}]})
        session.push({"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{n}", "content": "line\n" * 300}]})
        view = session.prepare(cache_marks=True)
        assert longhaul.validate(view.messages, format="anthropic") == []
        assert 1 <= json.dumps(view.messages).count('"cache_control"') <= 4


def test_settings_are_checked():
    with pytest.raises(longhaul.SettingsError, match="nonesuch"):
        longhaul.Session("s", settings={"nonesuch": True})
    with pytest.raises(longhaul.SettingsError):
        longhaul.Session("", window=1_000)
    with pytest.raises(longhaul.FormatError):
        longhaul.Session("s", format="nonesuch")
    with pytest.raises(longhaul.FormatError):
        longhaul.Session("s").push({"hello": 1})
    for store in (5, b"x"):
        with pytest.raises(TypeError):
            longhaul.Session("s", store=store)
    with pytest.raises(TypeError, match="on_event"):
        longhaul.Session("s", on_event=5)
    assert longhaul.Session("s")
    with pytest.raises(longhaul.StoreError):
        longhaul.Session("s", store="mysql://localhost/x")


def test_a_model_writes_summaries():
    asked = []

    def summarizer(request):
        asked.append(request)
        return "## State\n- part_3 is read (m8).\n"

    session = opened(summarizer=summarizer, summarizer_window=32_000)
    grown(session)
    assert asked


def test_a_summarizer_cannot_use_its_session():
    said = []

    def summarizer(request):
        try:
            session.status()
        except longhaul.LonghaulError as error:
            said.append(str(error))
        return "## State\n- part_3 is read (m8).\n"

    session = opened(summarizer=summarizer, summarizer_window=32_000)
    grown(session)
    assert said and "cannot use the session" in said[0]


def test_after_a_fork_a_session_with_a_store_is_refused(tmp_path):
    session = opened(store=tmp_path / "s.db")
    session.save()
    child = os.fork()
    if child == 0:
        try:
            session.save()
        except longhaul.StoreError:
            again = longhaul.Session("work", window=6_000, store=tmp_path / "s.db")
            os._exit(0 if len(again) == 2 else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_two_sessions_of_one_name_know_of_each_other(tmp_path):
    told = []
    one = opened(store=tmp_path / "s.db")
    one.save()
    two = longhaul.Session("work", window=6_000, store=tmp_path / "s.db", on_event=told.append)
    one.push({"role": "user", "content": "A"})
    one.save()
    two.push({"role": "user", "content": "B"})
    two.save()
    assert one.name == "work" and two.name != "work" and told
    assert "B" in str(longhaul.Session(two.name, window=6_000, store=tmp_path / "s.db").view().messages)


def test_asyncio():
    async def run():
        told = []
        session = await longhaul.AsyncSession.open("work", window=6_000, on_event=told.append)
        await session.push({"role": "user", "content": "Fix it."})
        for n in range(30):
            await session.push(*turn(n))
            view = await session.prepare()
            assert view.tokens <= 6_000
        # The loop goes on while a compaction is made.
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        await asyncio.gather(*(session.push({"role": "user", "content": f"And {n}."}) for n in range(20)))
        await session.prepare()
        ticking.cancel()
        assert ticks > 5
        await asyncio.sleep(0)
        assert told
        return [m["content"] for m in (await session.view()).messages if str(m["content"]).startswith("And ")]

    said = asyncio.run(run())
    assert said == [f"And {n}." for n in range(20)]


def test_an_async_summarizer_runs_on_the_loop_and_is_called_off():
    async def run():
        loops, calls = set(), []
        slow = False

        async def summarizer(request):
            loops.add(asyncio.get_running_loop())
            calls.append(request)
            if slow:
                await asyncio.sleep(30)
            return "## State\n- part_3 is read (m8).\n"

        session = await longhaul.AsyncSession.open("work", window=6_000, summarizer=summarizer, summarizer_window=32_000)
        await session.push({"role": "user", "content": "Fix it."})
        n = 0
        while not calls:
            await session.push(*turn(n))
            await session.prepare()
            n += 1
        assert loops == {asyncio.get_running_loop()}
        slow, before = True, len(calls)
        while len(calls) == before:
            await session.push(*turn(n))
            began = asyncio.get_running_loop().time()
            try:
                await asyncio.wait_for(session.prepare(), 1)
            except asyncio.TimeoutError:
                assert asyncio.get_running_loop().time() - began < 10
            n += 1
        assert len(calls) == before + 1
        slow = False
        view = await session.prepare()
        assert longhaul.validate(view.messages, format="openai") == []

    asyncio.run(run())
