"""A model served over real HTTP in OpenAI's protocol, from a script: fails on a call nobody planned and on a step nobody took.

Ready-made servers (llmock was looked at) script no byte-level faults and do not fail on unused steps.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

Request = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """What the server does with one request.

    deltas: of choices[0].delta. finish, usage: None for what is not said; without both it does not say that it is done.
    hang: stays silent "before" the headers or after that many "events". cut_bytes: closes the connection after that many
    bytes of the body. pace_s: seconds between two bytes. body: instead of a stream.
    check: looks at the request; what it raises fails the test. judges: makes the step of any request to the judge, of which nobody
    plans number and order; among the steps of a script it answers them all, and at least one must come.
    """

    deltas: Sequence[dict[str, Any]] = ()
    finish: str | None = "stop"
    usage: tuple[int, int] | None = (10, 5)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    events: Sequence[str] | None = None
    hang: str | int | None = None
    cut_bytes: int | None = None
    pace_s: float = 0.0
    check: Callable[[Request], None] | None = None
    judges: Callable[[Request], "Step"] | None = None


def says(text: str, *, size: int = 7, **more: Any) -> Step:
    """A step that streams a text in pieces of `size` characters."""
    return Step([{"content": text[at : at + size]} for at in range(0, len(text), size)] or [{"content": ""}], **more)


def says_json(value: Any, **more: Any) -> Step:
    return says(json.dumps(value, ensure_ascii=False), size=40, **more)


def calls(*named: tuple[str, dict[str, Any]], **more: Any) -> Step:
    """A step that calls tools, all at once, their arguments in two pieces."""
    deltas: list[dict[str, Any]] = []
    for index, (name, arguments) in enumerate(named):
        text = json.dumps(arguments, ensure_ascii=False)
        half = len(text) // 2
        head = {"index": index, "id": f"call_{name}_{index}", "type": "function"}
        deltas.append({"tool_calls": [{**head, "function": {"name": name, "arguments": text[:half]}}]})
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": text[half:]}}]})
    return Step(deltas, **{"finish": "tool_calls", **more})


def asks_judge(request: Request) -> bool:
    """Whether a request asks the judge."""
    return any('<sentence number="' in str(message.get("content")) for message in request["messages"])


class ModelServer:
    """A running server. base_url: for the client. requests, heads: bodies and headers, in order."""

    def __init__(self, steps: Sequence[Step] | Callable[[Request], Step]) -> None:
        self._steps = [step for step in steps if not step.judges] if not callable(steps) else []
        self._judges = next((step.judges for step in steps if step.judges), None) if not callable(steps) else None
        self._chooses = steps if callable(steps) else None
        self._taken = self._judged = 0
        self.requests: list[Request] = []
        self.heads: list[bytes] = []
        self.problems: list[str] = []
        self.disconnects = 0
        self.asked = threading.Event()  # a first request has come
        self.gone = threading.Event()  # a client left a step that hangs
        self.base_url = ""

    def plan(self, *steps: Step) -> None:
        """Add steps."""
        self._steps += steps

    def assert_done(self) -> None:
        """Every planned step was taken, and nothing else was asked."""
        assert not self.problems, self.problems
        assert self._chooses or self._taken == len(self._steps), f"{len(self._steps) - self._taken} steps were not used"
        assert self._judged or not self._judges, "the judge was not asked"

    def next_step(self, request: Request) -> Step:
        self.requests.append(request)
        self.asked.set()
        if self._chooses:
            step = self._chooses(request)
            return step.judges(request) if step.judges else step
        if self._judges and asks_judge(request):
            self._judged += 1
            return self._judges(request)
        if self._taken == len(self._steps) or asks_judge(request):
            self.problems.append(f"an unplanned call: {json.dumps(request, ensure_ascii=False)[:500]}")
            return Step(status=400, body='{"error": {"message": "nobody planned this call"}}')
        self._taken += 1
        return self._steps[self._taken - 1]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, which may carry several requests."""
        try:
            while (request := await _request(reader, self.heads)) is not None:
                step = self.next_step(request)
                if step.check:
                    try:
                        step.check(request)
                    except AssertionError as error:
                        self.problems.append(str(error) or "a check failed")
                if not await _answer(step, reader, writer):
                    if step.hang is not None:
                        self.gone.set()
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            self.disconnects += 1  # the client went away, or the test is over
        finally:
            writer.close()


async def _request(reader: asyncio.StreamReader, heads: list[bytes]) -> Request | None:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = await reader.readline()
        if not line:
            return None
        head += line
    heads.append(head)
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    body = await reader.readexactly(int(lengths[0].split(b":")[1]) if lengths else 0)
    request: Request = json.loads(body or b"{}")
    return request


async def _answer(step: Step, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Whether the connection can go on."""
    if step.hang == "before":
        await reader.read()  # until the client goes away
        return False
    reason = {200: "OK", 429: "Too Many Requests", 500: "Internal Server Error"}.get(step.status, "Status")
    if step.status != 200 or step.body is not None:
        data = (step.body or '{"error": {"message": "scripted"}}').encode()
        more = "".join(f"{name}: {value}\r\n" for name, value in step.headers.items())
        head = f"HTTP/1.1 {step.status} {reason}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n{more}\r\n"
        writer.write(head.encode() + data)
        await writer.drain()
        return True
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    sent = 0
    for number, event in enumerate(_events(step)):
        if step.hang == number:
            await writer.drain()
            await reader.read()
            return False
        data = f"data: {event}\n\n".encode()
        if step.cut_bytes is not None and sent + len(data) > step.cut_bytes:
            _chunk(writer, data[: step.cut_bytes - sent])
            await writer.drain()
            return False
        sent += len(data)
        if step.pace_s:
            for byte in data:
                _chunk(writer, bytes([byte]))
                await writer.drain()
                await asyncio.sleep(step.pace_s)
        else:
            _chunk(writer, data)
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


_ids = count(1)


def _events(step: Step) -> Iterator[str]:
    if step.events is not None:
        yield from step.events
        return
    head = {"id": f"chatcmpl-{next(_ids)}", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    for delta in step.deltas:
        yield _dumped(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    if step.finish:
        yield _dumped(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": step.finish}]})
    if step.usage:
        tokens = {"prompt_tokens": step.usage[0], "completion_tokens": step.usage[1], "total_tokens": sum(step.usage)}
        yield _dumped(head | {"choices": [], "usage": tokens})
    if step.finish or step.usage:
        yield "[DONE]"


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def serving(*steps: Step, chooses: Callable[[Request], Step] | None = None) -> Iterator[ModelServer]:
    """A server in a thread of its own; at the end everything planned must have been taken. chooses: instead of a script."""
    server = ModelServer(chooses or steps)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listening = asyncio.run_coroutine_threadsafe(asyncio.start_server(server.serve, "127.0.0.1", 0), loop).result(10)
    server.base_url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
        server.assert_done()
    finally:
        asyncio.run_coroutine_threadsafe(_stopped(listening), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _stopped(listening: asyncio.Server) -> None:
    listening.close()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
