"""Any service that answers POST {base_url}/chat/completions as OpenAI does: vLLM, llama.cpp, Ollama, OpenAI itself."""

import asyncio
import random
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final

from agent.providers.base import (
    Delta,
    Message,
    ModelBroken,
    ModelError,
    ModelFell,
    ModelMisconfigured,
    ModelRefused,
    ModelUnavailable,
    Prices,
    Shape,
)
from agent.providers.breaker import Breaker, find_breaker
from agent.providers.chunks import Thoughts, parse_delta
from copilot_site.lib.http.request_ids import HEADER, find_current_id
from copilot_site.lib.outgoing.addresses import AddressPolicy
from copilot_site.lib.outgoing.http import build_async_transport, find_refusal

if TYPE_CHECKING:
    import openai  # imported on first use: it costs a second and 13 MB

CONTEXT_TOKENS = 32_000  # for a model without a configured size
COUNTED_S = (
    5.0  # after the last word, for the count of tokens; some services keep the connection open and say nothing more
)
_END: Final = object()


@dataclass(frozen=True)
class ModelLimits:
    """Seconds, and attempts before the first delta. The client's own defaults are 600 s and two retries."""

    connect_s: float = 5.0
    first_s: float = 30.0  # from the request to the first delta
    between_s: float = 30.0  # from one delta to the next
    total_s: float = 180.0  # of one call, all attempts together
    attempts: int = 3
    first_wait_s: float = 0.5  # before the second attempt; doubles, with jitter
    longest_wait_s: float = 10.0  # also the longest Retry-After that is followed


@dataclass(frozen=True)
class ServedModel:
    """Settings of a served model. name: as people know it; model: as the service knows it.

    policy: which addresses may be connected to; None for the operator's own setting, the environment.
    """

    name: str
    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    prices: Prices = field(default_factory=Prices)
    context_tokens: int = CONTEXT_TOKENS
    limits: ModelLimits = field(default_factory=ModelLimits)
    policy: AddressPolicy | None = None


