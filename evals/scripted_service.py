"""Serve a language model that replies what a function says, over real HTTP, so that everything but the model can be measured.

`PacedService` has the pace of a hosted model. The first token comes after a time of its own (`ReplyPace`) and that for reading the prompt;
the others follow evenly. What was read before is not read again: of each request the tools, then the messages, are compared with every
earlier one since `forget`, and the tokens of the longest common beginning count as cached. They are in `usage.prompt_tokens_details` and
cost no time, as with services that cache prompts. Tokens are counted as the product counts them.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os.path import commonprefix
from typing import Any

from agent.prompting import count_message_tokens, count_tokens
from agent.providers.base import Prices
from agent.providers.openai_compatible import ModelLimits, ServedModel

Request = Mapping[str, Any]
Delta = dict[str, Any]  # of choices[0].delta, as OpenAI's protocol has it
NAME = "scripted"
_TOKEN = re.compile(r"[\u2e80-\U0010ffff]|[^\u2e80-\U0010ffff]{1,4}")


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
                self.send_error(HTTPStatus.BAD_REQUEST, explain=str(error))
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with suppress(ConnectionError):  # the client went away
                for frame in frames:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(frame), frame))
                self.wfile.write(b"0\r\n\r\n")

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


@dataclass(frozen=True)
class ReplyPace:
    """The pace of a hosted model. first_s: to the first token, besides the reading. read, written: tokens a second."""

    first_s: float = 0.6
    read: float = 4_000.0
    written: float = 60.0


@dataclass(frozen=True)
class Call:
    """A request and its tokens. cached_tokens: of the prompt, read before."""

    request: Request
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int

    @property
    def is_judge(self) -> bool:
        """Tell whether it asks about sentences: a conversation always has tools, the judge has none."""
        return not self.request.get("tools")


class PacedService:
    """Answers the requests of a run, for `served`. calls: in the order of their coming."""

    def __init__(self, reply: Callable[[Request], Delta], pace: ReplyPace) -> None:
        self._reply, self._pace = reply, pace
        self._lock = threading.Lock()
        self.calls: list[Call] = []

    def forget(self) -> list[Call]:
        """Begin another run, whose prompts nobody has read before; return the calls of the last one."""
        with self._lock:
            calls, self.calls = self.calls, []
        return calls

    def answer(self, request: Request) -> Iterator[bytes]:
        """Stream the body of the answer at the pace. Raises LookupError where the script has none."""
        began, delta = time.monotonic(), self._reply(request)
        with self._lock:
            call = self._counted(request, delta)
            self.calls.append(call)
        usage = {
            "prompt_tokens": call.prompt_tokens,
            "completion_tokens": call.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": call.cached_tokens},
        }
        return streamed(self._paced(delta, call, began), usage)

    def _counted(self, request: Request, delta: Delta) -> Call:
        prompt, tools = _prompt(request), request.get("tools")
        known = (commonprefix([prompt, _prompt(call.request)]) for call in self.calls)  # noqa: RUF071 - texts, not paths
        read = count_message_tokens(request["messages"]) + (
            count_tokens(json.dumps(tools, ensure_ascii=False)) if tools else 0
        )
        calls = [item["function"] for item in delta.get("tool_calls", ())]
        written = delta.get("content") or "".join(f"{item['name']}{item['arguments']}" for item in calls)
        return Call(request, read, min(read, count_tokens(max(known, key=len, default=""))), count_tokens(written))

    def _paced(self, delta: Delta, call: Call, began: float) -> Iterator[Delta]:
        """Give the answer token by token, each by the clock, so that delays of the machine do not add up."""
        first_at = began + self._pace.first_s + (call.prompt_tokens - call.cached_tokens) / self._pace.read
        for place, token in enumerate(_tokens(delta)):
            time.sleep(max(0.0, first_at + place / self._pace.written - time.monotonic()))
            yield token


def _prompt(request: Request) -> str:
    """Return all that a model reads: the tools, then the messages."""
    messages = [(item["role"], item.get("content"), item.get("tool_calls")) for item in request["messages"]]
    return f"{request.get('tools')}\n" + "\n".join(
        f"{role}: {text or ''}{calls or ''}" for role, text, calls in messages
    )


def _tokens(delta: Delta) -> Iterator[Delta]:
    """Split an answer into pieces of about a token."""
    for text in _TOKEN.findall(delta.get("content") or ""):
        yield {"content": text}
    for call in delta.get("tool_calls", ()):
        function = call["function"]
        yield {"tool_calls": [call | {"function": function | {"arguments": ""}}]}
        for text in _TOKEN.findall(function["arguments"]):
            yield {"tool_calls": [{"index": call["index"], "function": {"arguments": text}}]}
