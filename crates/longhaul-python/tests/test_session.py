"""Sessions: the loop, resume, branches, threads and asyncio."""

import asyncio
import gc
import json
import os
import signal
import threading

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


def test_a_whole_history_has_its_instructions_once():
    session = longhaul.Session("followed", window=6_000)
    with pytest.raises(TypeError, match="give one"):
        session.sync([{"role": "system", "content": "Be quick."}, {"role": "user", "content": "Fix it."}], system="Be careful.")
    assert len(session) == 0


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
    views = grown(session)
    assert all([message["role"] for message in request["messages"]] == ["system", "user"] for request in asked)
    assert "part_3" in asked[0]["messages"][1]["content"] and asked[0]["max_tokens"] > 0
    before = next(view for view in views if len(view.messages) > 8)
    assert "part_3 is read (m8)" not in json.dumps(before.messages)
    assert "part_3 is read (m8)" in json.dumps(views[-1].messages)
    assert "part_3 is read (m8)" in session.compact()["summary"]


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


def test_a_listener_that_raises_does_not_cost_the_view(caplog):
    def listener(event):
        raise RuntimeError("the screen is gone")

    session = opened(on_event=listener)
    views = grown(session)
    assert max(view.tokens for view in views) <= 6_000
    assert "the screen is gone" in caplog.text and caplog.records[0].name == "longhaul"


def test_a_listener_of_a_plain_session_is_plain():
    async def listener(event):
        pass

    class Listener:
        async def __call__(self, event):
            pass

    for one in (listener, Listener()):
        with pytest.raises(TypeError, match="plain function"):
            longhaul.Session("s", on_event=one)


