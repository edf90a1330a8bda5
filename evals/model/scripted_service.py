"""Serve a language model that replies what a function says, over real HTTP, so that everything but the model can be measured."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agent.providers.base import Prices
from agent.providers.openai_compatible import ModelLimits, ServedModel

Request = Mapping[str, Any]
Delta = dict[str, Any]  # of choices[0].delta, as OpenAI's protocol has it
NAME = "scripted"


def says(text: str) -> Delta:
    return {"content": text}


def calls(name: str, arguments: Mapping[str, Any]) -> Delta:
    """Reply with one call of a tool."""
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"tool_calls": [{"index": 0, "id": f"call_{name}", "type": "function", "function": function}]}


@contextmanager
def scripted_service(reply: Callable[[Request], Delta]) -> Iterator[ServedModel]:
    """Serve on this machine until the block ends."""
    with served(lambda request: streamed([reply(request)], {"prompt_tokens": 100, "completion_tokens": 20})) as model:
        yield model


@contextmanager
def served(body: Callable[[Request], Iterator[bytes]]) -> Iterator[ServedModel]:
    """Serve on this machine until the block ends. body: the answer to a request as it comes; what it raises as LookupError is a
    refusal (400) with its text.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            try:
                frames = body(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            except LookupError as error:
                self._refuse(json.dumps({"error": {"message": str(error)}}).encode())
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with suppress(ConnectionError):  # the client went away
                for frame in frames:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(frame), frame))
                self.wfile.write(b"0\r\n\r\n")

        def _refuse(self, body: bytes) -> None:
            self.send_response(400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        yield ServedModel(NAME, url, NAME, "", Prices(), 128_000, ModelLimits())
    finally:
        server.shutdown()
        server.server_close()


def streamed(deltas: Iterable[Delta], usage: Mapping[str, Any]) -> Iterator[bytes]:
    """Stream the body of an answer: a frame for each delta, then the end and the usage."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": NAME}
    finish = "stop"
    for delta in deltas:
        finish = "tool_calls" if "tool_calls" in delta else finish
        yield _frame(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _frame(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    total = usage["prompt_tokens"] + usage["completion_tokens"]
    yield _frame(head | {"choices": [], "usage": {**usage, "total_tokens": total}})
    yield b"data: [DONE]\n\n"


def _frame(event: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
