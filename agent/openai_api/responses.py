"""Answers in the format of OpenAI's Responses API: whole, or as the events of its stream."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from itertools import count
from typing import Any

from agent.openai_api.answers import OpenAIAnswer
from agent.openai_api.conversation import RESPONSE
from agent.rest.sse import ALIVE
from agent.text_answer import pieces
from authz.principal import Principal


def whole(answer: OpenAIAnswer) -> dict[str, Any]:
    """Return a finished answer."""
    return _response(answer, "incomplete" if answer.finish == "length" else "completed")


async def events(principal: Principal, answer: OpenAIAnswer) -> AsyncIterator[bytes]:
    """Yield the answer as it grows. One that cannot be completed ends with `response.failed`, without its earlier text."""
    numbers = count()

    def event(kind: str, **more: Any) -> bytes:
        body = {"type": kind, "sequence_number": next(numbers), **more}
        return f"event: {kind}\ndata: {json.dumps(body, ensure_ascii=False)}\n\n".encode()

    item, part = {"output_index": 0}, {"item_id": _item_id(answer), "output_index": 0, "content_index": 0}
    async with aclosing(pieces(principal, answer, is_sent=True)) as grown:
        begun = _response(answer, "in_progress")
        yield event("response.created", response=begun)
        yield event("response.in_progress", response=begun)
        yield event("response.output_item.added", **item, item={**_message(answer, "in_progress"), "content": []})
        yield event("response.content_part.added", **part, part=_text(answer))
        async for piece in grown:
            if piece is None:
                yield ALIVE
            elif piece:
                yield event("response.output_text.delta", **part, delta=piece, logprobs=[])
    if answer.error:
        yield event("response.failed", response=_response(answer, "failed"))
        return
    if below := answer.close():
        yield event("response.output_text.delta", **part, delta=below, logprobs=[])
    for place, note in enumerate(_annotations(answer)):
        yield event("response.output_text.annotation.added", **part, annotation_index=place, annotation=note)
    yield event("response.output_text.done", **part, text=answer.text, logprobs=[])
    yield event("response.content_part.done", **part, part=_text(answer))
    text = whole(answer)
    yield event("response.output_item.done", **item, item=text["output"][0])
    yield event(f"response.{text['status']}", response=text)


def _response(answer: OpenAIAnswer, status: str) -> dict[str, Any]:
    is_over = status in {"completed", "incomplete"}
    return {
        "id": RESPONSE + answer.run.message_id.hex,
        "object": "response",
        "created_at": answer.created,
        "status": status,
        "model": answer.model,
        "output": [_message(answer, status)] if is_over else [],
        "usage": _usage(answer) if is_over else None,
        "error": {"code": "server_error", "message": answer.error} if status == "failed" else None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
        "store": True,  # as every conversation is kept
        "text": {"format": {"type": "text"}},
    }


def _message(answer: OpenAIAnswer, status: str) -> dict[str, Any]:
    head = {"id": _item_id(answer), "type": "message", "role": "assistant", "status": status}
    return {**head, "content": [_text(answer)]}


def _text(answer: OpenAIAnswer) -> dict[str, Any]:
    return {"type": "output_text", "text": answer.text, "annotations": _annotations(answer), "logprobs": []}


def _annotations(answer: OpenAIAnswer) -> list[Mapping[str, Any]]:
    """Return the annotations of a chat completion, flattened."""
    return [{"type": note["type"], **note["url_citation"]} for note in answer.annotations]


def _usage(answer: OpenAIAnswer) -> dict[str, Any]:
    spent = answer.run.spent
    return {
        "input_tokens": spent.input_tokens,
        "input_tokens_details": {"cached_tokens": spent.cached_tokens},
        "output_tokens": spent.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": spent.tokens,
    }


def _item_id(answer: OpenAIAnswer) -> str:
    return f"msg_{answer.run.message_id.hex}"
