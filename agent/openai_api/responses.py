"""Answers in the format of OpenAI's Responses API: whole, or as the events of its stream."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from itertools import count
from typing import Any

from agent.openai_api.answers import OpenAIAnswer
from agent.openai_api.conversation import RESPONSE
from agent.rest.sse import ALIVE
from agent.text_answer import stream_answer_pieces
from authz.principal import Principal


def format_whole_response(answer: OpenAIAnswer) -> dict[str, Any]:
    """Return a finished answer."""
    return _build_response(answer, "incomplete" if answer.finish == "length" else "completed")


async def iterate_response_events(principal: Principal, answer: OpenAIAnswer) -> AsyncIterator[bytes]:
    """Yield the answer as it grows. One that cannot be completed ends with `response.failed`, without its earlier text."""
    numbers = count()

    def event(kind: str, **more: Any) -> bytes:
        body = {"type": kind, "sequence_number": next(numbers), **more}
        return f"event: {kind}\ndata: {json.dumps(body, ensure_ascii=False)}\n\n".encode()

    item, part = {"output_index": 0}, {"item_id": _build_item_id(answer), "output_index": 0, "content_index": 0}
    async with aclosing(stream_answer_pieces(principal, answer, is_sent=True)) as grown:
        begun = _build_response(answer, "in_progress")
        yield event("response.created", response=begun)
        yield event("response.in_progress", response=begun)
        yield event(
            "response.output_item.added", **item, item={**_build_message_item(answer, "in_progress"), "content": []}
        )
        yield event("response.content_part.added", **part, part=_build_text_part(answer))
        async for piece in grown:
            if piece is None:
                yield ALIVE
            elif piece:
                yield event("response.output_text.delta", **part, delta=piece, logprobs=[])
    if answer.error:
        yield event("response.failed", response=_build_response(answer, "failed"))
        return
    if below := answer.close():
        yield event("response.output_text.delta", **part, delta=below, logprobs=[])
    for place, note in enumerate(_build_annotations(answer)):
        yield event("response.output_text.annotation.added", **part, annotation_index=place, annotation=note)
    yield event("response.output_text.done", **part, text=answer.text, logprobs=[])
    yield event("response.content_part.done", **part, part=_build_text_part(answer))
    text = format_whole_response(answer)
    yield event("response.output_item.done", **item, item=text["output"][0])
    yield event(f"response.{text['status']}", response=text)


def _build_response(answer: OpenAIAnswer, status: str) -> dict[str, Any]:
    is_over = status in {"completed", "incomplete"}
    return {
        "id": RESPONSE + answer.run.message_id.hex,
        "object": "response",
        "created_at": answer.created,
        "status": status,
        "model": answer.model,
        "output": [_build_message_item(answer, status)] if is_over else [],
        "usage": _build_token_usage(answer) if is_over else None,
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


def _build_message_item(answer: OpenAIAnswer, status: str) -> dict[str, Any]:
    head = {"id": _build_item_id(answer), "type": "message", "role": "assistant", "status": status}
    return {**head, "content": [_build_text_part(answer)]}


def _build_text_part(answer: OpenAIAnswer) -> dict[str, Any]:
    return {"type": "output_text", "text": answer.text, "annotations": _build_annotations(answer), "logprobs": []}


def _build_annotations(answer: OpenAIAnswer) -> list[Mapping[str, Any]]:
    """Return the annotations of a chat completion, flattened."""
    return [{"type": note["type"], **note["url_citation"]} for note in answer.annotations]


def _build_token_usage(answer: OpenAIAnswer) -> dict[str, Any]:
    spent = answer.run.spent
    return {
        "input_tokens": spent.input_tokens,
        "input_tokens_details": {"cached_tokens": spent.cached_tokens},
        "output_tokens": spent.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": spent.tokens,
    }


def _build_item_id(answer: OpenAIAnswer) -> str:
    return f"msg_{answer.run.message_id.hex}"
