"""Any service that answers POST {base_url}/chat/completions as OpenAI does: vLLM, llama.cpp, Ollama, OpenAI itself."""

import asyncio
import json
import random
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from agent.providers.base import (
    CallPiece,
    Delta,
    Message,
    ModelBroken,
    ModelError,
    ModelMisconfigured,
    ModelUnavailable,
    Prices,
    Shape,
    Usage,
)
from agent.providers.breaker import Breaker, breaker_of

if TYPE_CHECKING:
    import openai  # at run time where it is spoken with: a second and 13 MB of every process that never does

CONTEXT_TOKENS = 32_000  # of a model nobody has said more about


@dataclass(frozen=True)
class ModelLimits:
    """Seconds, and attempts before the first delta. The client's own defaults are 600 s and two retries."""

    connect_s: float = 5.0
    first_s: float = 30.0  # from the request to the first delta
    between_s: float = 30.0  # from one delta to the next
    total_s: float = 180.0  # of one call, all attempts together
    attempts: int = 3
    first_wait_s: float = 0.5  # before the second attempt; doubles, with jitter
    longest_wait_s: float = 10.0  # also of a Retry-After that is obeyed


@dataclass(frozen=True)
class ServedModel:
    """What is known of a served model. name: as people know it; model: as the service knows it."""

    name: str
    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    prices: Prices = field(default_factory=Prices)
    context_tokens: int = CONTEXT_TOKENS
    limits: ModelLimits = field(default_factory=ModelLimits)


class OpenAICompatible:
    """One run's connection to a served model."""

    def __init__(self, served: ServedModel, *, breaker: Breaker | None = None) -> None:
        self.served = served
        self.name = served.name
        self.prices = served.prices
        self.context_tokens = served.context_tokens
        self._breaker = breaker or breaker_of(served.base_url, served.model)

    @cached_property
    def _client(self) -> "openai.AsyncOpenAI":
        """Made when it is first spoken to: whoever asks does not wait for it."""
        import openai

        served, limits = self.served, self.served.limits
        timeout = openai.Timeout(limits.total_s, connect=limits.connect_s)
        return openai.AsyncOpenAI(
            base_url=served.base_url,
            api_key=served.api_key or "none",
            max_retries=0,
            timeout=timeout,
            http_client=openai.DefaultAsyncHttpxClient(verify=_trusted(), timeout=timeout),
        )

    async def aclose(self) -> None:
        if "_client" in vars(self):
            await self._client.close()

    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), shape: Shape | None = None
    ) -> AsyncIterator[Delta]:
        """One call, tried again with jitter as long as nothing has come; after the first delta never: it would say it twice.

        Raises ModelError.
        """
        limits = self.served.limits
        deadline = time.monotonic() + limits.total_s
        attempt = 0
        while True:
            attempt += 1
            self._breaker.check()
            begun = False
            try:
                async for delta in self._once(_request(self.served.model, messages, tools, shape), deadline):
                    begun = True
                    yield delta
            except ModelUnavailable as error:
                self._breaker.failed()
                wait = _wait(error, attempt, limits)
                if begun or attempt >= limits.attempts or time.monotonic() + wait > deadline:
                    raise
                await asyncio.sleep(wait)
            except ModelBroken:
                self._breaker.failed()
                raise
            else:
                self._breaker.worked()
                return

    async def _once(self, request: dict[str, Any], deadline: float) -> AsyncIterator[Delta]:
        """One attempt. Raises ModelUnavailable where nothing came, ModelBroken where it stopped in the middle."""
        import openai

        begun, finished = False, False
        try:
            async with aclosing(self._deltas(request, deadline)) as deltas:
                async for delta in deltas:
                    begun = True
                    finished = finished or bool(delta.finish) or delta.usage is not None
                    yield delta
        except (openai.OpenAIError, OSError, ValueError, TimeoutError) as error:
            raise self._reason(error, begun=begun) from error
        except Exception as error:  # the client lets its transport's errors through; they have no common root
            if not type(error).__module__.startswith(("httpx", "httpcore")):
                raise
            raise self._reason(error, begun=begun) from error
        if not begun:
            raise ModelUnavailable(f"{self.name} answered nothing")
        if not finished:
            raise ModelBroken(f"{self.name} stopped in the middle of its answer")

    async def _deltas(self, request: dict[str, Any], deadline: float) -> AsyncGenerator[Delta, None]:
        """What comes, each within its time; what says nothing is left out. Raises TimeoutError and what the client raises."""
        import openai

        limits = self.served.limits
        until = min(time.monotonic() + limits.first_s, deadline)
        # not `chat.completions.create`: it walks through every message and schema to rename fields that have their names
        # already, and makes a model of every chunk
        chunks_of = openai.AsyncStream[object]
        asked = self._client.post("/chat/completions", cast_to=object, body=request, stream=True, stream_cls=chunks_of)
        stream = await _by(until, asked)
        try:
            chunks = aiter(stream)
            while (chunk := await _by(until, anext(chunks, None))) is not None:
                if (delta := delta_of(chunk)) != Delta():
                    yield delta
                    until = min(time.monotonic() + limits.between_s, deadline)
        finally:
            await stream.close()

    def _reason(self, error: Exception, *, begun: bool) -> ModelError:
        """The failure in our words; never the answer's body, which may repeat the prompt."""
        import openai

        kind = type(error).__name__
        if begun:
            return ModelBroken(f"{self.name} stopped in the middle of its answer ({kind})")
        if isinstance(error, openai.APIStatusError):
            said = f"{self.name} answered with status {error.status_code}"
            if error.status_code == 429 or error.status_code >= 500 or error.status_code == 408:
                return _with_wait(ModelUnavailable(said), error)
            return ModelMisconfigured(said)
        if isinstance(error, TimeoutError | openai.APITimeoutError):
            return ModelUnavailable(f"{self.name} did not begin to answer in time")
        return ModelUnavailable(f"{self.name} cannot be reached or does not speak the protocol ({kind})")


