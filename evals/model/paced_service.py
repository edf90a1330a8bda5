"""Serve a scripted model with the pace of a hosted one.

The first token comes after a time of its own (`Pace`) and that for reading the prompt; the others follow evenly. What was read before is
not read again: of each request the tools, then the messages, are compared with every earlier one since `forget`, and the tokens of
the longest common beginning count as cached. They are told in `usage.prompt_tokens_details` and cost no time, as with services that
cache prompts. Tokens are counted as the product counts them.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from agent.prompting import count_messages, count_tokens
from evals.model.scripted_service import Delta, Request, streamed

_TOKEN = re.compile(r"[\u2e80-\U0010ffff]|[^\u2e80-\U0010ffff]{1,4}")


@dataclass(frozen=True)
class Pace:
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


_Part = tuple[str, str, int]  # the tools of a request or one of its messages: role, text, tokens


class PacedService:
    """Answers the requests of a run, for `evals.model.scripted_service.served`. calls: in the order of their coming."""

    def __init__(self, reply: Callable[[Request], Delta], pace: Pace) -> None:
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
        parts = _parts(request)
        cached = max((_shared(parts, _parts(call.request)) for call in self.calls), default=0)
        return Call(request, sum(tokens for _role, _text, tokens in parts), cached, count_tokens(_written(delta)))

    def _paced(self, delta: Delta, call: Call, began: float) -> Iterator[Delta]:
        """Give the answer token by token, each by the clock, so that delays of the machine do not add up."""
        first_at = began + self._pace.first_s + (call.prompt_tokens - call.cached_tokens) / self._pace.read
        for place, token in enumerate(_tokens(delta)):
            time.sleep(max(0.0, first_at + place / self._pace.written - time.monotonic()))
            yield token


def _parts(request: Request) -> list[_Part]:
    tools = json.dumps(request.get("tools") or "", ensure_ascii=False)
    texts = [f"{item.get('content') or ''}{item.get('tool_calls') or ''}" for item in request["messages"]]
    messages = zip(request["messages"], texts, strict=True)
    return [
        ("tools", tools, count_tokens(tools) if request.get("tools") else 0),
        *((message["role"], text, count_messages([message])) for message, text in messages),
    ]


def _shared(ours: list[_Part], others: list[_Part]) -> int:
    """Count the tokens of the longest common beginning."""
    shared = 0
    for mine, other in zip(ours, others, strict=False):
        role, text, tokens = mine
        if mine != other:
            same = takewhile(lambda pair: pair[0] == pair[1], zip(text, other[1], strict=False))
            begin = "".join(letter for letter, _ in same) if role == other[0] else ""
            return shared + min(tokens, count_tokens(begin))
        shared += tokens
    return shared


def _written(delta: Delta) -> str:
    calls = delta.get("tool_calls", ())
    return delta.get("content") or "".join(
        f"{item['function']['name']}{item['function']['arguments']}" for item in calls
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