def test_a_listener_that_ends_the_program_ends_it():
    def listener(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grown(opened(on_event=listener))


def in_child(work):
    """The number with which a forked child leaves that does this: what `work` returns, 99 where it hangs."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        code = 98
        try:
            code = work()
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    return 99 if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def test_after_a_fork_every_call_is_refused(tmp_path):
    session = opened(store=tmp_path / "s.db")
    view = session.prepare()
    calls = [
        lambda: session.name, lambda: len(session), lambda: session.push({"role": "user", "content": "A"}), session.prepare,
        session.view, lambda: session.report_usage(view, {"prompt_tokens": 5}), session.status, lambda: session.open_calls,
        lambda: session.set_memory("a", "b"), lambda: session.pin(0), lambda: session.unpin(0), session.compact, session.undo,
        lambda: session.recall({"query": "a"}), lambda: session.sync(view.messages),
    ]

    def work():
        for at, call in enumerate(calls):
            try:
                call()
                return at + 1
            except longhaul.StoreError as error:
                assert "before a fork" in str(error)
        return 0

    assert in_child(work) == 0


def test_a_child_that_drops_a_session_leaves_it_to_its_parent(tmp_path):
    session = opened(store=tmp_path / "s.db")
    session.save()
    holder = [session]

    def work():
        nonlocal session
        holder.clear()
        del session
        gc.collect()
        return 0

    assert in_child(work) == 0
    session.push({"role": "user", "content": "The parent goes on."})
    session.save()
    assert session.name == "work"
    session = None
    holder.clear()
    again = longhaul.Session("work", window=6_000, store=tmp_path / "s.db")
    assert "The parent goes on." in json.dumps(again.view().messages)


def test_a_child_uses_asyncio_on_threads_of_its_own(tmp_path):
    async def said(name):
        session = await longhaul.AsyncSession.open(name, window=6_000)
        await session.push({"role": "user", "content": "Hello."})
        return session

    parents = asyncio.run(said("parent"))

    def work():
        asyncio.run(said("child"))
        try:
            asyncio.run(parents.view())
        except longhaul.StoreError:
            return 0
        return 1

    assert in_child(work) == 0


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


def test_a_session_goes_on_in_another_loop(caplog):
    told = []

    async def compacting():
        calls = [session.push(*turn(n)) for n in range(20)]
        await asyncio.gather(*calls)
        await session.compact()
        await asyncio.sleep(0)

    async def opening():
        nonlocal session
        session = await longhaul.AsyncSession.open("work", window=6_000, on_event=told.append)
        await session.push({"role": "user", "content": "Fix it."})
        await compacting()

    session = None
    asyncio.run(opening())
    first = len(told)
    assert first
    asyncio.run(compacting())
    assert len(told) > first and not caplog.records


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


def asks_on_the_loop(answered):
    """A summarizer whose answer needs the loop's own threads, as a look-up of a name does."""

    async def summarizer(request):
        await asyncio.to_thread(answered)
        return "## State\n- part_3 is read (m8).\n"

    return summarizer


def test_sixty_four_sessions_compact_at_once():
    async def run():
        asked = 0

        def answered():
            nonlocal asked
            asked += 1

        sessions = []
        for n in range(64):
            session = await longhaul.AsyncSession.open(
                f"s{n}", window=12_000, summarizer=asks_on_the_loop(answered), summarizer_window=32_000)
            await session.push({"role": "user", "content": "Fix it."}, *(m for at in range(12) for m in turn(at)))
            sessions.append(session)
        done = await asyncio.wait_for(asyncio.gather(*(session.compact() for session in sessions)), 60)
        assert asked >= 64
        assert all("part_3 is read" in one["summary"] for one in done)

    asyncio.run(run())


async def compacting():
    """A session in the middle of a compaction, the task that waits for it, and what lets it end."""
    loop, asked, go = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def summarizer(request):
        loop.call_soon_threadsafe(asked.set)
        assert go.wait(20)
        return "## State\n- part_3 is read (m8).\n"

    session = await longhaul.AsyncSession.open("work", window=12_000, summarizer=summarizer, summarizer_window=32_000)
    await session.push({"role": "user", "content": "Fix it."}, *(m for at in range(12) for m in turn(at)))
    task = asyncio.create_task(session.compact())
    await asked.wait()
    return session, task, go


def test_name_and_recall_tool_wait_for_no_call():
    async def run():
        session, task, go = await compacting()
        # The loop must go on while they are asked: were they to wait, only this thread could end it.
        threading.Timer(3, go.set).start()
        began = asyncio.get_running_loop().time()
        assert session.name == "work"
        assert session.recall_tool["function"]["name"] == "recall"
        assert asyncio.get_running_loop().time() - began < 1 and not task.done()
        go.set()
        await task

    asyncio.run(run())


def test_a_call_that_is_cancelled_while_it_waits_is_not_done():
    async def run():
        session, task, go = await compacting()
        waiting = asyncio.create_task(session.push({"role": "user", "content": "Never mind."}))
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not task.done()
        go.set()
        await task
        await session.push({"role": "user", "content": "Go on."})
        said = json.dumps((await session.view()).messages)
        assert "Never mind." not in said and "Go on." in said

    asyncio.run(run())


def test_a_call_that_is_cancelled_when_it_has_begun_is_done_before_it_is_over():
    async def run():
        session, task, go = await compacting()
        task.cancel()
        await asyncio.sleep(0.05)
        assert not task.done()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await session.undo()

    asyncio.run(run())


def test_an_async_listener_is_awaited_and_may_raise(caplog):
    async def run():
        told = []

        async def listener(event):
            await asyncio.sleep(0)
            told.append(event)
            raise RuntimeError("the screen is gone")

        session = await longhaul.AsyncSession.open("work", window=6_000, on_event=listener)
        await session.push({"role": "user", "content": "Fix it."})
        for n in range(30):
            await session.push(*turn(n))
            assert (await session.prepare()).tokens <= 6_000
        await asyncio.sleep(0.05)
        assert told and "the screen is gone" in caplog.text
        with pytest.raises(TypeError, match="on_event"):
            await longhaul.AsyncSession.open("other", on_event=5)

    asyncio.run(run())


@pytest.mark.parametrize("format, first", [
    ("openai", {"role": "user", "content": "Hello."}),
    ("responses", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]}),
    ("anthropic", {"role": "user", "content": "Hello."}),
    ("gemini", {"role": "user", "parts": [{"text": "Hello."}]}),
])
def test_instructions_beside_a_whole_history_are_followed(format, first):
    session = longhaul.Session("followed", format=format, window=6_000)
    assert session.sync([first], system="Never touch codec 77.").kind == "grew"
    view = session.view()
    carried = view.messages[0] if format == "openai" else view.system
    assert "Never touch codec 77." in json.dumps(carried)
    assert session.sync([first], system="Never touch codec 77.").kind == "unchanged"