@cache
def _trusted() -> ssl.SSLContext:
    """Made once: reading the certificates takes 30 ms."""
    return ssl.create_default_context()


async def _by(deadline: float, waiting: Any) -> Any:
    """Await something until a moment of the monotonic clock. Raises TimeoutError."""
    async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
        return await waiting


def _request(
    model: str, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], shape: Shape | None
) -> dict[str, Any]:
    request: dict[str, Any] = {
        "model": model,
        "messages": list(messages),
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
    }
    if tools:
        request |= {"tools": list(tools), "tool_choice": "auto"}
    if shape is not None and shape.strict:
        schema = {"name": shape.name, "schema": dict(shape.schema), "strict": True}
        request["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif shape is not None:
        request["response_format"] = {"type": "json_object", "schema": dict(shape.schema)}
    return request


def delta_of(chunk: object) -> Delta:
    """A chunk of the service as JSON, whatever it leaves out."""
    read = _object(chunk)
    usage = _object(read.get("usage"))
    counted = Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0) if usage else None
    choices = read.get("choices")
    choice = _object(choices[0]) if isinstance(choices, list) and choices else None
    if choice is None:
        return Delta(usage=counted)
    said = _object(choice.get("delta")) or _object(choice.get("message"))
    return Delta(
        text=_text(said.get("content")),
        reasoning=_text(said.get("reasoning_content") or said.get("reasoning")),
        calls=tuple(_piece(_object(call)) for call in said.get("tool_calls") or ()),
        finish=choice.get("finish_reason") or "",
        usage=counted,
    )


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(content: object) -> str:
    """Content is a text, or for some services a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part.get("text", "") for part in parts if isinstance(part, dict))


def _piece(call: Mapping[str, Any]) -> CallPiece:
    function = _object(call.get("function"))
    arguments = function.get("arguments")
    if isinstance(arguments, dict):  # some services send the object itself
        arguments = json.dumps(arguments, ensure_ascii=False)
    return CallPiece(
        index=call.get("index"), id=call.get("id") or "", name=function.get("name") or "", arguments=arguments or ""
    )


def _with_wait(error: ModelUnavailable, answer: "openai.APIStatusError") -> ModelUnavailable:
    """The error with the seconds that the service asks to wait, if it does."""
    text = answer.response.headers.get("retry-after", "")
    error.retry_after_s = float(text) if text.replace(".", "", 1).isdecimal() else None
    return error


def _wait(error: ModelUnavailable, attempt: int, limits: ModelLimits) -> float:
    """Seconds before the next attempt: what the service asks for, else doubling; jitter keeps runs apart."""
    if error.retry_after_s is not None:
        return error.retry_after_s if error.retry_after_s <= limits.longest_wait_s else float("inf")
    base = limits.first_wait_s * 2 ** (attempt - 1)
    return float(min(limits.longest_wait_s, base) * random.uniform(0.5, 1.0))  # noqa: S311 - spreads load, hides nothing
