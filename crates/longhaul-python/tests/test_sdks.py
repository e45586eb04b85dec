"""The official SDKs of OpenAI and Anthropic, over HTTP, against a server of ours that answers as theirs do."""

import http.server
import json
import threading

import pytest

import longhaul


class Provider(http.server.BaseHTTPRequestHandler):
    """Calls a tool ten times, then says that it is done; refuses what its provider would refuse."""

    requests: list = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append(body)
        format = "anthropic" if self.path.endswith("/messages") else "openai"
        wrong = longhaul.validate(body["messages"], system=body.get("system"), format=format)
        n = len(self.requests)
        answer = {"error": {"message": "; ".join(wrong), "type": "invalid_request_error"}} if wrong else self.answer(format, n)
        data = json.dumps(answer).encode()
        self.send_response(400 if wrong else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    @staticmethod
    def answer(format, n):
        done = n > 10
        if format == "anthropic":
            block = {"type": "text", "text": "Done."} if done else {"type": "tool_use", "id": f"toolu_{n}", "name": "read", "input": {"path": f"src/{n}.rs"}}
            return {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": "claude", "content": [block],
                    "stop_reason": "end_turn" if done else "tool_use", "stop_sequence": None,
                    "usage": {"input_tokens": 900, "output_tokens": 20, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 0}}
        message = {"role": "assistant", "content": "Done." if done else None, "refusal": None}
        if not done:
            message["tool_calls"] = [{"id": f"call_{n}", "type": "function", "function": {"name": "read", "arguments": json.dumps({"path": f"src/{n}.rs"})}}]
        return {"id": f"c{n}", "object": "chat.completion", "created": 1, "model": "gpt-4o",
                "choices": [{"index": 0, "finish_reason": "stop" if done else "tool_calls", "message": message}],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}}

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    Provider.requests = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def test_openai(server, tmp_path):
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=server + "/v1", api_key="none", max_retries=0)
    session = longhaul.Session("sdk", store=tmp_path / "s.db", window=4_000)
    session.push({"role": "user", "content": "Read all parts."})
    while True:
        view = session.prepare()
        answer = client.chat.completions.create(model="gpt-4o", messages=view.messages)
        session.report_usage(view, answer.usage)
        message = answer.choices[0].message
        session.push(message)
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            session.push({"role": "tool", "tool_call_id": call.id, "content": f"fn {call.id}() {{}}\n" * 80})
    assert len(Provider.requests) == 11
    assert len(session) == 22
    # Objects of the SDK are taken where dicts are.
    assert longhaul.count([{"role": "user", "content": "Hello!"}, message]) > 9


def test_anthropic(server, tmp_path):
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.Anthropic(base_url=server, api_key="none", max_retries=0)
    session = longhaul.Session("sdk", store=tmp_path / "s.db", window=4_000, format="anthropic")
    session.push({"role": "user", "content": "Read all parts."})
    while True:
        view = session.prepare(cache_marks=True)
        system = {"system": view.system} if view.system is not None else {}
        answer = client.messages.create(model="claude", max_tokens=500, messages=view.messages, **system)
        session.report_usage(view, answer.usage)
        session.push({"role": "assistant", "content": answer.content})
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            break
        session.push({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call.id, "content": f"fn {call.id}() {{}}\n" * 80} for call in calls]})
    assert len(Provider.requests) == 11
    assert len(session) == 22
