"""A node that compacts the messages of a LangGraph state before the model sees them. Needs `pip install langgraph
langchain-openai` and a key."""

from langchain_core.messages import convert_to_messages, convert_to_openai_messages
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph

import longhaul

model = ChatOpenAI(model="gpt-4o")


def call_model(state: MessagesState):
    small = longhaul.compact(convert_to_openai_messages(state["messages"]), budget=32_000, model="gpt-4o")
    # The state keeps every message; the model sees what fits.
    return {"messages": [model.invoke(convert_to_messages(small.messages))]}


graph = StateGraph(MessagesState).add_node(call_model).add_edge(START, "call_model").compile()

if __name__ == "__main__":
    print(graph.invoke({"messages": [{"role": "user", "content": "Hello!"}]})["messages"][-1].content)
