"""The examples that need no key are run, the others are compiled."""

import asyncio
import importlib.util
import pathlib

import pytest

EXAMPLES = sorted(pathlib.Path(__file__).parents[1].joinpath("examples").glob("*.py"))


def load(name):
    path = next(path for path in EXAMPLES if path.stem == name)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_compiles(path):
    compile(path.read_text(), path, "exec")


def test_a_session_of_the_agents_sdk(tmp_path):
    agents = pytest.importorskip("agents")
    module = load("openai_agents_session")

    async def run():
        session = await module.LonghaulSession.open("agents", store=tmp_path / "a.db", window=3_000)
        assert isinstance(session, agents.Session)
        for n in range(40):
            await session.add_items([
                {"role": "user", "content": f"Question {n}? " + "word " * 60},
                {"type": "message", "role": "assistant", "id": f"msg_{n}", "status": "completed",
                 "content": [{"type": "output_text", "text": f"Answer {n}.", "annotations": []}]},
            ])
        items = await session.get_items()
        assert len(items) < 80 and "Answer 39." in str(items[-1])
        assert "Answer 39." in str(await session.pop_item())
        assert "Question 39?" in str((await session.get_items(limit=1))[0])

    asyncio.run(run())
