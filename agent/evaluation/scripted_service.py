"""A language model's service that replies what a function says, over real HTTP, so that everything but the model can be measured."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agent.providers.base import Prices
from agent.providers.openai_compatible import ModelLimits, ServedModel

Request = Mapping[str, Any]
Delta = dict[str, Any]  # of choices[0].delta, as OpenAI's protocol has it
NAME = "scripted"


def says(text: str) -> Delta:
    return {"content": text}


def says_json(value: Any) -> Delta:
    return says(json.dumps(value, ensure_ascii=False))


def calls(name: str, arguments: Mapping[str, Any]) -> Delta:
    """One call of a tool."""
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"tool_calls": [{"index": 0, "id": f"call_{name}", "type": "function", "function": function}]}


@contextmanager
def scripted_service(reply: Callable[[Request], Delta]) -> Iterator[ServedModel]:
    """Serve on this machine until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = _streamed(reply(request))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            """Nothing: a reply is no news."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        yield ServedModel(NAME, url, NAME, "", Prices(), 128_000, ModelLimits())
    finally:
        server.shutdown()
        server.server_close()


def _streamed(delta: Delta) -> bytes:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": NAME}
    finish = "tool_calls" if "tool_calls" in delta else "stop"
    events = [
        head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        head | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        head | {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}},
    ]
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()
