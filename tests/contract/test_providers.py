"""The client of served models, against a real HTTP server that does what services do, the bad things included."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from email.utils import formatdate
from typing import Any

import pytest
from pydantic import BaseModel

from agent.providers import structured
from agent.providers.base import ModelBroken, ModelError, ModelMisconfigured, ModelUnavailable, Prices, Usage
from agent.providers.breaker import Breaker
from agent.providers.openai_compatible import ModelLimits, OpenAICompatible, ServedModel
from agent.providers.reply import Reply
from agent.providers.structured import parse_wanted_object, request_object_with_repair
from tests.modelserver import Request, Step, calls, says, says_json, serving
from tests.ports import closed_port

QUICK = ModelLimits(connect_s=5, first_s=20, between_s=20, total_s=30, attempts=3, first_wait_s=0.001)
HURRIED = replace(QUICK, first_s=0.2, between_s=0.2, total_s=0.6, attempts=1)
ASKED = [{"role": "user", "content": "Hello?"}]
TOOL = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}


def client(base_url: str, limits: ModelLimits = QUICK, breaker: Breaker | None = None) -> OpenAICompatible:
    return OpenAICompatible(ServedModel("scripted", base_url, "m", limits=limits), breaker=breaker or Breaker())


async def replied(model: OpenAICompatible, **more: Any) -> Reply:
    reply = Reply()
    try:
        async for delta in model.stream(ASKED, **more):
            reply.take(delta)
    finally:
        await model.aclose()
    return reply


async def test_a_text_comes_in_pieces_with_its_usage() -> None:
    with serving(says("滚动更新默认 25%。", size=2, usage=(12, 9))) as server:
        model = client(server.base_url)
        pieces = [delta.text async for delta in model.stream(ASKED) if delta.text]
        await model.aclose()
    assert len(pieces) > 3
    assert "".join(pieces) == "滚动更新默认 25%。"
    sent = server.requests[0]
    assert (sent["model"], sent["stream"], sent["messages"]) == ("m", True, ASKED)
    assert "tools" not in sent
    assert "response_format" not in sent


async def test_usage_is_counted_and_priced() -> None:
    with serving(says("x", usage=(1_000, 200))) as server:
        reply = await replied(client(server.base_url))
    assert reply.usage == Usage(1_000, 200)
    assert Prices(Decimal(2), Decimal(10)).of(reply.usage) == Decimal("0.004")


BROKEN: dict[str, tuple[Step, type[ModelError]]] = {
    "401": (Step(status=401), ModelMisconfigured),
    "403": (Step(status=403), ModelMisconfigured),
    "429": (Step(status=429), ModelUnavailable),
    "500": (Step(status=500), ModelUnavailable),
    "no JSON at all": (Step(body="<html>hello</html>"), ModelUnavailable),
    "hang before headers": (Step(hang="before"), ModelUnavailable),
    "hang before the first delta": (Step([{"content": "x"}], hang=0), ModelUnavailable),
    "nothing": (Step(events=[]), ModelUnavailable),
    "hang mid-stream": (Step([{"content": "half"}, {"content": "done"}], hang=1), ModelBroken),
    "garbage in the middle": (
        Step(events=['{"choices": [{"delta": {"content": "half"}}]}', "{nonsense", "[DONE]"]),
        ModelBroken,
    ),
    "an end without a finish": (says("half", finish=None, usage=None), ModelBroken),
    "cut inside a character": (Step([{"content": "half"}, {"content": "滚动更新" * 50}], cut_bytes=400), ModelBroken),
    "cut inside a tool call": (
        Step([{"content": "half"}, *calls(("look", {"at": "x" * 400})).deltas], cut_bytes=500),
        ModelBroken,
    ),
    "an error event": (
        Step(events=['{"choices": [{"delta": {"content": "half"}}]}', '{"error": {"message": "overloaded"}}']),
        ModelBroken,
    ),
}  # fmt: skip


def limits_for(step: Step) -> ModelLimits:
    """Hurried only where it hangs: a busy machine may be slow with everything else."""
    if step.hang is None:
        return replace(QUICK, attempts=1)
    return HURRIED if step.hang in {0, "before"} else replace(QUICK, between_s=0.2, attempts=1)


@pytest.mark.parametrize("fault", BROKEN)
async def test_each_fault_ends_in_one_error_of_ours(fault: str) -> None:
    step, kind = BROKEN[fault]
    with serving(step) as server, pytest.raises(kind) as failure:
        await replied(client(server.base_url, limits_for(step)))
    assert "scripted" in str(failure.value)
    assert "Hello?" not in str(failure.value)


async def test_one_byte_at_a_time_ends_at_the_total_limit() -> None:
    with serving(Step([{"content": "half"}] * 50, pace_s=0.002)) as server, pytest.raises(ModelError):
        await replied(client(server.base_url, replace(HURRIED, first_s=5, between_s=5, total_s=0.5)))


async def test_a_service_that_is_not_there() -> None:
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await replied(client(f"http://127.0.0.1:{closed_port()}/v1"))


@pytest.mark.parametrize("first", [Step(status=500), Step(status=429, headers={"Retry-After": "0"})])
async def test_it_is_tried_again_while_nothing_has_come(first: Step) -> None:
    with serving(first, first, says("third time")) as server:
        assert (await replied(client(server.base_url))).text == "third time"


async def test_it_is_not_tried_again_after_the_first_piece() -> None:
    said: list[str] = []

    async def listen(model: OpenAICompatible) -> None:
        async for delta in model.stream(ASKED):
            said.append(delta.text)  # noqa: PERF401 - what came before the failure must stay

    with serving(says("half", finish=None, usage=None)) as server:
        model = client(server.base_url)
        with pytest.raises(ModelBroken):
            await listen(model)
        await model.aclose()
    assert "".join(said) == "half"


async def test_a_wait_may_be_a_moment() -> None:
    past, future = formatdate(0, usegmt=True), formatdate(time.time() + 3_600, usegmt=True)
    with serving(Step(status=429, headers={"Retry-After": past}), says("ok")) as server:
        assert (await replied(client(server.base_url))).text == "ok"
    with serving(Step(status=429, headers={"Retry-After": future})) as server, pytest.raises(ModelUnavailable):
        await replied(client(server.base_url))


async def test_leaving_in_the_middle_closes_the_connection() -> None:
    with serving(Step([{"content": "x"}] * 3, hang=2)) as server:
        model = client(server.base_url)
        stream = model.stream(ASKED)
        assert (await anext(stream)).text == "x"
        await stream.aclose()  # type: ignore[attr-defined]
        await model.aclose()


async def test_a_service_that_takes_no_options_is_asked_without_them_from_then_on() -> None:
    breaker = Breaker()
    with serving(Step(status=400), says("ok"), says("again")) as server:
        for said in ("ok", "again"):
            assert (await replied(client(server.base_url, breaker=breaker))).text == said
    options = [{"temperature", "stream_options"} & set(request) for request in server.requests]
    assert options == [{"temperature", "stream_options"}, set(), set()]
    with serving(Step(status=400), Step(status=400)) as server, pytest.raises(ModelMisconfigured):
        await replied(client(server.base_url))


def test_the_breaker_rests_after_failures_and_lets_one_try() -> None:
    now = [0.0]
    breaker = Breaker(failures=2, rest_s=30, clock=lambda: now[0])
    for _ in range(2):
        breaker.check()
        breaker.failed()
    with pytest.raises(ModelUnavailable, match="2 times in a row"):
        breaker.check()
    now[0] = 31
    breaker.check()  # this one may try …
    with pytest.raises(ModelUnavailable):
        breaker.check()  # … and nobody else until it is known
    breaker.worked()
    breaker.check()


async def test_a_resting_model_is_not_called() -> None:
    breaker = Breaker(failures=1)
    with serving(Step(status=500)) as server:
        for _ in range(3):
            with pytest.raises(ModelUnavailable):
                await replied(client(server.base_url, replace(QUICK, attempts=1), breaker))
    assert len(server.requests) == 1


class Route(BaseModel):
    kind: str
    parts: list[str] = []


def wants(form: str | None) -> Callable[[Request], None]:
    def check(request: Request) -> None:
        assert request.get("response_format", {}).get("type") == form

    return check


async def routed(base_url: str) -> Route:
    model = client(base_url)
    try:
        return await request_object_with_repair(model, ASKED, Route)
    finally:
        await model.aclose()


async def test_a_strict_schema_is_asked_for_first() -> None:
    with serving(says_json({"kind": "DOC"}, check=wants("json_schema"))) as server:
        assert await routed(server.base_url) == Route(kind="DOC")
    schema = server.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["kind"] == Route.model_json_schema()["properties"]["kind"]
    assert schema["required"] == ["kind", "parts"], "OpenAI refuses strict schemas with properties that may be missing"
    assert schema["additionalProperties"] is False
    assert "default" not in json.dumps(schema)


@pytest.mark.parametrize("status", [400, 500])
async def test_a_tool_json_mode_and_plain_text_follow_where_a_schema_is_not_known(status: int) -> None:
    refused = Step(status=status)
    with serving(*[refused] * 3, says('Sure:\n```json\n{"kind": "SQL",}\n```', check=wants(None))) as server:
        assert (await routed(server.base_url)).kind == "SQL"
    assert server.requests[1]["tools"][0]["function"]["name"] == "Route"
    assert server.requests[2]["response_format"]["type"] == "json_object"
    assert len(server.requests) == 4, "another form is tried, not the same again"


async def test_a_service_that_knows_tools_alone_fills_the_object_in_a_call() -> None:
    with serving(Step(status=400), calls(("Route", {"kind": "SQL"}), check=wants(None))) as server:
        assert (await routed(server.base_url)).kind == "SQL"
    parameters = server.requests[1]["tools"][0]["function"]["parameters"]
    assert parameters["properties"]["kind"] == Route.model_json_schema()["properties"]["kind"]


async def test_what_cannot_be_read_is_asked_for_once_more() -> None:
    with serving(says("I think DOC"), says_json({"kind": "DOC"})) as server:
        assert (await routed(server.base_url)).kind == "DOC"
    assert "JSON" in server.requests[1]["messages"][-1]["content"]
    with serving(says("I think DOC"), says_json({"parts": 3})) as server, pytest.raises(ModelBroken):
        await routed(server.base_url)


async def test_an_object_that_does_not_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen with small models that are held to a schema: a string is filled until the context is full."""
    monkeypatch.setattr(structured, "MAX_CHARACTERS", 1_000)
    endless = Step([{"content": '{"kind": "' + "DOC " * 400}], hang=1)
    with serving(endless) as server, pytest.raises(ModelBroken, match="did not end"):
        await routed(server.base_url)
    with serving(says_json({"kind": "D" * 900})) as server:
        assert len((await routed(server.base_url)).kind) == 900


@pytest.mark.parametrize("text", ["", "{", "}{", "[1]", "null", '{"kind": }', '{"a":' * 3_000])
def test_what_is_no_object_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_wanted_object(text, Route)
