"""Find out what a language model can do, by asking it: whether it answers, how fast, streaming, reasoning, JSON and tools."""

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from django.core.cache import cache
from django.utils import timezone
from pydantic import BaseModel

from agent.providers.base import ChatModel, Delta, ModelRefused
from agent.providers.breaker import find_breaker
from agent.providers.configured import connect
from agent.providers.openai_compatible import ServedModel
from agent.providers.reply import Reply
from agent.providers.structured import NoObject, request_object

Findings = dict[str, Any]
"""first_s, per_s (tokens a second, where the service counts them), streams, thinks ("", "apart", "aloud"), json, tools, at."""

SAVED_S = 5.0  # within which a default model begins to answer when it is saved
FIRST_S, TOTAL_S = 60.0, 90.0  # a service on a small machine loads the model at the first question
READ_S = 20.0  # of the answer; enough to see how it thinks
MIN_S, MIN_TOKENS = 0.2, 10  # shorter answers say nothing about speed
KEPT_S = 90 * 24 * 3600
ADD: Final = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
        },
    },
}


class Capital(BaseModel):
    """The answer that the check of JSON asks for."""

    country: str
    capital: str


async def _try_answering(model: ChatModel, served: ServedModel) -> Findings:
    began = time.monotonic()
    reply, pieces, first_s, last_s = Reply(), 0, 0.0, 0.0
    async with aclosing(model.stream([_build_user_message("Count from 1 to 20.")])) as deltas:  # type: ignore[type-var]
        async for delta in deltas:
            reply.take(delta)
            if _has_content(delta):
                last_s = time.monotonic() - began
                first_s, pieces = first_s or last_s, pieces + 1
            if first_s and time.monotonic() - began > first_s + READ_S:
                break
    tokens, took_s = reply.usage.output_tokens if reply.usage else 0, last_s - first_s
    is_measured = tokens >= MIN_TOKENS and took_s >= MIN_S
    thinks = "aloud" if find_breaker(served.base_url, served.model).is_begun else "apart" if reply.reasoning else ""
    return {
        "first_s": first_s,
        "per_s": round(tokens / took_s) if is_measured else 0,
        "streams": pieces > 1,
        "thinks": thinks,
    }


async def _begins(model: ChatModel, _served: ServedModel) -> Findings:
    async with aclosing(model.stream([_build_user_message("Say yes.")])) as deltas:  # type: ignore[type-var]
        await anext(deltas, None)
    return {}


async def _try_json(model: ChatModel, _served: ServedModel) -> Findings:
    try:
        await request_object(
            model,
            [_build_user_message("What is the capital of France? Answer as JSON with country and capital.")],
            Capital,
        )
    except (NoObject, ModelRefused):
        return {"json": False}
    return {"json": True}


async def _try_tools(model: ChatModel, _served: ServedModel) -> Findings:
    reply = Reply()
    try:
        async for delta in model.stream([_build_user_message("Use the tool to add 17 and 25.")], tools=[ADD]):
            reply.take(delta)
    except ModelRefused:
        return {"tools": False}
    return {"tools": any(call.name == "add" for call in reply.calls)}


CHECKS: Final[Mapping[str, Callable[[ChatModel, ServedModel], Awaitable[Findings]]]] = {
    "answers": _try_answering,
    "json": _try_json,
    "tools": _try_tools,
}


def find_next_check(check: str) -> str:
    """Return the check after this one, "" after the last."""
    names = [*CHECKS, ""]
    return names[names.index(check) + 1]


async def try_check(served: ServedModel, check: str = "") -> Findings:
    """Make one check and return what it found; without a name, whether it begins to answer in time.

    Raises ModelError where the model does not answer.
    """
    first_s, total_s = (FIRST_S, TOTAL_S) if check else (SAVED_S, SAVED_S)
    model = connect(replace(served, limits=replace(served.limits, first_s=first_s, total_s=total_s, attempts=1)))
    try:
        return await CHECKS.get(check, _begins)(model, served)
    finally:
        await model.aclose()


def store_findings(served: ServedModel, check: str, found: Findings) -> Findings:
    """Remember what a check found beside the checks before it, and return all. The first check forgets the last trial."""
    before = {} if check == "answers" else load_findings(served.base_url, served.model)
    known = before | found | {"at": timezone.now()}
    cache.set(_build_cache_key(served.base_url, served.model), known, KEPT_S)
    return known


def load_findings(base_url: str, model: str) -> Findings:
    """Return what the last trial found, {} where there was none."""
    found: Findings = cache.get(_build_cache_key(base_url, model)) or {}
    return found


def _build_user_message(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _has_content(delta: Delta) -> bool:
    return bool(delta.text or delta.reasoning)


def _build_cache_key(base_url: str, model: str) -> str:
    return "model-trial:" + sha256(f"{base_url}\n{model}".encode()).hexdigest()
