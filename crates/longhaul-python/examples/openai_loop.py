"""A chat that never runs out of window. Needs `pip install openai` and a key; any OpenAI-compatible server will do
(OPENAI_BASE_URL)."""

import os

import openai

import longhaul

MODEL = os.environ.get("MODEL", "gpt-4o")

client = openai.OpenAI()
session = longhaul.Session("chat", store="chat.db", model=MODEL, on_event=lambda event: print(f"  [{event.text}]"))
while True:
    session.push({"role": "user", "content": input("> ")})
    view = session.prepare()
    answer = client.chat.completions.create(model=MODEL, messages=view.messages)
    session.report_usage(view, answer.usage)
    session.push(answer.choices[0].message)
    session.save()
    print(answer.choices[0].message.content)
