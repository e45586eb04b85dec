"""`longhaul mcp` with the official Python client: what it lists, what it answers, and 1,000 calls.

    pip install mcp
    python crates/longhaul-cli/tests/mcp_client.py target/release/longhaul examples/session.jsonl

Exits with 0 where every answer was well formed. The same over bare pipes is tests/it/mcp.rs, which needs no Python.
"""

import asyncio
import os
import subprocess
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CALLS = 1_000
AT_ONCE = 20


def text(result):
    assert len(result.content) == 1, result
    return result.content[0].text


def failed(result):
    return bool(getattr(result, "is_error", getattr(result, "isError", False)))


async def main(command, example):
    home = tempfile.mkdtemp()
    environment = {"HOME": home, "PATH": os.environ["PATH"]}
    compact = [command, "compact", example, "--budget", "4000", "--session", "work", "-o", f"{home}/small.jsonl"]
    subprocess.run(compact, check=True, env=environment, capture_output=True)
    server = StdioServerParameters(command=command, args=["mcp"], env=environment, cwd=home)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        print("server:", getattr(hello, "server_info", getattr(hello, "serverInfo", None)))
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools] == ["recall", "context", "compact", "sessions"], tools
        resources = (await session.list_resources()).resources
        read_back = await session.read_resource(resources[0].uri)
        assert "[Context Summary" in read_back.contents[0].text
        found = await session.call_tool("recall", {"query": "never change public API", "session": "work"})
        assert not failed(found) and "**public** **API**" in text(found), found
        refused = await session.call_tool("recall", {})
        assert failed(refused) and "query" in text(refused), refused

        kinds = [
            ("recall", {"query": "budget", "session": "work"}, False),
            ("recall", {"query": "m3-m5", "session": "work"}, False),
            ("recall", {"query": "m9999", "session": "work"}, True),
            ("sessions", {}, False),
            ("context", {"session": example}, False),
            ("nothing", {}, True),
        ]
        good = 0
        for start in range(0, CALLS, AT_ONCE):
            batch = [kinds[n % len(kinds)] for n in range(start, start + AT_ONCE)]
            answers = await asyncio.gather(*(session.call_tool(name, given) for name, given, _ in batch))
            for (name, given, fails), answer in zip(batch, answers, strict=True):
                assert failed(answer) == fails and text(answer), (name, given, answer)
                good += 1
        print(f"{good} calls, {CALLS - good} malformed")


asyncio.run(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])))
