"""A model that always says the same, over HTTP as OpenAI's protocol has it.

It calls the search once, and answers with the first sentence of the evidence. It prints its address, and ends
with its input.
"""

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

DELTA = 24  # characters
EVIDENCE = re.compile(r'<evidence number="(\d+)"[^>]*>\s*(.*?)\s*</evidence>', re.DOTALL)
SENTENCE_END = re.compile(r"(?<=[.!?。!?])\s*")


def deltas_for(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the model says to a request: one search, then the first sentence of the evidence; nothing as a judge."""
    messages = request["messages"]
    if "tools" in request and messages[-1]["role"] != "tool":
        question = str(messages[-1]["content"]).rstrip().rpartition("\n")[2]
        arguments = json.dumps({"queries": [question[:200]]}, ensure_ascii=False)
        function = {"name": "knowledge_search", "arguments": arguments}
        yield {"tool_calls": [{"index": 0, "id": "call_0", "type": "function", "function": function}]}
        return
    found = EVIDENCE.search("\n".join(str(message.get("content")) for message in messages[1:]))
    lines = [line for line in (found[2] if found else "").splitlines() if line.strip()]
    number = found[1] if found else ""
    yield from _pieces(f"{SENTENCE_END.split(lines[-1])[0].rstrip('.')} [{number}]." if lines else "NO_ANSWER")


def _pieces(text: str) -> Iterator[dict[str, Any]]:
    for at in range(0, len(text), DELTA):
        yield {"content": text[at : at + DELTA]}


def frames(request: dict[str, Any]) -> Iterator[bytes]:
    """The body as the service streams it, one frame at a time."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    deltas = list(deltas_for(request))
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    finish = "tool_calls" if "tool_calls" in deltas[0] else "stop"
    for choice in [*choices, {"index": 0, "delta": {}, "finish_reason": finish}]:
        yield f"data: {json.dumps(head | {'choices': [choice]}, ensure_ascii=False)}\n\n".encode()
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    yield f"data: {json.dumps(head | {'choices': [], 'usage': usage})}\n\ndata: [DONE]\n\n".encode()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first_s: float, pause_s: float) -> None:
    """One connection, request after request."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = re.search(rb"content-length: (\d+)", head.lower())
            request = json.loads(await reader.readexactly(int(length[1]) if length else 0))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            await asyncio.sleep(first_s)
            for frame in frames(request):
                await asyncio.sleep(pause_s)
                writer.write(f"{len(frame):x}\r\n".encode() + frame + b"\r\n")
                await writer.drain()
            writer.write(b"0\r\n\r\n")
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass  # the client is done
    finally:
        writer.close()


async def main(first_s: float, pause_s: float) -> None:
    """Serve until the input ends. first_s: before an answer's first delta; pause_s: before each."""
    server = await asyncio.start_server(
        lambda reader, writer: serve(reader, writer, first_s, pause_s), "127.0.0.1", 0, backlog=512
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), float(sys.argv[2])))