class OpenAICompatible:
    """One run's connection to a served model."""

    def __init__(self, served: ServedModel, *, breaker: Breaker | None = None) -> None:
        self.served = served
        self.name = served.name
        self.prices = served.prices
        self.context_tokens = served.context_tokens
        self._breaker = breaker or find_breaker(served.base_url, served.model)

    @cached_property
    def _client(self) -> "openai.AsyncOpenAI":
        """Return the client, made at the first call so that the asker does not wait for it."""
        import openai

        served, limits = self.served, self.served.limits
        timeout = openai.Timeout(limits.total_s, connect=limits.connect_s)
        transport = (
            build_async_transport(served.policy, verify=_load_ssl_context(), limits=openai.DEFAULT_CONNECTION_LIMITS)
            if served.policy
            else None
        )
        client = openai.AsyncOpenAI(
            base_url=served.base_url,
            api_key=served.api_key or "none",
            max_retries=0,
            timeout=timeout,
            http_client=openai.DefaultAsyncHttpxClient(
                verify=_load_ssl_context(), timeout=timeout, transport=transport, follow_redirects=False
            ),  # no redirects: a question goes to the configured address or nowhere
        )
        if served.policy:
            _clear_environment_options(client)
        return client

    async def aclose(self) -> None:
        if "_client" in vars(self):
            await self._client.close()

    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), shape: Shape | None = None
    ) -> AsyncIterator[Delta]:
        """Stream a reply, retrying with jitter until the first delta; never after it, which would repeat text.

        Raises ModelError.
        """
        _make_chunk_stream_class()  # before the clock runs: the first one takes a second
        limits = self.served.limits
        deadline = time.monotonic() + limits.total_s
        attempt, is_plain = 0, self._breaker.is_plain
        while True:
            attempt += 1
            self._breaker.check()
            begun = False
            request = _build_request_body(self.served.model, messages, tools, shape, is_plain=is_plain)
            try:
                async for delta in self._attempt_request(request, deadline):
                    begun = True
                    yield delta
            except ModelUnavailable as error:
                self._breaker.failed()
                wait = _compute_retry_wait(error, attempt, limits)
                is_of_form = shape is not None and isinstance(error, ModelFell)  # another form follows
                if begun or is_of_form or attempt >= limits.attempts or time.monotonic() + wait > deadline:
                    raise
                await asyncio.sleep(wait)
            except ModelBroken:
                self._breaker.failed()
                raise
            except ModelRefused:
                if is_plain or shape is not None:  # another form follows one that is not supported
                    raise
                is_plain = True
            else:
                self._breaker.worked()
                self._breaker.is_plain = is_plain
                return

    async def _attempt_request(self, request: dict[str, Any], deadline: float) -> AsyncIterator[Delta]:
        """Make one attempt. Raises ModelUnavailable where nothing came, ModelBroken where it stopped in the middle."""
        import openai

        begun, finished = False, False
        try:
            async with aclosing(self._iterate_deltas(request, deadline)) as deltas:
                async for delta in deltas:
                    begun = True
                    is_count = delta.usage is not None and delta == Delta(usage=delta.usage)
                    finished = finished or bool(delta.finish) or is_count
                    yield delta
        except (openai.OpenAIError, OSError, ValueError, TimeoutError) as error:
            raise self._convert_client_error(error, begun=begun) from error
        except Exception as error:  # the client passes on its transport's errors, which have no common base
            if not type(error).__module__.startswith(("httpx", "httpcore")):
                raise
            raise self._convert_client_error(error, begun=begun) from error
        if not begun:
            raise ModelUnavailable(f"{self.name} answered nothing")
        if not finished:
            raise ModelBroken(f"{self.name} stopped in the middle of its answer")

    async def _iterate_deltas(self, request: dict[str, Any], deadline: float) -> AsyncGenerator[Delta, None]:
        """Yield non-empty deltas, each within its time limit. Raises TimeoutError and the client's errors."""

        limits = self.served.limits
        until = min(time.monotonic() + limits.first_s, deadline)
        # not `chat.completions.create`: it walks through every message and schema to rename fields that have their names
        # already, and makes a model of every chunk
        options: Any = {"headers": {HEADER: named}} if (named := find_current_id()) else {}
        asked = self._client.post(
            "/chat/completions",
            cast_to=object,
            body=request,
            options=options,
            stream=True,
            stream_cls=_make_chunk_stream_class(),
        )
        stream = await _await_until_deadline(until, asked)
        begun, finish, thoughts = False, "", Thoughts(self._breaker.is_begun)
        try:
            chunks = aiter(stream)
            while (chunk := await _await_until_deadline(until, anext(chunks, _END))) is not _END:
                if (found := parse_delta(chunk)) != Delta():
                    if (delta := thoughts.take(found)) != Delta():
                        yield delta
                    self._breaker.is_begun = thoughts.is_begun or self._breaker.is_begun
                    begun, finish = True, finish or found.finish
                    wait = min(limits.between_s, COUNTED_S) if finish else limits.between_s
                    until = min(time.monotonic() + wait, deadline)
        except TimeoutError:
            if not finish:
                raise
        finally:
            await stream.close()
        if (rest := thoughts.rest(finish)) != Delta():
            yield rest
        if begun and not finish and stream.is_done:
            yield Delta(finish="stop")

    def _convert_client_error(self, error: Exception, *, begun: bool) -> ModelError:
        """Return the failure in our words; never the response body, which may repeat the prompt."""
        import openai

        kind = type(error).__name__
        if begun:
            return ModelBroken(f"{self.name} stopped in the middle of its answer ({kind})")
        if isinstance(error, openai.APIStatusError):
            message = f"{self.name} answered with status {error.status_code}"
            if error.status_code in {500, 501}:
                return _add_requested_wait(ModelFell(message), error)
            if error.status_code == 429 or error.status_code > 501 or error.status_code == 408:
                return _add_requested_wait(ModelUnavailable(message), error)
            return ModelRefused(message) if error.status_code in {400, 422} else ModelMisconfigured(message)
        if refused := find_refusal(error):
            return ModelMisconfigured(f"{self.name}: {refused}")
        is_late = isinstance(error, TimeoutError | openai.APITimeoutError)
        how = (
            "did not begin to answer in time"
            if is_late
            else f"cannot be reached or does not speak the protocol ({kind})"
        )
        return ModelUnavailable(f"{self.name} {how}")


