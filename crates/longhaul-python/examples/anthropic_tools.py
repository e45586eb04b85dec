"""An agent with tools, one of them for looking up what a compaction took from the model. Needs `pip install anthropic` and
a key."""

import pathlib
import sys

import anthropic

import longhaul

MODEL = "claude-sonnet-4-5"
READ = {
    "name": "read_file",
    "description": "Reads a text file.",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}

client = anthropic.Anthropic()
session = longhaul.Session("reader", store="reader.db", format="anthropic", model=MODEL)
tools = [READ, session.recall_tool]


def run(call):
    if call.name == "recall":
        return session.recall(call.input)
    try:
        return pathlib.Path(call.input["path"]).read_text()
    except OSError as error:
        return f"error: {error}"


session.push({"role": "user", "content": " ".join(sys.argv[1:]) or "What is in README.md?"})
while True:
    view = session.prepare(cache_marks=True)
    system = {"system": view.system} if view.system is not None else {}
    answer = client.messages.create(model=MODEL, max_tokens=2_000, messages=view.messages, tools=tools, **system)
    session.report_usage(view, answer.usage)
    session.push({"role": "assistant", "content": answer.content})
    calls = [block for block in answer.content if block.type == "tool_use"]
    if not calls:
        break
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": run(call)} for call in calls]
    session.push({"role": "user", "content": results})
session.save()
print("".join(block.text for block in answer.content if block.type == "text"))
