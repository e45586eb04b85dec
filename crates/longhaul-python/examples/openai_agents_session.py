"""A session for the OpenAI Agents SDK that never runs out of window. Needs `pip install openai-agents` and a key."""

import asyncio

from agents import Agent, Runner

import longhaul


class LonghaulSession:
    """What the SDK asks of a session (`agents.memory.Session`), kept by longhaul: the model sees what fits, the store
    keeps everything."""

    session_settings = None

    def __init__(self, session_id, session):
        self.session_id = session_id
        self._session = session

    @classmethod
    async def open(cls, session_id, **options):
        return cls(session_id, await longhaul.AsyncSession.open(session_id, format="responses", **options))

    async def get_items(self, limit=None):
        view = await self._session.prepare()
        return view.messages if limit is None else view.messages[-limit:]

    async def add_items(self, items):
        await self._session.push(*items)
        await self._session.save()

    async def pop_item(self):
        said = (await self._session.status())["full_message_count"]
        if said < 2:
            return None
        last = (await self._session.view()).messages[-1]
        await self._session.rewind(said - 2)
        return last

    async def clear_session(self):
        raise NotImplementedError("longhaul keeps what was said; open a session of another name")


async def main():
    session = await LonghaulSession.open("agents", store="agents.db", model="gpt-4o")
    agent = Agent(name="Assistant", instructions="Reply concisely.")
    for question in ["What is the capital of France?", "And of Italy?"]:
        print((await Runner.run(agent, question, session=session)).final_output)


if __name__ == "__main__":
    asyncio.run(main())