def _clear_environment_options(client: "openai.AsyncOpenAI") -> None:
    """Clear the client's OPENAI_ORG_ID, _PROJECT_ID, _ADMIN_KEY and _CUSTOM_HEADERS.

    They are meant for the operator's own address only.
    """
    client.organization = client.project = client.admin_api_key = None
    client._custom_headers = {}


@cache
def _load_ssl_context() -> ssl.SSLContext:
    """Return a cached SSL context: reading the certificates takes 30 ms."""
    return ssl.create_default_context()


@cache
def _make_chunk_stream_class() -> "type[openai.AsyncStream[object]]":
    """Return a stream class that yields chunks as JSON.

    It notes the service's end mark, and accepts a whole answer instead of a stream.
    """
    import openai
    from openai._streaming import ServerSentEvent

    class Chunks(openai.AsyncStream[object]):
        is_done = False

        async def _iter_events(self) -> AsyncIterator[ServerSentEvent]:
            if "application/json" in self.response.headers.get("content-type", ""):
                yield ServerSentEvent(data=(await self.response.aread()).decode())
                return
            async for event in super()._iter_events():
                self.is_done = self.is_done or event.data.startswith("[DONE]")
                yield event

    return Chunks


async def _await_until_deadline(deadline: float, waiting: Any) -> Any:
    """Await something until a deadline of the monotonic clock. Raises TimeoutError."""
    async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
        return await waiting


def _build_request_body(
    model: str,
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]],
    shape: Shape | None,
    *,
    is_plain: bool,
) -> dict[str, Any]:
    """Return the request body.

    is_plain: without options that not every service accepts; some models allow one temperature only.
    """
    request: dict[str, Any] = {"model": model, "messages": list(messages), "stream": True}
    if not is_plain:
        request |= {"stream_options": {"include_usage": True}, "temperature": 0}
    if tools:
        request |= {"tools": list(tools), "tool_choice": "auto"}
    return request | (_build_format_options(shape) if shape is not None else {})


def _build_format_options(shape: Shape) -> dict[str, Any]:
    """Return the options that request a form."""
    schema = dict(shape.schema)
    if shape.form == "tool":
        tool = {"name": shape.name, "description": "Gives the answer.", "parameters": schema}
        chosen = {"type": "function", "function": {"name": shape.name}}
        return {"tools": [{"type": "function", "function": tool}], "tool_choice": chosen}
    if shape.form == "json":
        return {"response_format": {"type": "json_object", "schema": schema}}
    strict = {"name": shape.name, "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": strict}}


def _add_requested_wait(error: ModelUnavailable, answer: "openai.APIStatusError") -> ModelUnavailable:
    """Return the error with the wait requested by the service, if any."""
    error.retry_after_s = _parse_retry_after(answer.response.headers.get("retry-after", "").strip())
    return error


def _parse_retry_after(text: str) -> float | None:
    """Parse a Retry-After header, a number or an HTTP date, into seconds; None for anything else."""
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - time.time())


def _compute_retry_wait(error: ModelUnavailable, attempt: int, limits: ModelLimits) -> float:
    """Return the seconds before the next attempt: as the service asks, else doubling; jitter spreads the runs."""
    if error.retry_after_s is not None:
        return error.retry_after_s if error.retry_after_s <= limits.longest_wait_s else float("inf")
    base = limits.first_wait_s * 2 ** (attempt - 1)
    return float(min(limits.longest_wait_s, base) * random.uniform(0.5, 1.0))  # noqa: S311 - spreads load, hides nothing
